"""What a schedule may wish of gaps and folds, in New York: 02:00-03:00 skipped on 8 March 2026, 01:00-02:00 twice on
1 November 2026."""

from datetime import UTC, datetime, timedelta

import pytest

from jobs.core.cron import parse_cron
from jobs.core.daylight import ZoneRules
from jobs.core.invalid import InvalidSchedule
from jobs.core.triggers import fires
from jobs.core.wallclock import WallClock
from jobs.core.zones import zone_named

FIXED, WILDCARD = "0,30 1,2,3 * * *", "*/30 1,2,3 * * *"


def night(expression: str, zone: str, noon_before: str, **wishes: str) -> list[str]:
    """The local times of fires in the 24 hours after a noon."""
    trigger = WallClock(parse_cron(expression), ZoneRules(zone_named(zone), **wishes))  # type: ignore[arg-type]  # some are wrong
    noon = datetime.fromisoformat(noon_before).replace(tzinfo=zone_named(zone)).astimezone(UTC)
    found = [fire for fire in fires(trigger, noon, 60) if fire <= noon + timedelta(hours=24)]
    assert trigger.count_between(noon, noon + timedelta(hours=24)) == len(found)
    return [fire.astimezone(zone_named(zone)).strftime("%H:%M%z") for fire in found]


@pytest.mark.parametrize("expression", [FIXED, WILDCARD])
def test_run_after_makes_one_fire_of_a_gap(expression: str) -> None:
    found = night(expression, "America/New_York", "2026-03-07T12:00", gap="run_after")
    assert found == ["01:00-0500", "01:30-0500", "03:00-0400", "03:30-0400"]


def test_run_after_fires_at_the_end_of_a_gap() -> None:
    assert night("*/30 2 * * *", "America/New_York", "2026-03-07T12:00", gap="run_after") == ["03:00-0400"]


@pytest.mark.parametrize("expression", ["30 2 * * *", "*/30 2 * * *"])
def test_skip_leaves_a_gap_empty(expression: str) -> None:
    assert night(expression, "America/New_York", "2026-03-07T12:00", gap="skip") == []


@pytest.mark.parametrize("expression", [FIXED, WILDCARD])
@pytest.mark.parametrize(
    ("fold", "expected"),
    [
        ("first", ["01:00-0400", "01:30-0400"]),
        ("second", ["01:00-0500", "01:30-0500"]),
        ("both", ["01:00-0400", "01:30-0400", "01:00-0500", "01:30-0500"]),
    ],
)
def test_a_fold_is_passed_as_wished(expression: str, fold: str, expected: list[str]) -> None:
    found = night(expression, "America/New_York", "2026-10-31T12:00", fold=fold)
    assert found == [*expected, "02:00-0500", "02:30-0500", "03:00-0500", "03:30-0500"]


@pytest.mark.parametrize(("expression", "passes"), [(FIXED, 1), (WILDCARD, 2), ("0,30 * * * *", 2)])
def test_by_default_only_wildcards_fire_twice(expression: str, passes: int) -> None:
    found = night(expression, "America/New_York", "2026-10-31T12:00")
    assert len([time for time in found if time.startswith("01:30")]) == passes


def test_nothing_is_made_up_for_a_day_skipped_by_the_date_line() -> None:
    assert night("0 12 30 * *", "Pacific/Apia", "2011-12-29T12:00", gap="run_after") == []


def test_a_fold_over_the_end_of_a_year_of_utc_is_one_fold() -> None:
    found = night("30 23 31 12 *", "Africa/Casablanca", "1985-12-31T12:00")
    assert found == ["23:30+0100"]
    assert night("30 23 31 12 *", "Africa/Casablanca", "1985-12-31T12:00", fold="second") == ["23:30+0000"]
    assert night("30 23 * * *", "Africa/Sao_Tome", "1883-12-31T12:00") == ["23:30+002656"]


@pytest.mark.parametrize(("field", "wish"), [("gap", "later"), ("gap", ""), ("fold", "third"), ("fold", "FIRST")])
def test_an_unknown_wish_is_refused(field: str, wish: str) -> None:
    with pytest.raises(InvalidSchedule, match="expected one of default") as refused:
        ZoneRules(zone_named("UTC"), **{field: wish})  # type: ignore[arg-type]  # wrong on purpose
    assert refused.value.field == field
