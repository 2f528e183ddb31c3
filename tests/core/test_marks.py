"""What a preview says. Berlin: 02:00-03:00 skipped on 29 March 2026, twice on 25 October 2026."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.core.calendared import in_calendar
from jobs.core.calendarreading import parse_calendar
from jobs.core.expressions import parse_trigger
from jobs.core.fixeddelay import FixedDelay
from jobs.core.marks import coming, left_out, marks
from jobs.core.moments import moment_marks
from jobs.core.triggers import AtOnce, FixedRate, Once, Trigger, fires

BERLIN = "Europe/Berlin"
FREEZE = parse_calendar(
    "ops", {"timezone": BERLIN, "blackouts": [{"name": "release freeze", "from": "2026-03-29", "to": "2026-03-30"}]}
)
MOVED = "moved out of closed time 'release freeze' of calendar 'ops'"


def trigger(expression: str, zone: str = BERLIN, **wishes: Any) -> Trigger:
    made = datetime(2026, 1, 1, tzinfo=UTC)
    return parse_trigger("cron", expression, zone=zone, anchor=made, start=None, end=None, **wishes)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def told(found: Trigger, after: str, count: int) -> list[tuple[str, ...]]:
    return [marks(found, fire) for fire in fires(found, utc(after), count)]


def missing(found: Trigger, after: str, until: str) -> list[tuple[datetime, int, str, str]]:
    return [(gap.at, gap.count, gap.code, gap.says) for gap in left_out(found, utc(after), utc(until))]


def test_change_between_two_fires_is_marked_in_its_zone() -> None:
    noon = trigger("0 12 * * *")
    found = coming(noon, utc("2026-10-23T12:00Z"), 3, BERLIN)
    assert [said for _, said in found.fires] == [(), ("clocks have gone back since the one before",), ()]
    assert not any(said for _, said in coming(noon, utc("2026-10-23T12:00Z"), 3).fires)


SPRING, AUTUMN = "2026-03-28T12:00Z", "2026-10-24T12:00Z"


@pytest.mark.parametrize(
    ("expression", "mark"),
    [
        ("30 2 * * *", "clocks go forward: 02:30 does not exist, runs at 03:00"),
        ("15 30 2 * * *", "clocks go forward: 02:30:15 does not exist, runs at 03:00"),
        ("15,30,45 2 * * *", "clocks go forward: 3 fires from 02:15 on run once at 03:00"),
        ("30 2,3 * * *", "clocks go forward: 02:30 does not exist, runs at 03:00"),
    ],
)
def test_a_fire_made_up_for_says_so(expression: str, mark: str) -> None:
    assert told(trigger(expression), SPRING, 1) == [(mark,)]


def test_a_fire_at_the_end_of_a_gap_by_itself_says_nothing() -> None:
    assert told(trigger("0 3 * * *"), SPRING, 2) == [(), ()]


def test_both_passes_of_a_fold_are_told_apart() -> None:
    assert told(trigger("30 2 * * *", fold="both"), AUTUMN, 3) == [
        ("clocks go back: first pass of 02:30",),
        ("clocks go back: second pass of 02:30",),
        (),
    ]


def test_once_in_a_fold_says_which_pass() -> None:
    second = Once(utc("2026-10-25T02:30+01:00"), zone=BERLIN)
    assert told(second, AUTUMN, 1) == [("clocks go back: second pass of 02:30",)]


def test_a_moved_fire_says_what_it_was_moved_out_of() -> None:
    moved = in_calendar(trigger("0 12 * * *"), FREEZE, "move")
    assert told(moved, SPRING, 2) == [(MOVED,), ()]


def test_a_fire_that_moved_ones_meet_says_so() -> None:
    moved = in_calendar(trigger("0 0,12 * * *"), FREEZE, "move")
    assert told(moved, SPRING, 2) == [(MOVED,), ()]
    assert moved.next_after(utc(SPRING)) == utc("2026-03-31T00:00+02:00")


def test_a_moved_first_run_of_a_delay_says_so() -> None:
    delay = in_calendar(FixedDelay(timedelta(hours=1), utc("2026-03-29T12:00Z")), FREEZE, "skip")
    assert told(delay, SPRING, 3) == [(MOVED,)]


def test_elapsed_time_has_no_marks() -> None:
    rate = FixedRate(utc("2026-01-01T00:30Z"), timedelta(hours=1))
    assert told(AtOnce(rate, utc(AUTUMN)), AUTUMN, 30) == [()] * 30


def test_fires_that_a_gap_leaves_out_are_told() -> None:
    assert missing(trigger("30 2 * * *", gap="skip"), SPRING, "2026-03-30T00:00Z") == [
        (utc("2026-03-29T01:00Z"), 1, "dst_gap", "clocks go forward: 02:30 does not exist")
    ]
    assert missing(trigger("*/20 * * * *"), SPRING, "2026-03-30T00:00Z") == [
        (utc("2026-03-29T01:00Z"), 3, "dst_gap", "clocks go forward: 3 fires from 02:00 on do not exist")
    ]


@pytest.mark.parametrize("expression", ["30 2 * * *", "0 3 * * *"])
def test_what_is_made_up_for_is_not_left_out(expression: str) -> None:
    assert missing(trigger(expression), "2026-01-01T00:00Z", "2027-01-01T00:00Z") == []


def test_a_day_that_the_date_line_took_is_left_out() -> None:
    apia = trigger("0 12 * * *", "Pacific/Apia")
    assert missing(apia, "2011-12-29T00:00Z", "2012-01-02T00:00Z") == [
        (utc("2011-12-30T10:00Z"), 1, "dst_gap", "clocks go forward: 12:00 does not exist")
    ]


def test_a_gap_out_of_bounds_leaves_out_nothing() -> None:
    ended = trigger("30 2 * * *", gap="skip")
    bounded = type(ended)(ended.times, ended.rules, end=utc("2026-03-28T00:00Z"))  # type: ignore[attr-defined,call-arg]  # it is one
    assert missing(bounded, "2026-01-01T00:00Z", "2027-01-01T00:00Z") == []


def test_fires_that_a_calendar_leaves_out_are_told_once() -> None:
    skipped = in_calendar(trigger("30 2,12 * * *", gap="skip"), FREEZE, "skip")
    assert missing(skipped, SPRING, "2026-04-09T00:00Z") == [
        (utc("2026-03-29T12:30+02:00"), 3, "blackout", "3 fires in closed time 'release freeze' of calendar 'ops'")
    ]


def test_a_long_list_of_what_is_left_out_is_cut() -> None:
    weekends = parse_calendar("ops", {"business_days": "mon-fri"})
    found = left_out(in_calendar(trigger("* * * * *"), weekends, "skip"), utc(SPRING), utc("2126-01-01T00:00Z"), 5)
    assert [gap.code for gap in found].count("blackout") == 5


def test_a_preview_is_fires_with_marks_and_what_is_between() -> None:
    skipped = in_calendar(trigger("30 2 * * *"), FREEZE, "skip")
    shown = coming(skipped, utc(SPRING), 2)
    assert shown.fires == ((utc("2026-03-31T02:30+02:00"), ()), (utc("2026-04-01T02:30+02:00"), ()))
    assert [gone.count for gone in shown.left_out] == [2]
    assert shown.follows == ""


def test_a_preview_of_a_delay_says_that_others_follow() -> None:
    shown = coming(FixedDelay(timedelta(hours=1), utc("2026-01-01T00:00Z")), utc(SPRING), 10)
    assert shown.fires == ((utc("2026-03-28T13:00Z"), ()),)
    assert shown.follows == "the others follow, each counted from the end of the one before"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-29T02:30", "clocks go forward: 02:30 does not exist, 03:00 is meant"),
        ("2026-10-25T02:30", "clocks go back: 02:30 comes twice, the first pass is meant"),
        ("2026-10-25T02:30+01:00", None),
        ("2026-10-25T03:00", None),
        ("2026-10-25", None),
    ],
)
def test_a_typed_moment_is_told_what_it_means(text: str, expected: str | None) -> None:
    assert moment_marks(text, BERLIN) == ((expected,) if expected else ())
