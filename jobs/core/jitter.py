"""Jitter: a wait after the logical date, so that what is due at one moment does not start in one moment.

It is hashed, not drawn: every node and every preview has the same wait for the same fire, and a restart does not draw
again.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import pairwise

from jobs.core.calendared import DelayInCalendar, Moved, Skipped
from jobs.core.fixeddelay import FixedDelay
from jobs.core.invalid import JITTER, InvalidSchedule
from jobs.core.timewords import elapsed
from jobs.core.triggers import AtOnce, FixedRate, Trigger
from jobs.core.wallclock import WallClock
from jobs.core.walltimes import WallTimes

LONGEST = timedelta(days=1)


def jittered(logical_at: datetime, seconds: float, key: str) -> datetime:
    """The logical date and a wait in [0, seconds). key: what is jittered, the schedule's id."""
    moment = logical_at.astimezone(UTC).isoformat(timespec="microseconds")
    drawn = int.from_bytes(sha256(f"{key} {moment}".encode()).digest()[:8])
    microseconds = int(seconds * 1_000_000)
    return logical_at + timedelta(microseconds=drawn * microseconds >> 64)


def check_jitter(seconds: float, trigger: Trigger) -> None:
    """Raises InvalidSchedule unless it is from 0 to a day and below the shortest time from one fire to the next."""
    if not 0 <= seconds <= LONGEST.total_seconds():
        raise InvalidSchedule(JITTER, f"A jitter of {seconds:g} seconds is not between 0 seconds and 1 day.")
    gap = shortest_gap(trigger)
    if gap is not None and seconds >= gap.total_seconds():
        raise InvalidSchedule(
            JITTER,
            f"A jitter of {seconds:g} seconds is not below {elapsed(gap)}, the shortest time between two fires "
            f"({trigger.describe()}): one could start after the next is due.",
        )


def shortest_gap(trigger: Trigger) -> timedelta | None:
    """The shortest time between two fires, changes of clocks and closures of a calendar apart. None: fires but once."""
    match trigger:
        case FixedRate(every=every) | FixedDelay(every=every):
            return every
        case WallClock(times=times):
            return _between_wall_times(times)
        case AtOnce() | Skipped() | Moved() | DelayInCalendar():
            return shortest_gap(trigger.trigger)
    return None


def _between_wall_times(times: WallTimes) -> timedelta:
    """The least of what lies between neighbours: within a minute, within an hour, within a day, over midnight."""
    first, last = times.seconds[0], times.seconds[-1]
    gaps = _differences(times.seconds)
    gaps += [60 * minutes + first - last for minutes in _differences(times.minutes)]
    first, last = first + 60 * times.minutes[0], last + 60 * times.minutes[-1]
    gaps += [3600 * hours + first - last for hours in _differences(times.hours)]
    first, last = first + 3600 * times.hours[0], last + 3600 * times.hours[-1]
    gaps += [86_400 * times.days.least_apart() + first - last]
    return timedelta(seconds=min(gaps))


def _differences(values: tuple[int, ...]) -> list[int]:
    return [later - earlier for earlier, later in pairwise(values)]
