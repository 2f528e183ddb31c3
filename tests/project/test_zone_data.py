"""All nodes compute with one release of the time zones, whatever their distribution brings."""

import zoneinfo
from datetime import datetime

from jobs.core.zones import zone_named, zone_names


def test_pages_read_no_zone_of_the_machine():
    assert zoneinfo.TZPATH == ()
    assert zoneinfo.available_timezones() - {"Factory"} == zone_names()


def test_pages_and_schedules_agree_on_an_offset():
    noon = datetime(2026, 7, 1, 12)  # noqa: DTZ001 - the zone is what is asked
    shown, counted = (
        noon.replace(tzinfo=zone) for zone in (zoneinfo.ZoneInfo("Africa/Cairo"), zone_named("Africa/Cairo"))
    )
    assert shown.utcoffset() == counted.utcoffset()
