"""The clock of the machine, and the one that is moved by hand."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from jobs.embedded import BlockingJob, HandClock, SystemClock
from jobs.embedded.clock import LONGEST_BLIND_SECONDS
from tests.embedded.schedulers import WAIT, nothing


def test_the_machine_s_clock_is_utc_and_never_goes_back():
    clock = SystemClock()
    moments = [clock.now() for _ in range(1000)]
    assert moments == sorted(moments)
    assert moments[0].tzinfo is UTC
    assert abs(moments[0] - datetime.now(UTC)) < timedelta(minutes=1)


def test_setting_the_machine_s_clock_moves_no_delay(monkeypatch):
    clock = SystemClock()
    before = clock.now()

    class Set(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime(2001, 1, 1, tzinfo=tz)

    monkeypatch.setattr("jobs.embedded.clock.datetime", Set)
    assert clock.now() >= before


def test_a_long_sleep_is_cut_to_notice_a_suspended_machine():
    clock = SystemClock()
    assert clock.seconds_until(clock.now() + timedelta(days=1)) == LONGEST_BLIND_SECONDS
    assert 0 < clock.seconds_until(clock.now() + timedelta(seconds=30)) <= 30
    assert clock.seconds_until(clock.now() - timedelta(seconds=1)) < 0


def test_the_hand_moved_clock_stands_still():
    clock = HandClock(datetime(2026, 7, 1, 12, tzinfo=timezone(timedelta(hours=2))))
    assert clock.now() == datetime(2026, 7, 1, 10, tzinfo=UTC) == clock.now()
    assert clock.seconds_until(clock.now() + timedelta(seconds=1)) is None
    clock.advance(0.5)
    assert clock.now() == datetime(2026, 7, 1, 10, 0, 0, 500_000, tzinfo=UTC)


def test_the_hand_moved_clock_goes_only_forward():
    with pytest.raises(ValueError, match="only goes forward"):
        HandClock().advance(-1)


def test_what_was_submitted_before_a_move_was_queued_before(scheduler, clock):
    handle = scheduler.submit(BlockingJob(nothing))
    before = clock.now()
    clock.advance(3600)
    assert scheduler.settle(WAIT)
    assert handle.started_at == before


def test_one_clock_serves_two_schedulers(make, clock):
    handles = [make().submit(BlockingJob(nothing), delay_seconds=300) for _ in range(2)]
    clock.advance(300)
    assert all(handle.attempts == 1 for handle in handles)
