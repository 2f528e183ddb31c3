"""The trigger of cron, daily and weekly schedules: wall times of a zone.

Its work is done window by window (see `daylight`): within one, wall time and UTC run side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from jobs.core import timewords
from jobs.core.daylight import LAST_YEAR, Window, ZoneRules, wall_at
from jobs.core.walltimes import WallTimes
from jobs.core.zones import CYCLE, SETTLED

SECOND = timedelta(seconds=1)

# Days recur within 41 years; what has not fired for longer falls into a gap each time, and always will.
NEVER_AFTER = timedelta(days=366 * 50)

END_OF_TIME = datetime(LAST_YEAR + 1, 1, 1, tzinfo=UTC) - datetime.resolution  # no window reaches further


@dataclass(frozen=True)
class WallClock:
    """At wall times, with the gaps and folds of their zone treated as `rules` say. start, end: UTC, inclusive."""

    times: WallTimes
    rules: ZoneRules
    start: datetime | None = None
    end: datetime | None = None

    def next_after(self, moment: datetime) -> datetime | None:
        if self.start is not None:
            moment = max(moment, self.start - datetime.resolution)
        found: tuple[datetime, datetime] | None = None  # looked from, due at: wall times, good for later windows too
        for window in self.rules.windows(moment, wildcard=self.times.wildcard):
            if (self.end is not None and window.opens > self.end) or window.opens - moment > NEVER_AFTER:
                return None
            if window.opens > moment and self._makes_up(window):
                return window.opens
            since = max(window.first, _just_after(moment, window))
            if found is None or not found[0] <= since <= found[1]:
                due = self.times.at_or_after(since)
                if due is None:
                    return None
                found = since, due
            if found[1] < window.last:
                fire = (found[1] - window.offset).replace(tzinfo=UTC)
                return fire if self.end is None or fire <= self.end else None
        return None

    def _makes_up(self, window: Window) -> bool:
        return window.made_up is not None and self.times.count(*window.made_up) > 0

    def count_between(self, after: datetime, until: datetime) -> int:
        """Costs by the month, not by the fire; at most by those of two cycles of the calendar."""
        if self.start is not None:
            after = max(after, self.start - datetime.resolution)
        if self.end is not None:
            until = min(until, self.end)
        cycles = max(0, (min(until, END_OF_TIME) - max(after, SETTLED)) // CYCLE)
        if not cycles:
            return self._count_one_by_one(after, until)
        in_one = self._count_one_by_one(SETTLED, SETTLED + CYCLE)
        return cycles * in_one + self._count_one_by_one(after, min(until, END_OF_TIME) - cycles * CYCLE)

    def _count_one_by_one(self, after: datetime, until: datetime) -> int:
        total = 0
        for window in self.rules.windows(after, wildcard=self.times.wildcard):
            if window.opens > until:
                break
            total += self._count_in(window, after, until)
        return total

    def _count_in(self, window: Window, after: datetime, until: datetime) -> int:
        since = max(window.first, _just_after(after, window))
        total = self.times.count(since, min(window.last, _just_after(until, window)))
        if after < window.opens and self._makes_up(window) and not self.times.count(since, since + SECOND):
            total += 1  # made up at the end of the gap, and not due then anyway
        return total

    def describe(self) -> str:
        return f"{timewords.wall_times(self.times)} ({self.rules.zone.key})"


def _just_after(moment: datetime, window: Window) -> datetime:
    """The first wall time in whole seconds that lies after the moment, at the window's offset."""
    return wall_at(moment, window.offset).replace(microsecond=0) + SECOND
