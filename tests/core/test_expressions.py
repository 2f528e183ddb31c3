from datetime import UTC, datetime, timedelta

import pytest

from jobs.core.calendarreading import parse_calendar
from jobs.core.daylight import Gap
from jobs.core.expressions import InvalidSchedule, parse_interval, parse_trigger
from jobs.core.triggers import Trigger, fires
from jobs.core.wallclock import WallClock

MADE = datetime(2026, 1, 1, tzinfo=UTC)  # a Thursday
HOUR = timedelta(hours=1)


def trigger(
    schedule_type: str,
    expression: str | None,
    zone: str = "UTC",
    start: datetime | None = None,
    end: datetime | None = None,
    gap: Gap = "default",
) -> Trigger:
    return parse_trigger(schedule_type, expression, zone=zone, anchor=MADE, start=start, end=end, gap=gap)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("5m", 300),
        ("2h", 7200),
        ("1d", 86400),
        ("1h30m", 5400),
        ("1d 12h", 129600),
        ("1d2h3m4s", 93784),
        ("90m", 5400),
        ("45", 45),
        (" 1 ", 1),
        ("007", 7),
    ],
)
def test_intervals_are_units_or_seconds(text: str, seconds: int) -> None:
    assert parse_interval(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "0", "0s", "0h0m", "0.2", "1.5h", "-5m", "+5m", "1e3", "abc", "5 m", "5M", "5min", "30m1h", "5m5m"),
        *(
            "m",
            "1w",
            "\u0665",
            "\u0665m",
            "1h30",
            "PT5M",
            "True",
            "None",
            "inf",
            "nan",
            "36501d",
            "999999999999d",
            "9" * 5000,
        ),
    ],
)
def test_what_is_no_interval_is_refused(text: str) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        parse_interval(text)
    assert refused.value.field == "schedule_expression"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("mon,wed,fri 09:30", [2, 5, 7, 9]),
        ("mon-fri 09:30", [1, 2, 5, 6]),
        ("Saturday, SUN 09:30:00", [3, 4, 10, 11]),
        ("fri-sun 09:30", [2, 3, 4, 9]),
        ("sun-tue 09:30", [4, 5, 6, 11]),
        ("mon,mon,mon-tue 09:30", [5, 6, 12, 13]),
        ("mon-sun 09:30", [1, 2, 3, 4]),
    ],
)
def test_weekly_fires_on_its_days(text: str, days: list[int]) -> None:
    found = fires(trigger("weekly", text), MADE, 4)
    assert found == [datetime(2026, 1, day, 9, 30, tzinfo=UTC) for day in days]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "mon",
            "09:30",
            ",mon 09:30",
            "mon, 09:30",
            "mon,,tue 09:30",
            "mon tue 09:30",
            "1 09:30",
            "fri-mon 09:30",
        ),
        *("mon- 09:30", "-fri 09:30", "mon-wed-fri 09:30", "mo 09:30", "lundi 09:30", "mon 9:30", "mon 09:30 tue"),
    ],
)
def test_what_is_not_weekly_is_refused(text: str) -> None:
    with pytest.raises(InvalidSchedule, match=r"such as 'mon|HH:MM|two ranges"):
        trigger("weekly", text)


@pytest.mark.parametrize("text", ["", "24:00", "12:60", "9:30", "09:5", "0930", "09:30:60", "09:30:", "noon", "09.30"])
def test_what_is_no_time_of_day_is_refused(text: str) -> None:
    with pytest.raises(InvalidSchedule, match="HH:MM"):
        trigger("daily", text)


def test_daily_fires_at_its_second() -> None:
    assert trigger("daily", " 23:59:59 ").next_after(MADE) == datetime(2026, 1, 1, 23, 59, 59, tzinfo=UTC)


def test_interval_is_anchored_at_its_start_else_at_its_making() -> None:
    start = MADE - timedelta(minutes=20)
    assert trigger("interval", "1h").next_after(MADE) == MADE + HOUR
    assert trigger("interval", "1h", start=start).next_after(MADE) == start + HOUR


def test_once_is_at_its_start_else_at_once() -> None:
    assert trigger("once", None).next_after(MADE - HOUR) == MADE
    assert trigger("once", "", start=MADE + HOUR).next_after(MADE) == MADE + HOUR


def test_interval_may_begin_at_once() -> None:
    made = MADE + 20 * timedelta(minutes=1)
    past = parse_trigger("interval", "1h", zone="UTC", anchor=made, start=MADE, end=None, at_once=made)
    assert fires(past, made - timedelta(seconds=1), 3) == [made, MADE + HOUR, MADE + 2 * HOUR]
    assert past.describe() == "every hour, the first at once"
    future = parse_trigger("interval", "1h", zone="UTC", anchor=made, start=MADE + HOUR, end=None, at_once=made)
    assert fires(future, made - timedelta(seconds=1), 1) == [MADE + HOUR]
    over = parse_trigger(
        "interval", "1h", zone="UTC", anchor=made, start=MADE, end=MADE + HOUR, at_once=MADE + 2 * HOUR
    )
    assert fires(over, MADE + HOUR, 1) == []


