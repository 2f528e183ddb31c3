"""Jobs that come again, under a hand-moved clock."""

import asyncio
from datetime import timedelta

import pytest

from jobs.core.invalid import InvalidSchedule
from jobs.core.triggers import Once
from jobs.embedded import AsyncJob, BlockingJob, FirePolicy, InvalidJob, Overlap, Status, UnknownJobError
from tests.embedded.schedulers import WAIT, Fails, Gate, nothing
from tests.waiting import until


def steps(scheduler, clock, seconds, count) -> None:
    for _ in range(count):
        clock.advance(seconds)
        assert scheduler.settle(WAIT)


def test_fixed_rate_fires_every_period(scheduler, clock):
    series = scheduler.fixed_rate(BlockingJob(nothing), 10)
    steps(scheduler, clock, 5, 6)
    assert (series.fired, series.skipped, series.missed) == (3, 0, 0)


@pytest.mark.parametrize(("start_in", "fired"), [(None, 0), (0, 1), (3, 1)])
def test_the_first_fire_is_where_it_was_asked_for(scheduler, clock, start_in, fired):
    series = scheduler.fixed_rate(BlockingJob(nothing), 10, start_in=start_in)
    steps(scheduler, clock, 3, 1)
    assert series.fired == fired


def test_fixed_rate_keeps_its_phase_from_the_first_fire(scheduler, clock):
    began = clock.now()
    series = scheduler.fixed_rate(BlockingJob(nothing), 10, start_in=3)
    steps(scheduler, clock, 4, 1)
    assert series.next_at == began + timedelta(seconds=13)


def test_a_fire_during_a_run_is_skipped_and_counted(scheduler, clock, gate):
    series = scheduler.fixed_rate(gate.job(), 10)
    for _ in range(3):
        clock.advance(10)
    gate.wait_entered()
    assert (series.fired, series.skipped, gate.runs) == (1, 2, 1)
    assert series.last_skip.reason == f"overlap: instance {series.last.id} has not ended"
    gate.opened.set()
    assert scheduler.settle(WAIT)
    steps(scheduler, clock, 10, 1)
    assert (series.fired, series.skipped, gate.runs) == (2, 2, 2)


def test_after_a_pause_there_is_one_run(scheduler, clock):
    series = scheduler.fixed_rate(BlockingJob(nothing), 10)
    steps(scheduler, clock, 95, 1)
    assert (series.fired, series.missed) == (1, 8)
    assert series.next_at == clock.now() + timedelta(seconds=5)


def test_fixed_delay_counts_from_the_end_of_the_run(scheduler, clock):
    gate = Gate()
    series = scheduler.fixed_delay(gate.job(), 10, start_in=0)
    gate.wait_entered()
    clock.advance(25)
    assert (series.fired, series.next_at) == (1, None)
    gate.opened.set()
    assert scheduler.settle(WAIT)
    assert series.next_at == clock.now() + timedelta(seconds=10)
    steps(scheduler, clock, 10, 1)
    assert (series.fired, series.skipped) == (2, 0)


@pytest.mark.parametrize(("start_in", "first"), [(None, 10), (0, 0), (4, 4)])
def test_fixed_delay_begins_where_it_was_asked_to(scheduler, clock, start_in, first):
    began = clock.now()
    scheduler.fixed_delay(BlockingJob(nothing), 10, start_in=start_in)
    clock.advance(first)
    handle = scheduler.jobs()[0]
    assert (handle.instance.logical_at - began).total_seconds() == first


def test_a_failed_run_does_not_end_its_series(scheduler, clock):
    for make in (scheduler.fixed_rate, scheduler.fixed_delay):
        series = make(BlockingJob(Fails(2)), 10)
        steps(scheduler, clock, 10, 3)
        assert (series.fired, series.failed, series.last.status) == (3, 2, Status.SUCCESS)
        assert {handle.attempts for handle in scheduler.jobs()} == {1}
        scheduler.cancel_series(series)


def test_a_cancelled_run_does_not_end_its_series(scheduler, clock):
    gate = Gate()
    series = scheduler.fixed_delay(gate.job(), 10, start_in=0)
    gate.wait_entered()
    scheduler.cancel(series.last)
    gate.opened.set()
    until_free(scheduler)
    steps(scheduler, clock, 10, 1)
    assert series.fired == 2


def test_cancelling_a_series_lets_the_current_run_end(scheduler, clock, gate):
    series = scheduler.fixed_rate(gate.job(), 10, start_in=0)
    gate.wait_entered()
    assert scheduler.cancel_series(series)
    assert series.last.status is Status.RUNNING
    gate.opened.set()
    assert scheduler.join(timeout_seconds=WAIT)
    assert series.last.status is Status.SUCCESS
    steps(scheduler, clock, 10, 3)
    assert (series.fired, gate.runs) == (1, 1)
    assert scheduler.series() == []


def test_a_series_is_cancelled_once(scheduler):
    series = scheduler.fixed_rate(BlockingJob(nothing), 10)
    assert [scheduler.cancel_series(series), scheduler.cancel_series(series)] == [True, False]
    with pytest.raises(UnknownJobError):
        scheduler.cancel_series(4711)


