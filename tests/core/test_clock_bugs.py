"""Bugs that other schedulers had around changes of clocks (bugs.json, area schedule): none of them here."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.core.expressions import parse_trigger
from jobs.core.invalid import InvalidSchedule
from jobs.core.triggers import Trigger, fires, missed_between
from jobs.core.zones import zone_named


def cron(expression: str, zone: str, now: datetime, **wishes: Any) -> Trigger:
    return parse_trigger("cron", expression, zone=zone, anchor=now, start=None, end=None, **wishes)


def local(found: list[datetime], zone: str) -> list[str]:
    return [fire.astimezone(zone_named(zone)).isoformat(timespec="minutes") for fire in found]


def test_bug_032_a_zone_that_changes_floods_nothing() -> None:
    edited = datetime(2026, 5, 4, 12, 20, tzinfo=UTC)
    moved = cron("30 16 * * *", "America/New_York", edited)
    assert missed_between(moved, edited, edited).count == 0
    assert local(fires(moved, edited, 1), "America/New_York") == ["2026-05-04T16:30-04:00"]


def test_bug_034_a_schedule_is_read_two_days_before_clocks_change() -> None:
    now = datetime(2018, 10, 26, 12, tzinfo=UTC)
    found = local(fires(cron("0 2 * * *", "Europe/Copenhagen", now), now, 3), "Europe/Copenhagen")
    assert found == ["2018-10-27T02:00+02:00", "2018-10-28T02:00+02:00", "2018-10-29T02:00+01:00"]


def test_bug_035_planned_fires_have_no_twins() -> None:
    before, after = datetime(2022, 10, 28, tzinfo=UTC), datetime(2022, 11, 1, tzinfo=UTC)
    planned = fires(cron("0 0 * * *", "Europe/London", before), before, 9)
    assert local(planned[:4], "Europe/London") == [
        "2022-10-29T00:00+01:00",
        "2022-10-30T00:00+01:00",
        "2022-10-31T00:00+00:00",
        "2022-11-01T00:00+00:00",
    ]
    assert fires(cron("0 0 * * *", "Europe/London", after), after, 5) == planned[4:]


def test_bug_036_a_monday_noon_is_one_noon() -> None:
    sunday = datetime(2013, 10, 27, tzinfo=UTC)
    weekly = cron("0 12 * * 1", "Europe/Amsterdam", sunday)
    assert missed_between(weekly, sunday, sunday + timedelta(days=2)).count == 1
    assert local(fires(weekly, sunday, 1), "Europe/Amsterdam") == ["2013-10-28T12:00+01:00"]


@pytest.mark.parametrize("expression", ["0 0 30 2 *", "15/0 * * * *"])
def test_bug_061_what_never_fires_is_refused_when_read(expression: str) -> None:
    with pytest.raises(InvalidSchedule):
        cron(expression, "UTC", datetime(2026, 1, 1, tzinfo=UTC))