def test_at_once_and_its_anchor_are_one_fire() -> None:
    now = parse_trigger("interval", "1h", zone="UTC", anchor=MADE, start=None, end=None, at_once=MADE)
    assert fires(now, MADE - timedelta(seconds=1), 2) == [MADE, MADE + HOUR]
    assert now.count_between(MADE - HOUR, MADE + HOUR) == 2  # type: ignore[attr-defined]  # it can


@pytest.mark.parametrize(
    ("text", "milliseconds"), [("0.25", 250), (".5s", 500), ("1.5", 1500), ("2", 2000), ("5m", 300_000)]
)
def test_shorter_intervals_are_read_if_allowed(text: str, milliseconds: int) -> None:
    assert parse_interval(text, timedelta(0)) == timedelta(milliseconds=milliseconds)


@pytest.mark.parametrize("text", ["0", "0.0", "0.0000001", "-1", "1.5h", "."])
def test_no_interval_is_zero_or_less(text: str) -> None:
    with pytest.raises(InvalidSchedule):
        parse_interval(text, timedelta(0))


def test_any_type_may_have_a_calendar() -> None:
    workdays = parse_calendar("ops", {"business_days": "mon-fri"})
    fields = {"zone": "UTC", "anchor": MADE, "start": None, "end": None, "calendar": workdays}
    daily = parse_trigger("daily", "10:00", **fields, calendar_action="move")  # type: ignore[arg-type]  # mixed on purpose
    assert fires(daily, MADE, 3)[-1] == datetime(2026, 1, 5, tzinfo=UTC)
    with pytest.raises(InvalidSchedule, match="skip or move"):
        parse_trigger("daily", "10:00", **fields, calendar_action="")  # type: ignore[arg-type]  # wrong on purpose


def test_once_has_no_expression() -> None:
    with pytest.raises(InvalidSchedule, match="start_date"):
        trigger("once", "2026-05-01T10:00")


@pytest.mark.parametrize(("schedule_type", "text"), [("daily", "10:00"), ("cron", "0 10 * * *"), ("interval", "1d")])
def test_bounds_are_inclusive(schedule_type: str, text: str) -> None:
    start, end = datetime(2026, 3, 1, 10, tzinfo=UTC), datetime(2026, 3, 3, 10, tzinfo=UTC)
    bounded = trigger(schedule_type, text, start=start, end=end)
    assert fires(bounded, MADE, 9) == [start, start + 24 * HOUR, end]
    assert bounded.next_after(end) is None


@pytest.mark.parametrize(("schedule_type", "text"), [("daily", "10:00"), ("cron", "0 10 * * *"), ("interval", "1d")])
def test_counting_respects_bounds(schedule_type: str, text: str) -> None:
    start, end = datetime(2026, 3, 1, 10, tzinfo=UTC), datetime(2026, 3, 3, 10, tzinfo=UTC)
    bounded = trigger(schedule_type, text, start=start, end=end)
    assert bounded.count_between(MADE, MADE + 999 * 24 * HOUR) == 3  # type: ignore[attr-defined]  # these all can


def test_bounds_that_hold_nothing_never_fire() -> None:
    assert trigger("cron", "0 0 29 2 *", start=MADE, end=MADE + 365 * 24 * HOUR).next_after(MADE) is None


def test_end_before_start_is_refused() -> None:
    with pytest.raises(InvalidSchedule) as refused:
        trigger("daily", "10:00", start=MADE, end=MADE - HOUR)
    assert refused.value.field == "end_date"


@pytest.mark.parametrize("schedule_type", ["", "Cron", "hourly", "fixed delay"])
def test_an_unknown_type_is_refused(schedule_type: str) -> None:
    with pytest.raises(InvalidSchedule, match="once, interval, cron, daily, weekly") as refused:
        trigger(schedule_type, "1h")
    assert refused.value.field == "schedule_type"


@pytest.mark.parametrize("schedule_type", ["once", "interval", "cron", "daily", "weekly"])
def test_an_unknown_zone_is_refused_for_every_type(schedule_type: str) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        trigger(schedule_type, None, zone="Mars/Phobos")
    assert refused.value.field == "timezone"


# The second Sunday of March and the last of March are when clocks go forward there.
@pytest.mark.parametrize(
    ("text", "zone", "gap"),
    [
        ("*/30 2 * 3 0#2", "America/New_York", "default"),
        ("30 2 * 3 0#2", "America/New_York", "skip"),
        ("* * 2 * 3 0L", "Europe/Berlin", "skip"),
    ],
)
def test_what_clocks_always_skip_never_fires(text: str, zone: str, gap: Gap) -> None:
    with pytest.raises(InvalidSchedule, match="never fires in"):
        trigger("cron", text, zone=zone, gap=gap)
    assert trigger("cron", text, zone="UTC", gap=gap)
    assert trigger("cron", text, zone=zone, gap="run_after")


def test_rare_days_are_found_over_forty_years() -> None:
    first = WallClock.next_after(trigger("cron", "0 0 29 2 */7"), datetime(2088, 3, 1, tzinfo=UTC))  # type: ignore[arg-type]  # it is one
    assert first == datetime(2128, 2, 29, tzinfo=UTC)
