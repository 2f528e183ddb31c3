from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.core.calendared import CalendarAction, blocked_between, in_calendar
from jobs.core.calendarreading import parse_calendar
from jobs.core.calendars import Calendar
from jobs.core.catchup import CatchUp, due_between, latest_of
from jobs.core.expressions import parse_trigger
from jobs.core.fixeddelay import FixedDelay
from jobs.core.invalid import InvalidSchedule
from jobs.core.triggers import Once, Trigger, fires, first_after, missed_between

MADE = datetime(2026, 1, 1, tzinfo=UTC)  # a Thursday
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def calendar(zone: str = "UTC", **definition: object) -> Calendar:
    return parse_calendar("ops", {"timezone": zone, **definition})


def cron(expression: str, zone: str = "UTC", **bounds: datetime) -> Trigger:
    start, end = bounds.get("start"), bounds.get("end")
    return parse_trigger("cron", expression, zone=zone, anchor=MADE, start=start, end=end)


def utc(*texts: str) -> list[datetime]:
    return [datetime.fromisoformat(f"{text}Z") for text in texts]


@dataclass
class Asked:
    """A trigger that counts how often it is asked for a fire."""

    inner: Trigger
    asked: int = 0

    def next_after(self, moment: datetime) -> datetime | None:
        self.asked += 1
        return self.inner.next_after(moment)

    def count_between(self, after: datetime, until: datetime) -> int:
        self.asked += 1
        return self.inner.count_between(after, until)  # type: ignore[attr-defined,no-any-return]  # all here can

    def describe(self) -> str:
        return self.inner.describe()


WORKDAYS = calendar(business_days="mon-fri")
FREEZE = calendar(blackouts=[{"name": "freeze", "from": "2026-01-10", "to": "2026-04-09"}])
NIGHTS = calendar(blackouts=[{"days": "mon-sun", "from": "22:00", "to": "06:00"}])


def test_skipped_fires_do_not_exist() -> None:
    found = fires(in_calendar(cron("0 9 * * *"), WORKDAYS, "skip"), MADE, 3)
    assert found == utc("2026-01-01T09:00", "2026-01-02T09:00", "2026-01-05T09:00")


def test_moved_fires_happen_once_at_the_end() -> None:
    found = fires(in_calendar(cron("0 9 * * *"), WORKDAYS, "move"), MADE, 4)
    assert found == utc("2026-01-01T09:00", "2026-01-02T09:00", "2026-01-05T00:00", "2026-01-05T09:00")


def test_a_moved_fire_that_meets_one_is_that_one() -> None:
    moved = in_calendar(cron("0 * * * *"), NIGHTS, "move")
    assert fires(moved, MADE + 20 * HOUR, 3) == utc("2026-01-01T21:00", "2026-01-02T06:00", "2026-01-02T07:00")
    assert missed_between(moved, MADE + 20 * HOUR, MADE + 30 * HOUR).count == 2


def test_a_moved_fire_is_found_from_within_its_closure() -> None:
    moved = in_calendar(cron("30 23 * * *"), NIGHTS, "move")
    assert moved.next_after(MADE + 26 * HOUR) == utc("2026-01-02T06:00")[0]
    assert moved.next_after(MADE + 30 * HOUR) == utc("2026-01-03T06:00")[0]


def test_a_closure_without_fires_moves_none() -> None:
    assert fires(in_calendar(cron("0 12 * * *"), NIGHTS, "move"), MADE, 2) == utc(
        "2026-01-01T12:00", "2026-01-02T12:00"
    )


def test_three_months_closed_are_one_step() -> None:
    asked = Asked(cron("* * * * *"))
    skipped = in_calendar(asked, FREEZE, "skip")
    assert skipped.next_after(MADE + 10 * DAY) == utc("2026-04-10T00:00")[0]
    assert asked.asked == 2


def test_thirty_days_of_minutes_are_counted_by_the_closure() -> None:
    asked = Asked(cron("* * * * *"))
    due = due_between(in_calendar(asked, NIGHTS, "skip"), MADE, MADE + 30 * DAY, CatchUp.ALL, 3)
    assert due.fires == tuple(utc("2026-01-30T21:57", "2026-01-30T21:58", "2026-01-30T21:59"))
    assert due.missed == 30 * 16 * 60 - 3
    assert asked.asked < 1500


def test_a_schedule_that_is_always_closed_never_fires() -> None:
    sundays = cron("0 9 * * SUN")
    assert in_calendar(sundays, WORKDAYS, "skip").next_after(MADE) is None
    assert in_calendar(sundays, WORKDAYS, "move").next_after(MADE) == utc("2026-01-05T00:00")[0]


def test_once_is_moved_or_never() -> None:
    once = Once(MADE + 2 * DAY)
    assert fires(in_calendar(once, WORKDAYS, "move"), MADE, 9) == utc("2026-01-05T00:00")
    assert fires(in_calendar(once, WORKDAYS, "skip"), MADE, 9) == []


