"""What a program gives that cannot be: a sentence at once, never a bare error, and never a scheduler that breaks."""

import re
from datetime import timedelta

import pytest

from jobs.embedded import BlockingJob, Scheduler, SchedulerError, UnknownJobError
from tests.embedded.schedulers import by_now, nothing

ODD = ["5x", None, True, object(), [1], {}, float("nan"), float("inf"), 10**400, b"x", 1 + 2j, timedelta(1)]
TERMS = {
    "args": ["abc", 5], "kwargs": ["abc", [1], {1: 2}], "name": [5, None], "tenant": [5],
    "priority": ["high", 1.5, None], "timeout_seconds": ["5", True, [1]], "deadline_seconds": ["5"],
    "start_deadline_seconds": ["5"], "retry": ["3", 3], "tags": ["abc", 5, [1]], "rates": ["abc"],
    "run_when": ["always", [1], None],
}  # fmt: skip


def kind(odd):
    return type(odd).__name__


@pytest.mark.parametrize("term", TERMS)
def test_odd_term_is_refused_by_its_name(term):
    for given in TERMS[term]:
        with pytest.raises(SchedulerError, match=rf"{term} {re.escape(repr(given))}.* expected"):
            BlockingJob(nothing, **{term: given})


def attempts_of(scheduler, odd):
    job = BlockingJob(nothing)
    return {
        "delay_seconds": lambda: scheduler.submit(job, delay_seconds=odd),
        "interval": lambda: scheduler.fixed_rate(job, odd),
        "delay": lambda: scheduler.fixed_delay(job, odd),
        "policy": lambda: scheduler.fixed_rate(job, 5, policy=odd),
        "trigger": lambda: scheduler.recurring(job, odd),
        "job": lambda: scheduler.submit(odd),
    }


@pytest.mark.parametrize("odd", ODD, ids=kind)
def test_odd_wish_is_refused_and_harms_nothing(scheduler, odd):
    for name, attempt in attempts_of(scheduler, odd).items():
        with pytest.raises(SchedulerError, match="expected"):
            pytest.fail(f"{name}: {attempt()}")
    by_now(scheduler, scheduler.submit(BlockingJob(nothing)))


@pytest.mark.parametrize("odd", ["5x", True, object(), [1], {}, 5, b"x"], ids=kind)
def test_odd_moment_is_refused(scheduler, odd):
    for wish in (
        lambda: scheduler.submit(BlockingJob(nothing), at=odd),
        lambda: scheduler.cron(BlockingJob(nothing), odd),
    ):
        with pytest.raises((SchedulerError, ValueError), match=r"expected|five fields"):
            wish()


@pytest.mark.parametrize("odd", ["5x", object(), [1], float("nan"), 10**400], ids=kind)
def test_odd_wait_and_start_are_refused(scheduler, odd):
    for wish in (
        lambda: scheduler.join(timeout_seconds=odd),
        lambda: scheduler.settle(odd),
        lambda: scheduler.stop(deadline_seconds=odd),
        lambda: scheduler.fixed_rate(BlockingJob(nothing), 5, start_in=odd),
    ):
        with pytest.raises(SchedulerError, match="expected"):
            wish()


@pytest.mark.parametrize("odd", ["5x", object(), [1], {}, 77], ids=kind)
def test_odd_job_is_unknown(scheduler, odd):
    for wish in (scheduler.get, scheduler.cancel, scheduler.cancel_series, scheduler.join):
        with pytest.raises(UnknownJobError, match="there is no job"):
            wish(odd)


@pytest.mark.parametrize("odd", [None, 5, object()], ids=kind)
def test_upstreams_that_are_no_list_are_refused(scheduler, odd):
    with pytest.raises(SchedulerError, match=r"depends_on .* a list of jobs"):
        scheduler.submit(BlockingJob(nothing), depends_on=odd)


def test_listener_that_is_none_is_refused(scheduler):
    with pytest.raises(SchedulerError, match="the listener None cannot be called"):
        scheduler.add_listener(None)
    with pytest.raises(SchedulerError, match="is no listener"):
        scheduler.remove_listener(print)


@pytest.mark.parametrize("option", ["order", "limits", "rates", "weights", "clock", "retry", "max_threads", "history"])
def test_odd_option_of_a_scheduler_is_refused_by_its_name(option):
    with pytest.raises(SchedulerError, match=rf"{option}.* expected"):
        Scheduler(**{option: object()})
