"""Both DST nights of four zones, each policy, by hand: what a schedule asks for, and when it fires.

New York   8 March 2026 02:00-03:00 skipped (-05:00 to -04:00), 1 November 01:00-02:00 twice
Berlin     29 March 2026 02:00-03:00 skipped (+01:00 to +02:00), 25 October 02:00-03:00 twice
Lord Howe  4 October 2026 02:00-02:30 skipped (+10:30 to +11:00), 5 April 01:30-02:00 twice
Apia       30 September 2012 03:00-04:00 skipped (+13:00 to +14:00), 1 April 03:00-04:00 twice;
           30 December 2011 skipped as a whole (-10:00 to +14:00), when it moved across the date line
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.core.expressions import parse_moment, parse_trigger
from jobs.core.invalid import InvalidSchedule
from jobs.core.triggers import Once, Trigger, fires, missed_between
from jobs.core.zones import zone_named

NEW_YORK, BERLIN, LORD_HOWE, APIA = "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"


def trigger(schedule_type: str, expression: str, zone: str, **wishes: Any) -> Trigger:
    anchor = datetime(2000, 1, 1, tzinfo=UTC)
    return parse_trigger(schedule_type, expression, zone=zone, anchor=anchor, start=None, end=None, **wishes)


def morning(found: Trigger, zone: str, day: str) -> list[str]:
    """What fires from midnight to 07:00 by the clocks of the zone, twelve hours before and behind being looked at."""
    midnight = datetime.fromisoformat(day).replace(tzinfo=UTC)
    around = [fire.astimezone(zone_named(zone)) for fire in fires(found, midnight - timedelta(days=1), 80)]
    return [fire.strftime("%H:%M%z") for fire in around if fire.date().isoformat() == day and fire.hour < 7]


# Zone, day, and what the schedule asks for; then what happens by default and with run_after, and with skip.
FIXED_IN_GAPS = [
    (NEW_YORK, "2026-03-08", "daily", "02:30", ["03:00-0400"], []),
    (NEW_YORK, "2026-03-08", "daily", "02:00", ["03:00-0400"], []),
    (NEW_YORK, "2026-03-08", "daily", "03:00", ["03:00-0400"], ["03:00-0400"]),
    (NEW_YORK, "2026-03-08", "weekly", "sun 02:30", ["03:00-0400"], []),
    (NEW_YORK, "2026-03-08", "cron", "0,30 1-3 * * *", ["01:00-0500", "01:30-0500", "03:00-0400", "03:30-0400"],
     ["01:00-0500", "01:30-0500", "03:00-0400", "03:30-0400"]),
    (BERLIN, "2026-03-29", "daily", "02:30", ["03:00+0200"], []),
    (BERLIN, "2026-03-29", "weekly", "sat,sun 02:59:59", ["03:00+0200"], []),
    (BERLIN, "2026-03-29", "cron", "15,45 2 * * *", ["03:00+0200"], []),
    (LORD_HOWE, "2026-10-04", "daily", "02:15", ["02:30+1100"], []),
    (LORD_HOWE, "2026-10-04", "daily", "02:30", ["02:30+1100"], ["02:30+1100"]),
    (LORD_HOWE, "2026-10-04", "cron", "0,15,45 2 * * *", ["02:30+1100", "02:45+1100"], ["02:45+1100"]),
    (APIA, "2012-09-30", "daily", "03:30", ["04:00+1400"], []),
    (APIA, "2012-09-30", "weekly", "sun 03:30", ["04:00+1400"], []),
    (APIA, "2011-12-30", "daily", "03:30", [], []),
    (APIA, "2011-12-31", "daily", "03:30", ["03:30+1400"], ["03:30+1400"]),
]  # fmt: skip

# What happens by default and with skip, and with run_after.
WILDCARDS_IN_GAPS = [
    (NEW_YORK, "2026-03-08", "30 */2 * * *", ["00:30-0500", "04:30-0400", "06:30-0400"],
     ["00:30-0500", "03:00-0400", "04:30-0400", "06:30-0400"]),
    (BERLIN, "2026-03-29", "30 */2 * * *", ["00:30+0100", "04:30+0200", "06:30+0200"],
     ["00:30+0100", "03:00+0200", "04:30+0200", "06:30+0200"]),
    (BERLIN, "2026-03-29", "*/20 2 * * *", [], ["03:00+0200"]),
    (LORD_HOWE, "2026-10-04", "10 */2 * * *", ["00:10+1030", "04:10+1100", "06:10+1100"],
     ["00:10+1030", "02:30+1100", "04:10+1100", "06:10+1100"]),
    (LORD_HOWE, "2026-10-04", "*/15 2 * * *", ["02:30+1100", "02:45+1100"], ["02:30+1100", "02:45+1100"]),
    (APIA, "2012-09-30", "30 */3 * * *", ["00:30+1300", "06:30+1400"], ["00:30+1300", "04:00+1400", "06:30+1400"]),
    (APIA, "2011-12-30", "30 */3 * * *", [], []),
]  # fmt: skip

# What happens on the first pass, on the second, and on both.
IN_FOLDS = [
    (NEW_YORK, "2026-11-01", "01:30", ["01:30-0400"], ["01:30-0500"]),
    (NEW_YORK, "2026-11-01", "01:00", ["01:00-0400"], ["01:00-0500"]),
    (BERLIN, "2026-10-25", "02:59", ["02:59+0200"], ["02:59+0100"]),
    (LORD_HOWE, "2026-04-05", "01:30", ["01:30+1100"], ["01:30+1030"]),
    (LORD_HOWE, "2026-04-05", "01:45", ["01:45+1100"], ["01:45+1030"]),
    (APIA, "2012-04-01", "03:30", ["03:30+1400"], ["03:30+1300"]),
]
NOT_IN_FOLDS = [
    (NEW_YORK, "2026-11-01", "02:00", ["02:00-0500"]),
    (NEW_YORK, "2026-11-01", "00:59", ["00:59-0400"]),
    (BERLIN, "2026-10-25", "03:00", ["03:00+0100"]),
    (LORD_HOWE, "2026-04-05", "02:00", ["02:00+1030"]),
    (LORD_HOWE, "2026-04-05", "01:29", ["01:29+1100"]),
    (APIA, "2012-04-01", "04:00", ["04:00+1300"]),
]


@pytest.mark.parametrize(("zone", "day", "schedule_type", "expression", "run_after", "skip"), FIXED_IN_GAPS)
def test_fixed_fires_in_a_gap_happen_once_after_it(
    zone: str, day: str, schedule_type: str, expression: str, run_after: list[str], skip: list[str]
) -> None:
    assert morning(trigger(schedule_type, expression, zone), zone, day) == run_after
    assert morning(trigger(schedule_type, expression, zone, gap="run_after"), zone, day) == run_after
    assert morning(trigger(schedule_type, expression, zone, gap="skip"), zone, day) == skip


@pytest.mark.parametrize(("zone", "day", "expression", "skip", "run_after"), WILDCARDS_IN_GAPS)
def test_wildcard_fires_in_a_gap_do_not_exist(
    zone: str, day: str, expression: str, skip: list[str], run_after: list[str]
) -> None:
    assert morning(trigger("cron", expression, zone), zone, day) == skip
    assert morning(trigger("cron", expression, zone, gap="skip"), zone, day) == skip
    assert morning(trigger("cron", expression, zone, gap="run_after"), zone, day) == run_after


@pytest.mark.parametrize(("zone", "day", "clock", "first", "second"), IN_FOLDS)
@pytest.mark.parametrize("schedule_type", ["daily", "weekly", "cron"])
def test_fixed_fires_in_a_fold_happen_on_the_first_pass(
    zone: str, day: str, clock: str, first: list[str], second: list[str], schedule_type: str
) -> None:
    expression = {"daily": clock, "weekly": f"sun {clock}", "cron": f"{clock[3:]} {clock[:2]} * * *"}[schedule_type]
    assert morning(trigger(schedule_type, expression, zone), zone, day) == first
    assert morning(trigger(schedule_type, expression, zone, fold="first"), zone, day) == first
    assert morning(trigger(schedule_type, expression, zone, fold="second"), zone, day) == second
    assert morning(trigger(schedule_type, expression, zone, fold="both"), zone, day) == first + second


@pytest.mark.parametrize(("zone", "day", "clock", "first", "second"), IN_FOLDS)
def test_wildcard_fires_in_a_fold_happen_on_both(
    zone: str, day: str, clock: str, first: list[str], second: list[str]
) -> None:
    def at(**wishes: Any) -> list[str]:
        found = morning(trigger("cron", f"{clock[3:]} */1 * * *", zone, **wishes), zone, day)
        return [time for time in found if time.startswith(clock)]

    assert at() == at(fold="both") == first + second
    assert at(fold="first") == first
    assert at(fold="second") == second


@pytest.mark.parametrize(("zone", "day", "clock", "expected"), NOT_IN_FOLDS)
@pytest.mark.parametrize("fold", ["default", "first", "second", "both"])
def test_beside_a_fold_all_policies_are_one(zone: str, day: str, clock: str, expected: list[str], fold: str) -> None:
    assert morning(trigger("daily", clock, zone, fold=fold), zone, day) == expected


@pytest.mark.parametrize(
    ("zone", "text", "expected"),
    [
        (NEW_YORK, "2026-03-08T02:30", "2026-03-08T03:00-04:00"),
        (BERLIN, "2026-03-29T02:30", "2026-03-29T03:00+02:00"),
        (LORD_HOWE, "2026-10-04T02:15", "2026-10-04T02:30+11:00"),
        (APIA, "2012-09-30T03:30", "2012-09-30T04:00+14:00"),
        (NEW_YORK, "2026-11-01T01:30", "2026-11-01T01:30-04:00"),
        (BERLIN, "2026-10-25T02:30", "2026-10-25T02:30+02:00"),
        (LORD_HOWE, "2026-04-05T01:45", "2026-04-05T01:45+11:00"),
        (APIA, "2012-04-01T03:30", "2012-04-01T03:30+14:00"),
    ],
)
def test_once_is_as_a_fixed_fire(zone: str, text: str, expected: str) -> None:
    once = Once(parse_moment(text, zone, end_of_day=False), zone=zone)
    assert fires(once, datetime(2000, 1, 1, tzinfo=UTC), 9) == [datetime.fromisoformat(expected)]


NIGHTS = [(zone, day) for zone, day, *_ in (*FIXED_IN_GAPS, *IN_FOLDS)]
WISHES = [{}, {"gap": "skip", "fold": "second"}, {"gap": "run_after", "fold": "both"}, {"fold": "first"}]


@pytest.mark.parametrize(("zone", "day"), sorted(set(NIGHTS)))
@pytest.mark.parametrize("expression", ["*/20 * * * *", "11,41 0-5 * * *"])
def test_a_clock_that_moves_on_fires_as_previewed(zone: str, day: str, expression: str) -> None:
    noon_before = datetime.fromisoformat(day).replace(tzinfo=zone_named(zone)).astimezone(UTC) - timedelta(hours=12)
    for wishes in WISHES:
        wished = trigger("cron", expression, zone, **wishes)
        now, happened = noon_before, []
        for _ in range(24 * 60 // 9):
            seen, now = now, now + timedelta(minutes=9)
            due = missed_between(wished, seen, now)
            assert due.count <= 1
            happened += [due.latest] if due.latest else []
        assert happened == [fire for fire in fires(wished, noon_before, 200) if fire <= now]


@pytest.mark.parametrize("schedule_type", ["once", "interval", "fixed_delay", "cron", "daily", "weekly"])
@pytest.mark.parametrize(("field", "wish"), [("gap", "both"), ("gap", "RUN_AFTER"), ("fold", "skip"), ("fold", "")])
def test_wishes_are_checked_for_every_type(schedule_type: str, field: str, wish: str) -> None:
    with pytest.raises(InvalidSchedule, match="expected one of default") as refused:
        trigger(schedule_type, "whatever it says", "UTC", **{field: wish})
    assert refused.value.field == field