def test_a_fixed_delay_waits_for_the_calendar_to_open() -> None:
    delay = in_calendar(FixedDelay(HOUR, MADE + 2 * DAY), WORKDAYS, "skip")
    assert fires(delay, MADE, 9) == utc("2026-01-05T00:00")
    assert delay.after_end(MADE + 42 * HOUR) == utc("2026-01-05T00:00")[0]  # type: ignore[attr-defined]  # it follows
    assert first_after(delay, MADE + 5 * DAY) == utc("2026-01-06T01:00")[0]
    assert missed_between(delay, MADE, MADE + 30 * DAY).count == 1


def test_bounds_are_about_when_fires_are_due() -> None:
    bounded = cron("0 9 * * *", end=MADE + 2 * DAY + 9 * HOUR)
    assert fires(in_calendar(bounded, WORKDAYS, "skip"), MADE, 9) == utc("2026-01-01T09:00", "2026-01-02T09:00")
    assert fires(in_calendar(bounded, WORKDAYS, "move"), MADE, 9)[-1] == utc("2026-01-05T00:00")[0]


def test_what_was_blocked_is_told_with_its_reason() -> None:
    blocked = blocked_between(cron("0 9 * * *"), WORKDAYS, MADE, MADE + 10 * DAY)
    assert blocked.count == 3
    assert blocked.first is not None
    assert blocked.first.says == "Saturday, no business day of calendar 'ops'"
    assert blocked_between(cron("0 9 * * *"), WORKDAYS, MADE, MADE + DAY).first is None


def test_only_the_asked_part_of_a_closure_is_counted() -> None:
    minutes = cron("* * * * *")
    assert blocked_between(minutes, FREEZE, MADE + 30 * DAY, MADE + 30 * DAY + HOUR).count == 60
    assert blocked_between(minutes, FREEZE, MADE, MADE + 9 * DAY).count == 1


def test_an_unknown_action_is_refused() -> None:
    with pytest.raises(InvalidSchedule, match="skip or move") as refused:
        in_calendar(cron("0 9 * * *"), WORKDAYS, "drop")  # type: ignore[arg-type]  # wrong on purpose
    assert refused.value.field == "calendar_action"


@pytest.mark.parametrize(("action", "words"), [("skip", "unless"), ("move", "later if")])
def test_the_calendar_is_said_with_the_schedule(action: CalendarAction, words: str) -> None:
    said = in_calendar(cron("0 9 * * *"), WORKDAYS, action).describe()
    assert said == f"at 09:00 every day (UTC), {words} calendar 'ops' is closed"


def one_by_one(trigger: Trigger, closed: Calendar, action: str, after: datetime, until: datetime) -> Iterator[datetime]:
    """The rule, fire by fire, from well before: each is looked up in the calendar."""
    seen, fire = set(), trigger.next_after(after - 9 * DAY)
    while fire is not None and fire <= until:
        moved = closed.end_of(fire)
        if moved is not None and (moved == fire or action == "move") and after < moved <= until:
            seen.add(moved)
        fire = trigger.next_after(fire)
    yield from sorted(seen)


TRIGGERS = [
    cron("*/20 * * * *", "Europe/Berlin"),
    cron("30 2 * * *", "Europe/Berlin"),
    cron("0 9,22 * * FRI-SUN"),
    cron("5/50 */3 * * *", "Australia/Lord_Howe"),
    parse_trigger("interval", "37m", zone="UTC", anchor=MADE, start=None, end=None),
    Once(datetime(2026, 3, 29, 1, 30, tzinfo=UTC)),
]
CALENDARS = [
    WORKDAYS,
    NIGHTS,
    calendar("Europe/Berlin", business_days="mon-thu", blackouts=[{"days": "sun-sat", "from": "02:00", "to": "03:00"}]),
    calendar("Europe/Berlin", blackouts=[{"days": "sun-sat", "from": "00:10", "to": "00:00"}], holidays=["2026-03-30"]),
    calendar("Australia/Lord_Howe", blackouts=[{"from": "2026-03-28T11:11", "to": "2026-03-30T02:30"}]),
]


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(TRIGGERS), st.sampled_from(CALENDARS), st.sampled_from(["skip", "move"]),
    st.sampled_from(["2026-03-28", "2026-10-24", "2026-04-03"]), st.integers(0, 3000), st.integers(0, 5000),
    st.integers(1, 5),
)  # fmt: skip
def test_fires_counts_and_latest_are_those_of_the_rule(
    trigger: Trigger, closed: Calendar, action: CalendarAction, day: str, shift: int, length: int, most: int
) -> None:
    after = datetime.fromisoformat(day).replace(tzinfo=UTC) + shift * MINUTE
    until = after + length * MINUTE
    calendared, expected = in_calendar(trigger, closed, action), list(one_by_one(trigger, closed, action, after, until))
    found, fire = [], calendared.next_after(after)
    while fire is not None and fire <= until:
        found.append(fire)
        fire = calendared.next_after(fire)
    assert found == expected
    missed = missed_between(calendared, after, until)
    assert (missed.count, missed.latest) == (len(expected), expected[-1] if expected else None)
    assert latest_of(calendared, after, until, most) == tuple(expected[-most:])
