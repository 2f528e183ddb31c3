from datetime import UTC, datetime
from itertools import product

import pytest
from croniter import croniter
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.core.cron import LONGEST, parse_cron
from jobs.core.daylight import ZoneRules
from jobs.core.days import LAST, DayRule
from jobs.core.invalid import InvalidSchedule
from jobs.core.triggers import fires
from jobs.core.wallclock import WallClock
from jobs.core.zones import zone_named

UTC_RULES = ZoneRules(zone_named("UTC"))


@pytest.mark.parametrize(("low", "high", "step"), list(product(range(8), range(8), range(1, 9))))
def test_every_range_of_weekdays_is_the_plain_one(low: int, high: int, step: int) -> None:
    expression = f"0 0 1 1 {low}-{high}/{step}"
    if low > high:
        with pytest.raises(InvalidSchedule, match=r"day of week.*backwards"):
            parse_cron(expression)
    else:
        assert parse_cron(expression).days.weekdays == {day % 7 for day in range(low, high + 1, step)}


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("SUN", {0}),
        ("7", {0}),
        ("sun-tue", {0, 1, 2}),
        ("FRI-SUN", {5, 6, 0}),
        ("5-SUN", {5, 6, 0}),
        ("FRI-SUN/2", {5, 0}),
        ("SUN-SUN", {0}),
        ("7-SUN", {0}),
        ("5-5", {5}),
        ("0-7", set(range(7))),
        ("7/2", {0, 2, 4, 6}),
        ("SUN/2", {0, 2, 4, 6}),
        ("*/3", {0, 3, 6}),
        ("1,1,MON", {1}),
    ],
)
def test_sunday_is_first_and_last(field: str, expected: set[int]) -> None:
    assert parse_cron(f"0 0 1 1 {field}").days.weekdays == expected


@pytest.mark.parametrize(
    ("expression", "rule"),
    [
        ("0 0 L * *", DayRule(dates=frozenset(), before_last=frozenset({0}))),
        ("0 0 l-0,L-3 * *", DayRule(dates=frozenset(), before_last=frozenset({0, 3}))),
        ("0 0 LW,1w,15W,20 * *", DayRule(dates=frozenset({20}), nearest=frozenset({1, 15}), last_workday=True)),
        ("0 0 ? * Mon#1,7#5", DayRule(weekdays=frozenset(), nth=frozenset({(1, 1), (0, 5)}))),
        ("0 0 * * friL,2", DayRule(weekdays=frozenset({2}), nth=frozenset({(5, LAST)}))),
        ("0 0 1 * 1", DayRule(dates=frozenset({1}), weekdays=frozenset({1}), both=False)),
        ("0 0 1,*/9 * 1", DayRule(dates=frozenset({1, 10, 19, 28}), weekdays=frozenset({1}), both=False)),
        ("0 0 */9,1 * 1", DayRule(dates=frozenset({1, 10, 19, 28}), weekdays=frozenset({1}), both=True)),
        ("0 0 1-31 * 1", DayRule(weekdays=frozenset({1}), both=False)),
        ("0 0 ? * 1", DayRule(weekdays=frozenset({1}), both=True)),
    ],
)
def test_days_are_read_by_our_rule(expression: str, rule: DayRule) -> None:
    assert parse_cron(expression).days == rule


@pytest.mark.parametrize(
    ("expression", "wildcard"),
    [
        ("*/5 2 * * *", True),
        ("5 */2 * * *", True),
        ("5 * * * *", True),
        ("*/7,3 2 * * *", True),
        ("3,*/7 2 * * *", False),
        ("0-59 0-23 * * *", False),
        ("* 5 2 * * *", False),
        ("H/15 2 * * *", False),
        ("@hourly", True),
        ("@daily", False),
    ],
)
def test_wildcard_is_a_star_before_minute_or_hour(expression: str, wildcard: bool) -> None:
    assert parse_cron(expression, "7").wildcard is wildcard


