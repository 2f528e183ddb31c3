"""Time zones as data: which names are zones, and at which instants a zone's offset from UTC changes.

Python can say what the offset is at one instant, not when it changes, so changes are found by looking at the
offset every few days and halving the interval in which it differs. Between two changes wall time and UTC run side
by side; all that is difficult about wall time happens at a change.

The data is that of the pinned tzdata package, never that of the machine: two nodes whose distributions are a year apart
would else fire the same schedule at two moments.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from importlib import import_module
from importlib.resources import files
from typing import NamedTuple
from zoneinfo import ZoneInfo

from jobs.core.invalid import ZONE, InvalidSchedule

# No zone of the IANA database has ever changed its offset twice within less than 6.9 days.
LOOK_EVERY = timedelta(days=3)
SECOND = timedelta(seconds=1)

# From then on no zone lists its changes (the last one does until 2087): each has its rule, and like all days that can
# be named by month, day and weekday these come again after 400 years, which are whole weeks.
SETTLED = datetime(2200, 1, 1, tzinfo=UTC)
CYCLE_YEARS, CYCLE = 400, timedelta(days=146_097)

NOT_PLACES = frozenset({"Factory"})  # a zone file that names no place


class Change(NamedTuple):
    """From the instant `at` (UTC) on, the offset is `after`; until then it was `before`."""

    at: datetime
    before: timedelta
    after: timedelta

    @property
    def gap(self) -> timedelta:
        """How much wall time is skipped; negative where it is repeated."""
        return self.after - self.before


class PinnedZone(ZoneInfo):
    """A zone of the pinned data. A plain ZoneInfo that was read from a file cannot be copied; this one goes by name."""

    def __reduce__(self) -> tuple[object, ...]:
        return zone_named, (self.key,)


def tzdata_version() -> str:
    """The release of the IANA database that all zones are read from, such as "2026b"."""
    return str(import_module("tzdata").IANA_VERSION)


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    return frozenset(files("tzdata").joinpath("zones").read_text().split()) - NOT_PLACES


def zone_named(name: str) -> ZoneInfo:
    """The zone of an IANA name such as Europe/Berlin, one object for each. Raises InvalidSchedule for all else."""
    if name in zone_names():
        return _read(name)
    alike = [known for known in zone_names() if known.lower() == name.strip().lower()]
    hint = f"did you mean {alike[0]}?" if alike else "write a name such as Europe/Berlin or UTC."
    raise InvalidSchedule(ZONE, f"{name!r} is no time zone of the IANA database; {hint}")


@cache
def _read(name: str) -> PinnedZone:
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as data:
        return PinnedZone.from_file(data, key=name)


def offset_at(zone: ZoneInfo, instant: datetime) -> timedelta:
    return instant.astimezone(zone).utcoffset() or timedelta(0)


@lru_cache(maxsize=8192)
def changes(zone: ZoneInfo, year: int) -> tuple[Change, ...]:
    """The changes of the zone's offset within one UTC year, in order."""
    at = datetime(year, 1, 1, tzinfo=UTC) - SECOND
    end = datetime(year + 1, 1, 1, tzinfo=UTC) - SECOND
    offset = offset_at(zone, at)
    found = []
    while at < end:
        later = min(at + LOOK_EVERY, end)
        if offset_at(zone, later) == offset:
            at = later
            continue
        at = _first_instant_without(offset, zone, at, later)
        found.append(Change(at, offset, offset_at(zone, at)))
        offset = found[-1].after
    return tuple(found)


def _first_instant_without(offset: timedelta, zone: ZoneInfo, early: datetime, late: datetime) -> datetime:
    """Offsets change at whole seconds: halve (early, late] down to one."""
    while late - early > SECOND:
        middle = early + timedelta(seconds=(late - early) // SECOND // 2)
        if offset_at(zone, middle) == offset:
            early = middle
        else:
            late = middle
    return late
