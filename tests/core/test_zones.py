import copy
import pickle
import re
from datetime import UTC, datetime, timedelta
from importlib.metadata import version

import pytest

from jobs.core.invalid import InvalidSchedule
from jobs.core.zones import Change, changes, offset_at, tzdata_version, zone_named, zone_names

HOUR = timedelta(hours=1)


@pytest.mark.parametrize("name", ["UTC", "Europe/Kyiv", "America/Argentina/Ushuaia", "EST5EDT", "Etc/GMT+12"])
def test_names_and_links_are_zones(name: str) -> None:
    assert zone_named(name).key == name


@pytest.mark.parametrize(
    "name",
    ["", " ", "localtime", "posixrules", "Factory", "+02:00", "UTC+2", "Europe/Berlin\n", "/etc/localtime", "../UTC"],
)
def test_what_names_no_place_is_refused(name: str) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        zone_named(name)
    assert refused.value.field == "timezone"


def test_a_slip_of_case_gets_the_right_name() -> None:
    with pytest.raises(InvalidSchedule, match="did you mean Europe/Berlin"):
        zone_named("europe/berlin")


def test_every_name_can_be_loaded() -> None:
    assert all(zone_named(name).key == name for name in zone_names())


def test_zones_are_those_of_the_pinned_package() -> None:
    year, letter = re.fullmatch(r"(\d{4})([a-z])", tzdata_version()).groups()  # type: ignore[union-attr]  # else it fails
    assert version("tzdata") == f"{year}.{ord(letter) - ord('a') + 1}"
    assert type(zone_named("Europe/Berlin")).__name__ == "PinnedZone"


def test_a_zone_is_one_object_however_it_is_copied() -> None:
    berlin = zone_named("Europe/Berlin")
    assert zone_named("Europe/Berlin") is berlin
    assert copy.deepcopy(berlin) is berlin
    assert pickle.loads(pickle.dumps(berlin)) is berlin  # noqa: S301 - what was pickled here


def test_a_change_is_found_to_the_second() -> None:
    [spring, autumn] = changes(zone_named("Europe/Berlin"), 2026)
    assert spring == Change(datetime(2026, 3, 29, 1, tzinfo=UTC), HOUR, 2 * HOUR)
    assert autumn == Change(datetime(2026, 10, 25, 1, tzinfo=UTC), 2 * HOUR, HOUR)


# The closest pairs of changes there are (a week apart), a change in the last hour of a year, a skipped day, wars.
@pytest.mark.parametrize(
    ("name", "year"),
    [
        ("America/Noronha", 2000),
        ("Asia/Gaza", 2040),
        ("Africa/Casablanca", 1985),
        ("Africa/Casablanca", 2026),
        ("Pacific/Apia", 2011),
        ("Europe/Riga", 1944),
        ("Africa/Tunis", 1943),
        ("Asia/Kolkata", 2026),
    ],
)
def test_no_change_is_overlooked(name: str, year: int) -> None:
    zone, hour = zone_named(name), datetime(year, 1, 1, tzinfo=UTC) - HOUR
    changed = []
    while hour.year <= year:
        if offset_at(zone, hour) != offset_at(zone, hour + HOUR):
            changed.append(hour)
        hour += HOUR
    assert [change.at for change in changes(zone, year)] == pytest.approx(changed, abs=HOUR)
