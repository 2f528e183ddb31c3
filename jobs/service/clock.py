"""Whether the clock on the wall went another way than those that nobody can set."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

# What a time service does to keep a clock right is far smaller from one turn of the engine to the next.
NOTICED = timedelta(seconds=5)

# Held up for longer between two readings, they do not tell of one moment.
HELD_UP_SECONDS = 1.0


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Reading:
    """All clocks at one moment: the one that can be set, and seconds with and without the time spent suspended."""

    wall: datetime
    boot_seconds: float
    awake_seconds: float


@dataclass(frozen=True, slots=True)
class Clocks:
    """Where to read them; arguments, so that a test moves them by hand."""

    wall: Callable[[], datetime] = utc_now
    boot: Callable[[], float] = lambda: time.clock_gettime(time.CLOCK_BOOTTIME)
    awake: Callable[[], float] = time.monotonic

    def read(self) -> Reading:
        """Again, if something held this thread up between the first and the last of them."""
        while True:
            reading = Reading(self.wall(), self.boot(), self.awake())
            if self.boot() - reading.boot_seconds < HELD_UP_SECONDS:
                return reading


@dataclass(frozen=True, slots=True)
class ClockChange:
    """`set_by`: forward or (negative) back. `suspended`: how long the machine slept."""

    set_by: timedelta
    suspended: timedelta

    def __bool__(self) -> bool:
        return bool(self.set_by or self.suspended)

    def and_then(self, other: ClockChange) -> ClockChange:
        return ClockChange(self.set_by + other.set_by, self.suspended + other.suspended)


NO_CHANGE = ClockChange(timedelta(0), timedelta(0))


class ClockWatch:
    """Compares each reading with the one before."""

    def __init__(self, first: Reading) -> None:
        self._last = first

    def look(self, reading: Reading) -> ClockChange:
        """What was done to the clock since the last look; false if nothing worth a word."""
        before, self._last = self._last, reading
        passed = timedelta(seconds=reading.boot_seconds - before.boot_seconds)
        awake = timedelta(seconds=reading.awake_seconds - before.awake_seconds)
        return ClockChange(_worth(reading.wall - before.wall - passed), _worth(passed - awake))


def _worth(difference: timedelta) -> timedelta:
    return difference if abs(difference) >= NOTICED else timedelta(0)
