from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.core.calendared import in_calendar
from jobs.core.calendars import Calendar
from jobs.core.expressions import parse_trigger
from jobs.core.invalid import InvalidSchedule
from jobs.core.jitter import check_jitter, jittered, shortest_gap
from jobs.core.triggers import Trigger

MADE = datetime(2026, 1, 1, tzinfo=UTC)


def trigger(schedule_type: str, expression: str) -> Trigger:
    return parse_trigger(schedule_type, expression, zone="UTC", anchor=MADE, start=None, end=None)


@settings(deadline=None)
@given(st.datetimes(timezones=st.just(UTC), max_value=datetime(9990, 1, 1)), st.floats(0, 86_400), st.text())  # noqa: DTZ001 - its zone is beside it
def test_a_wait_stays_below_its_seconds(logical_at: datetime, seconds: float, key: str) -> None:
    waited = (jittered(logical_at, seconds, key) - logical_at).total_seconds()
    assert 0 <= waited <= seconds
    assert waited < seconds or seconds < 0.000001


def test_every_node_waits_the_same() -> None:
    assert jittered(MADE, 60, "7") == datetime(2026, 1, 1, 0, 0, 36, 610625, tzinfo=UTC)
    elsewhere = MADE.astimezone(datetime.fromisoformat("2026-01-01T00:00+05:30").tzinfo)
    assert jittered(elsewhere, 60, "7") == jittered(MADE, 60, "7")


def test_schedules_and_fires_are_spread() -> None:
    by_schedule = {jittered(MADE, 60, str(key)).second for key in range(500)}
    by_fire = {jittered(MADE + timedelta(hours=n), 60, "7").second for n in range(500)}
    assert len(by_schedule) > 55
    assert len(by_fire) > 55


def test_no_jitter_is_no_wait() -> None:
    assert jittered(MADE, 0, "7") == MADE


@pytest.mark.parametrize(
    ("schedule_type", "expression", "seconds"),
    [
        ("interval", "90s", 90),
        ("fixed_delay", "5m", 300),
        ("cron", "* * * * *", 60),
        ("cron", "*/7 * * * *", 240),  # from 56 to the full hour
        ("cron", "0,50 * * * *", 600),
        ("cron", "0 9,17 * * *", 8 * 3600),
        ("cron", "58 23 * * *", 86_400),
        ("cron", "0,59 0,23 * * *", 60),
        ("cron", "0,45 * * * * *", 15),
        ("cron", "55 59 23,0 * * *", 3600),
        ("cron", "0 0 1 * *", 28 * 86_400),
        ("cron", "0 0 1,31 * *", 86_400),
        ("cron", "0 6,22 * * MON,WED", 16 * 3600),
        ("cron", "0 0 29 2 *", 1461 * 86_400),
        ("daily", "02:30", 86_400),
        ("weekly", "mon,wed 02:30", 2 * 86_400),
        ("weekly", "sun 02:30", 7 * 86_400),
    ],
)
def test_the_shortest_gap_is_by_arithmetic(schedule_type: str, expression: str, seconds: int) -> None:
    assert shortest_gap(trigger(schedule_type, expression)) == timedelta(seconds=seconds)


@settings(deadline=None)
@given(st.sets(st.integers(0, 59), min_size=1, max_size=4), st.sets(st.integers(0, 23), min_size=1, max_size=4))
def test_no_two_fires_are_closer(minutes: set[int], hours: set[int]) -> None:
    every = trigger("cron", f"{','.join(map(str, minutes))} {','.join(map(str, hours))} * * *")
    found, fire = [], every.next_after(MADE)
    while fire is not None and fire < MADE + timedelta(days=3):
        found.append(fire)
        fire = every.next_after(fire)
    assert shortest_gap(every) == min(later - earlier for earlier, later in pairwise(found))


def test_jitter_stays_below_the_period() -> None:
    check_jitter(59.9, trigger("cron", "* * * * *"))
    with pytest.raises(InvalidSchedule, match="not below 1 minute") as refused:
        check_jitter(60, trigger("cron", "* * * * *"))
    assert refused.value.field == "jitter_seconds"


@pytest.mark.parametrize("seconds", [-1, 86_401, float("nan"), float("inf")])
def test_no_jitter_is_negative_or_longer_than_a_day(seconds: float) -> None:
    with pytest.raises(InvalidSchedule, match="between 0 seconds and 1 day"):
        check_jitter(seconds, trigger("once", ""))


def test_a_calendar_does_not_change_the_period() -> None:
    closed = in_calendar(trigger("interval", "1h"), Calendar("ops", "UTC"), "move")
    assert shortest_gap(closed) == timedelta(hours=1)
    assert shortest_gap(trigger("once", "")) is None