# The kinds of refusal, each with the field that it must name and a word of the reason.
REFUSED = {
    "minute.*out of range": ["60 * * * *", "5-60 * * * *", "99999999999999999999 * * * *", "61/2 * * * *"],
    "hour.*out of range": ["* 24 * * *", "* 1,25 * * *", "* H(20-24) * * *"],
    "day of month.*out of range": ["* * 32 * *", "* * 0/5 * *", "* * 45W * *", "* * H(0-5) * *"],
    "month.*out of range": ["* * * 1-13 *", "* * * 0 *"],
    "day of week.*out of range": ["* * * * 9", "* * * * 8#1", "* * * * 9L"],
    "step of 0": ["*/0 * * * *", "5/0 * * * *", "* 1-5/0 * * *", "* * H/0 * *", "* H(1-5)/00 * * *"],
    "empty item": ["1, * * * *", "1,,2 * * * *", "* * L, * *", "* * * * ,MON#1", "* ,,, * * *"],
    "backwards": ["50-10 * * * *", "* * * DEC-JAN *", "* * * * SAT-MON", "* * * * 6-0", "* H(5-2) * * *"],
    "minute.*not understood": [
        *("*-5 * * * *", "*/5-10 * * * *", "5/* * * * *", "1/2/3 * * * *", "+5 * * * *", "1_0 * * * *"),
        *("0b1 * * * *", "\u0663 * * * *", "\uff0a * * * *", "five * * * *", "? * * * *", "W * * * *", "R * * * *"),
        *("H,5 * * * *", "5,H * * * *", "H-5 * * * *", "HH * * * *", "H(5) * * * *", "H() * * * *", "h(1-9)/x * * * *"),
        *("*\t\n* * * * *", "-1 * * * *", "1- * * * *", "*/ * * * *", "/5 * * * *", "5#2 * * * *", "5L * * * *"),
    ],
    "day of month.*not understood": [
        *("* * W * *", "* * 15WW * *", "* * LW-1 * *", "* * 1-LW * *", "* * L-L * *", "* * 28-L * *", "* * L/2 * *"),
        *("* * 1,? * *", "* * ?,1 * *", "* * ?-5 * *", "* * 1W-5W * *", "* * WL * *", "* * W15 * *", "* * MON#1 * *"),
    ],
    "beyond a month": ["* * L-31 * *", "* * L-99 * *"],
    "day of week.*not understood": [
        *("* * * * L", "* * * * L5", "* * * * MON#", "* * * * #1", "* * * * MON-FRI#1", "* * * * 1#-1", "* * * * 1#L"),
        *("* * * * MONDAY", "* * * * LMON", "* * * * JAN", "* * * * JANL", "* * * * 1W", "* * * * MO"),
    ],
    "no month has": ["* * * * 1#0", "* * * * MON#6", "* * * * 1#10"],
    "five fields": ["", "   ", "*", "* * * *", "0 0 1 1 * 2026 *", "0 0 0 1 1 * 2026", "0 0 * * * root backup.sh"],
    "no time that can be scheduled": ["@", "@reboot", "@every 5m", "@dailyx", "@ daily", "@daily @daily"],
    "never fires": ["0 0 31 4,6,9,11 *", "0 0 30W 2 *", "0 0 L-29 2 *", "0 0 */31 * SUN#2", "0 0 30-31 2 */8"],
    "has an H": ["H * * * *", "* H(1-5) * * *", "0 0 * * H"],
    "characters": ["*" + ",1" * LONGEST + " * * * *", "1" * 100_000],
}


@pytest.mark.parametrize(
    ("reason", "expression"), [(reason, expression) for reason, texts in REFUSED.items() for expression in texts]
)
def test_what_is_refused_is_told_why(reason: str, expression: str) -> None:
    with pytest.raises(InvalidSchedule, match=rf"(?s){reason}") as refused:
        parse_cron(expression, "" if reason == "has an H" else "7")
    assert refused.value.field == "schedule_expression"


@pytest.mark.parametrize("expression", [" \t*/5  * *\t* * \n", "@DAILY", "@Midnight", "0 0 * JAN-dec mOn"])
def test_blanks_and_case_do_not_matter(expression: str) -> None:
    assert parse_cron(expression)


@pytest.mark.parametrize("written", ["5,*", "*,5", "0-3,*,7/2", "*/20,*"])
def test_a_star_in_a_list_is_every_value(written: str) -> None:
    every = parse_cron(" ".join([written.replace("0-3", "1-3")] * 5))
    assert (len(every.minutes), len(every.hours)) == (60, 24)
    assert (len(every.days.dates), len(every.days.months), len(every.days.weekdays)) == (31, 12, 7)