def test_cancelling_a_series_cancels_its_run_that_waits(make, clock, gate):
    scheduler = make(max_threads=1)
    scheduler.submit(gate.job())
    series = scheduler.fixed_rate(BlockingJob(nothing), 10, start_in=0)
    assert series.last.status is Status.QUEUED
    scheduler.cancel_series(series.id)
    assert (series.last.status, series.last.reason) == (Status.CANCELLED, "its series was cancelled")


def test_a_fixed_delay_goes_on_when_its_waiting_run_is_cancelled(make, clock, gate):
    scheduler = make(max_threads=1)
    scheduler.submit(gate.job())
    series = scheduler.fixed_delay(BlockingJob(nothing), 10, start_in=0)
    assert scheduler.cancel(series.last)
    assert series.next_at == clock.now() + timedelta(seconds=10)
    clock.advance(10)
    assert series.fired == 2


def test_an_abandoned_run_keeps_the_overlap_guard(scheduler, clock, gate):
    series = scheduler.fixed_rate(gate.job(timeout_seconds=5), 10, start_in=0)
    gate.wait_entered()
    clock.advance(5)
    assert (series.last.status, series.last.abandoned) == (Status.TIMEOUT, True)
    clock.advance(5)
    assert (series.fired, series.skipped) == (1, 1)
    gate.opened.set()
    assert scheduler.settle(WAIT)
    until_free(scheduler)
    steps(scheduler, clock, 10, 1)
    assert series.fired == 2


def until_free(scheduler) -> None:
    until(lambda: scheduler.abandoned == [])


@pytest.mark.parametrize(("overlap", "runs"), [(Overlap.QUEUE, 1), (Overlap.ALLOW, 3)])
def test_overlap_may_be_chosen(scheduler, clock, overlap, runs):
    gate = Gate()
    series = scheduler.fixed_rate(gate.job(), 10, policy=FirePolicy(overlap=overlap))
    for _ in range(3):
        clock.advance(10)
    for _ in range(runs):
        gate.wait_entered()
    assert (series.fired, len(scheduler.jobs(Status.RUNNING))) == (3, runs)
    gate.opened.set()
    assert scheduler.join(timeout_seconds=WAIT)
    assert gate.runs == 3


def test_a_newer_run_may_replace_the_older(scheduler, clock):
    async def for_ever():
        await asyncio.Event().wait()

    series = scheduler.fixed_rate(AsyncJob(for_ever), 10, start_in=0, policy=FirePolicy(overlap=Overlap.REPLACE))
    first = series.last
    clock.advance(10)
    assert scheduler.join(first, timeout_seconds=WAIT)
    assert (first.status, first.reason) == (Status.CANCELLED, "was replaced by a newer instance of its job")


def test_cron_fires_by_the_wall_clock(scheduler, clock):
    series = scheduler.cron(BlockingJob(nothing), "*/15 * * * *", zone="Europe/Berlin")
    steps(scheduler, clock, 300, 12)
    assert series.fired == 4


def test_any_trigger_of_the_core_will_do(scheduler, clock):
    series = scheduler.recurring(BlockingJob(nothing), Once(clock.now() + timedelta(seconds=5)))
    steps(scheduler, clock, 5, 2)
    assert (series.fired, series.active, series.next_at) == (1, False, None)
    assert series.last.status is Status.SUCCESS
    assert not scheduler.cancel_series(series)


def test_a_trigger_that_raises_harms_its_series_only(scheduler, clock):
    class Broken:
        def __init__(self):
            self.calls = 0

        def next_after(self, moment):
            self.calls += 1
            if self.calls > 2:
                raise ZeroDivisionError("no time")
            return moment + timedelta(seconds=5)

        def describe(self):
            return "broken"

    broken = scheduler.recurring(BlockingJob(nothing), Broken())
    good = scheduler.fixed_rate(BlockingJob(nothing), 10)
    steps(scheduler, clock, 10, 2)
    assert (broken.fault, broken.active) == ("ZeroDivisionError: no time", False)
    assert good.fired == 2


@pytest.mark.parametrize("seconds", [0, -1])
def test_an_interval_is_above_nothing(scheduler, seconds):
    for make in (scheduler.fixed_rate, scheduler.fixed_delay):
        with pytest.raises(InvalidSchedule, match="not above 0 seconds"):
            make(BlockingJob(nothing), seconds)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf")])
def test_an_interval_is_a_number(scheduler, seconds):
    with pytest.raises(InvalidJob, match="above 0"):
        scheduler.fixed_rate(BlockingJob(nothing), seconds)


def test_a_start_in_the_past_is_refused(scheduler):
    with pytest.raises(InvalidJob, match="start_in -1 was given"):
        scheduler.fixed_rate(BlockingJob(nothing), 10, start_in=-1)


def test_a_millisecond_is_an_interval(scheduler, clock):
    series = scheduler.fixed_rate(BlockingJob(nothing), 0.001)
    steps(scheduler, clock, 0.001, 5)
    assert series.fired == 5


def test_nothing_drifts_in_a_day(scheduler, clock):
    began = clock.now()
    series = scheduler.fixed_rate(BlockingJob(nothing), 3600)
    for _ in range(24):
        clock.advance(3600.5 if clock.now() == began else 3600)
        assert scheduler.settle(WAIT)
    assert [h.instance.logical_at for h in scheduler.jobs()] == [began + timedelta(hours=n) for n in range(1, 25)]
    assert series.fired == 24
