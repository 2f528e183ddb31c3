"""Wall clock triggers against a walk over every minute, around the clock changes of very different zones."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from jobs.core.cron import parse_cron
from jobs.core.daylight import ZoneRules
from jobs.core.expressions import parse_trigger
from jobs.core.invalid import InvalidSchedule
from jobs.core.triggers import missed_between
from jobs.core.wallclock import WallClock
from jobs.core.walltimes import WallTimes
from jobs.core.zones import CYCLE, SETTLED, zone_named
from tests.core.clockwalk import Fields, walk

# Each near a change: whole hours, half hours, two hours, at midnight, over midnight, over a year's end, a whole day.
CHANGES = [
    ("Europe/Berlin", "2026-03-29T01:00Z"),
    ("Europe/Berlin", "2026-10-25T01:00Z"),
    ("America/New_York", "2026-03-08T07:00Z"),
    ("America/New_York", "2026-11-01T06:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:30Z"),
    ("Australia/Lord_Howe", "2026-04-04T15:00Z"),
    ("Antarctica/Troll", "2026-03-29T01:00Z"),
    ("Antarctica/Troll", "2026-10-25T01:00Z"),
    ("America/Sao_Paulo", "2018-11-04T03:00Z"),
    ("America/Santiago", "2026-04-05T03:00Z"),
    ("America/Goose_Bay", "2010-11-07T03:01Z"),
    ("America/Nuuk", "2024-03-31T01:00Z"),
    ("Pacific/Chatham", "2026-09-26T14:00Z"),
    ("Pacific/Apia", "2011-12-30T10:00Z"),
    ("Africa/Casablanca", "1985-12-31T23:00Z"),
    ("Asia/Kolkata", "2026-06-01T00:00Z"),
    ("UTC", "2024-02-29T00:00Z"),
]


@st.composite
def field(draw: st.DrawFn, low: int, high: int, most: int) -> tuple[str, set[int]]:
    """The text of one field, with numbers up to `most`, and the values it means."""
    a, b = sorted((draw(st.integers(low, most)), draw(st.integers(low, most))))
    step = draw(st.integers(1, 12))
    return draw(
        st.sampled_from(
            [
                ("*", set(range(low, high + 1))),
                (f"*/{step}", set(range(low, high + 1, step))),
                (f"{a}", {a}),
                (f"{a}-{b}", set(range(a, b + 1))),
                (f"{a}-{b}/{step}", set(range(a, b + 1, step))),
                (f"{b},{a}", {a, b}),
                (f"{a}/{step}", set(range(a, high + 1, step))),
            ]
        )
    )


@st.composite
def expressions(draw: st.DrawFn) -> Fields:
    night = draw(st.sampled_from([4, 23]))  # clocks are changed at night
    ranges = ((0, 59, 59), (0, 23, night), (1, 31, 31), (1, 12, 12), (0, 6, 6))
    drawn = [draw(field(*ends)) for ends in ranges]
    if draw(st.booleans()):
        drawn[2] = drawn[3] = ("*", set(range(1, 32)))
    (minute, minutes), (hour, hours), (date, dates), (month, months), (weekday, weekdays) = drawn
    return Fields(
        f"{minute} {hour} {date} {month} {weekday}",
        minutes,
        hours,
        dates,
        months,
        weekdays,
        starred_day=date.startswith("*") or weekday.startswith("*"),
        wildcard=minute.startswith("*") or hour.startswith("*"),
    )


def parsed(fields: Fields) -> WallTimes:
    """Only what never fires is refused; then another one is drawn."""
    try:
        return parse_cron(fields.text)
    except InvalidSchedule:
        if fields.ever():
            raise
        reject()


gaps, folds = st.sampled_from(["default", "run_after", "skip"]), st.sampled_from(["default", "first", "second", "both"])


@settings(max_examples=150, deadline=None)
@given(expressions(), st.sampled_from(CHANGES), st.integers(-2000, 100), gaps, folds)
def test_fires_are_those_of_a_walk(fields: Fields, change: tuple[str, str], shift: int, gap: str, fold: str) -> None:
    zone, at = change
    after = datetime.fromisoformat(at) + timedelta(minutes=shift)
    until = after + timedelta(days=2)
    trigger = WallClock(parsed(fields), ZoneRules(zone_named(zone), gap, fold))  # type: ignore[arg-type]  # drawn from them
    expected = list(walk(fields, zone, after, until, gap, fold))
    found, fire = [], trigger.next_after(after)
    while fire is not None and fire <= until:
        found.append(fire)
        fire = trigger.next_after(fire)
    assert found == expected
    missed = missed_between(trigger, after, until)
    assert (missed.count, missed.latest, missed.capped) == (len(expected), expected[-1] if expected else None, False)


@settings(max_examples=100, deadline=None)
@given(expressions(), st.sampled_from(CHANGES), st.integers(0, 2_000_000_000))
def test_later_moments_never_bring_earlier_fires(fields: Fields, change: tuple[str, str], seconds: int) -> None:
    trigger = WallClock(parsed(fields), ZoneRules(zone_named(change[0])))
    moments = [datetime.fromtimestamp(seconds + 4321.5 * step, UTC) for step in range(20)]
    found = [trigger.next_after(moment) for moment in moments]
    assert all(moment < fire for moment, fire in zip(moments, found, strict=True))
    assert all(earlier <= later for earlier, later in pairwise(found))


@pytest.mark.parametrize("zone", ["America/New_York", "Africa/Casablanca", "Australia/Lord_Howe"])
@pytest.mark.parametrize("expression", ["*/5 * * * *", "30 2 * * 0", "30 1 29 2 *"])
def test_cycles_of_the_calendar_are_alike(zone, expression):
    trigger = parse_trigger("cron", expression, zone=zone, anchor=SETTLED, start=None, end=None, hash_id="1")
    after = SETTLED - CYCLE / 2
    whole = trigger.count_between(after, after + 3 * CYCLE)
    assert whole == sum(trigger.count_between(after + n * CYCLE / 2, after + (n + 1) * CYCLE / 2) for n in range(6))