def test_every_value_written_out_is_not_too_large() -> None:
    sixty, hours, dates = (",".join(f"{n:02}" for n in values) for values in (range(60), range(24), range(1, 32)))
    assert parse_cron(f"{sixty} {sixty} {hours} {dates} {','.join(map(str, range(1, 13)))} 0,1,2,3,4,5,6,7")


@pytest.mark.parametrize(("expression", "values"), [("H * * * *", range(60)), ("H(10-19) * * * *", range(10, 20))])
def test_hashes_spread_over_their_range(expression: str, values: range) -> None:
    minutes = [parse_cron(expression, str(schedule)).minutes for schedule in range(200)]
    assert {len(minute) for minute in minutes} == {1}
    assert {minute[0] for minute in minutes} <= set(values)
    assert len({minute[0] for minute in minutes}) > len(values) / 2


def test_a_hash_is_the_same_for_the_same_schedule() -> None:
    assert parse_cron("H H H H H", "42") == parse_cron("h h h h h", "42")


@pytest.mark.parametrize("step", [5, 7, 15, 59, 60, 99])
def test_a_hashed_step_keeps_its_step(step: int) -> None:
    for schedule in range(50):
        minutes = parse_cron(f"H/{step} * * * *", str(schedule)).minutes
        assert minutes == tuple(range(minutes[0], 60, step))
        assert minutes[0] < step


@pytest.mark.parametrize(
    ("expression", "fires_anyway"),
    [
        ("0 0 30 H *", False),
        ("0 0 31 H/5 *", False),  # perhaps April and September
        ("0 0 30 H/6 *", True),
        ("0 0 H(28-30) 2 *", False),
        ("0 0 H(28-31)/3 2 *", False),
        ("0 0 H(20-31)/3 2 *", True),
        ("0 0 31 H 1", True),  # or on Mondays
        ("0 0 H H H", True),
    ],
)
def test_whether_it_fires_is_not_for_the_hash_to_say(expression: str, fires_anyway: bool) -> None:
    for id_ in map(str, range(40)):
        if fires_anyway:
            parse_cron(expression, id_)
        else:
            with pytest.raises(InvalidSchedule, match="never fires by some"):
                parse_cron(expression, id_)


def test_a_hashed_day_is_in_every_month() -> None:
    assert all(max(parse_cron("0 0 H * *", str(schedule)).days.dates) <= 28 for schedule in range(500))


number = st.integers(0, 59).map(str)
minute = st.sampled_from(["*", "*/5", "*/7", "0", "7,8,59", "10-20/3", "2/5"]) | number
hour = st.sampled_from(["*", "*/2", "0", "23", "9-17", "5-7,22"])
date = st.sampled_from(["*", "*/2", "1", "13", "31", "1-7", "*/5", "29,30", "?", "L", "15W"])
month = st.sampled_from(["*", "2", "*/3", "JAN,JUL", "4-6", "feb"])
weekday = st.sampled_from(["*", "*/2", "0", "7", "MON-FRI", "5", "6-7", "1#2", "FRI#5", "?"])


@settings(max_examples=300, deadline=None)
@given(minute, hour, date, month, weekday, st.datetimes(datetime(1999, 1, 1), datetime(2049, 1, 1)))  # noqa: DTZ001 - naive
def test_croniter_agrees_where_its_rules_are_ours(
    minute: str, hour: str, date: str, month: str, weekday: str, start: datetime
) -> None:
    restricted = date[0] not in "*?" and weekday[0] not in "*?"
    if restricted and ("#" in weekday or "W" in date):
        weekday = "*"  # croniter wants both of these days, we want either
    expression = " ".join((minute, hour, date, month, weekday))
    try:
        ours = fires(WallClock(parse_cron(expression), UTC_RULES), start.replace(tzinfo=UTC), 5)
    except InvalidSchedule:
        return  # never fires; croniter accepts that
    theirs = croniter(expression, start.replace(tzinfo=UTC), implement_cron_bug=True)
    assert ours == [theirs.get_next(datetime) for _ in ours]
