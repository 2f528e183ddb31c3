"""What time it is: one clock for a scheduler, which a test may move by hand."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

# A sleep does not count the time for which the machine is suspended: after that, look at the clock this soon.
LONGEST_BLIND_SECONDS = 60.0


class Clock(Protocol):
    def now(self) -> datetime:
        """An aware UTC moment, never earlier than one it gave before."""
        ...

    def seconds_until(self, moment: datetime) -> float | None:
        """How long to sleep, at most, for `moment` to come; 0 or less: it has; None: until the clock is moved."""
        ...

    def on_move(self, moved: Callable[[], None]) -> None:
        """Call this before and after the clock is moved by hand; it returns when all that is due then is decided."""
        ...


class SystemClock:
    """The wall clock as it was at the start, and the time that has passed since, while the machine slept too.

    So delays and time limits take as long as they say when somebody sets the machine's clock; what goes by the
    calendar goes by the clock as it was at the start.
    """

    def __init__(self) -> None:
        self._began_at = datetime.now(UTC)
        self._mark = _elapsed()

    def now(self) -> datetime:
        return self._began_at + timedelta(seconds=_elapsed() - self._mark)

    def seconds_until(self, moment: datetime) -> float | None:
        return min((moment - self.now()).total_seconds(), LONGEST_BLIND_SECONDS)

    def on_move(self, moved: Callable[[], None]) -> None:
        """Nobody moves it."""


def _elapsed() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class HandClock:
    """Stands still until `advance` moves it. When that returns, all that the new moment brings has been decided."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start.astimezone(UTC)
        self._lock = threading.Lock()
        self._moved: list[Callable[[], None]] = []

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        """At once, over whatever lies between: to a scheduler that is a pause in which nothing could run."""
        if seconds < 0:
            raise ValueError(f"the clock was to be moved by {seconds} s; it only goes forward")
        self._tell()  # what was asked before is done before
        with self._lock:
            self._now += timedelta(seconds=seconds)
        self._tell()

    def seconds_until(self, moment: datetime) -> float | None:
        return 0.0 if moment <= self._now else None

    def on_move(self, moved: Callable[[], None]) -> None:
        self._moved.append(moved)

    def _tell(self) -> None:
        for moved in self._moved:
            moved()
