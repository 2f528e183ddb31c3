"""What would end the scheduler, or the thread of a job, instead of the job."""

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest

from jobs.embedded import BlockingJob, CpuBoundJob, InvalidJob, RetryPolicy, Scheduler, SchedulerError, Status
from tests.embedded.schedulers import NO_RETRY, WAIT, nothing

TOO_LONG = [1e300, 2.6e11, math.inf, math.nan]


class Mute(Exception):
    def __str__(self):
        raise ValueError("no words")


def raise_mute():
    raise Mute


@pytest.mark.parametrize("seconds", TOO_LONG)
@pytest.mark.parametrize("option", ["timeout_seconds", "deadline_seconds", "start_deadline_seconds"])
def test_no_term_of_a_job_passes_a_century(option, seconds):
    with pytest.raises(InvalidJob, match=rf"{option} .* at most a century"):
        BlockingJob(nothing, **{option: seconds})


@pytest.mark.parametrize("seconds", [*TOO_LONG, -1.0])
@pytest.mark.parametrize("option", ["delay_seconds", "max_delay_seconds"])
def test_no_wait_for_a_retry_passes_a_century(option, seconds):
    policy = RetryPolicy(max_retries=3, **{option: seconds})
    with pytest.raises(InvalidJob, match=rf"{option} .* at most a century"):
        BlockingJob(nothing, retry=policy)
    with pytest.raises(InvalidJob, match=option):
        Scheduler(retry=policy)


@pytest.mark.parametrize(
    "moment", [datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))]
)
def test_no_moment_lies_centuries_away(scheduler, moment):
    with pytest.raises(InvalidJob, match="within a century of now"):
        scheduler.submit(BlockingJob(nothing, start_deadline_seconds=5), at=moment)


@pytest.mark.parametrize("seconds", TOO_LONG)
def test_no_series_starts_centuries_away(scheduler, seconds):
    with pytest.raises(InvalidJob, match=r"start_in .* at most a century"):
        scheduler.fixed_rate(BlockingJob(nothing), 1, start_in=seconds)


def test_the_longest_terms_do_work(scheduler):
    century = 36_525 * 86_400.0
    terms = {"timeout_seconds": century, "deadline_seconds": century, "start_deadline_seconds": century}
    handle = scheduler.submit(BlockingJob(nothing, **terms))
    assert scheduler.join(handle, timeout_seconds=WAIT)
    assert handle.status is Status.SUCCESS


@pytest.mark.parametrize("model", [BlockingJob, CpuBoundJob])
def test_an_error_that_cannot_be_told_ends_its_job(scheduler, model):
    handle = scheduler.submit(model(raise_mute, retry=NO_RETRY))
    assert scheduler.join(handle, timeout_seconds=WAIT)
    assert handle.status is Status.FAILED
    assert handle.error == "Mute: (what it says cannot be told: its str raised ValueError)"


def test_a_tenant_that_is_no_text_is_refused():
    with pytest.raises(InvalidJob, match="a text is expected"):
        BlockingJob(nothing, tenant=[1])


@pytest.mark.parametrize("given", [{"max_threads": 1.5}, {"limits": {"a": "x"}}, {"rates": {"a": 5}}])
def test_limits_that_are_none_are_refused(given):
    with pytest.raises(SchedulerError, match="is expected"):
        Scheduler(**given)
