"""The wall times that a schedule names, without any zone: certain times of day on certain days.

Times of a day are numbered 0, 1, 2... in order, so that the next one and how many lie between two are arithmetic
on that number; no list of them is ever built.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

from jobs.core.days import DayRule


@dataclass(frozen=True)
class WallTimes:
    """hours, minutes, seconds: sorted, never empty; every combination is named, on each day of `days`.

    wildcard: named as "every so often", not as "at that time" (the rule for DST asks for it).
    All wall times are naive datetimes.
    """

    hours: tuple[int, ...]
    minutes: tuple[int, ...]
    seconds: tuple[int, ...] = (0,)
    days: DayRule = field(default_factory=DayRule)
    wildcard: bool = False

    def at_or_after(self, wall: datetime) -> datetime | None:
        """The first named wall time that is not earlier; None if the calendar has no more."""
        day, number = wall.date(), self._number(wall)
        if number == self._per_day():
            if day == date.max:
                return None
            day, number = day + timedelta(days=1), 0
        found = self.days.at_or_after(day)
        if found is None:
            return None
        return datetime.combine(found, self._time(number if found == day else 0))

    def count(self, since: datetime, until: datetime) -> int:
        """How many are named in [since, until). Costs by the month, not by the fire."""
        if since >= until:
            return 0
        days = self.days.count(since.date(), until.date())
        return days * self._per_day() + self._earlier_that_day(until) - self._earlier_that_day(since)

    def _earlier_that_day(self, wall: datetime) -> int:
        named = wall.day in self.days.days_of(wall.year, wall.month)
        return self._number(wall) if named else 0

    def _per_day(self) -> int:
        return len(self.hours) * len(self.minutes) * len(self.seconds)

    def _number(self, wall: datetime) -> int:
        """The number of the first time of day that is not earlier than this one's: 0 to _per_day(), inclusive."""
        hour, minute, second = wall.hour, wall.minute, wall.second + (wall.microsecond > 0)
        h, m, s = bisect_left(self.hours, hour), bisect_left(self.minutes, minute), bisect_left(self.seconds, second)
        if h == len(self.hours) or self.hours[h] != hour:
            m = s = 0
        elif m == len(self.minutes) or self.minutes[m] != minute:
            s = 0
        return (h * len(self.minutes) + m) * len(self.seconds) + s

    def _time(self, number: int) -> time:
        number, s = divmod(number, len(self.seconds))
        h, m = divmod(number, len(self.minutes))
        return time(self.hours[h], self.minutes[m], self.seconds[s])
