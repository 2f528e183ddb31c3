"""Which days of a month a schedule names.

A month is told by its length and the weekday of its first day: 28 kinds of months in all, so the answer is
computed once for each kind. Weekdays are numbered as cron has them: 0 is Sunday, 6 is Saturday.
"""

from __future__ import annotations

from bisect import bisect_left
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, date
from functools import cached_property, lru_cache

SUNDAY, SATURDAY = 0, 6
ALL_DATES = frozenset(range(1, 32))
ALL_WEEKDAYS = frozenset(range(7))
ALL_MONTHS = tuple(range(1, 13))
LAST = -1  # in `nth`: the last such weekday of the month

# The rarest day in the calendar is a 29 February on a given weekday: up to 40 years apart, around 2100.
YEARS_APART = 41


@dataclass(frozen=True)
class DayRule:
    """Days by date and days by weekday, and whether a day must be named by both or by either.

    dates        days of the month, 1 to 31
    before_last  0 is the last day of the month, n the day n days before it
    nearest      the day from Monday to Friday nearest to this date, within the month; a month without the date has none
    last_workday the last day from Monday to Friday
    weekdays     0 (Sunday) to 6
    nth          (weekday, n): the nth such weekday of the month, or the LAST
    """

    months: tuple[int, ...] = ALL_MONTHS
    dates: frozenset[int] = ALL_DATES
    before_last: frozenset[int] = frozenset()
    nearest: frozenset[int] = frozenset()
    last_workday: bool = False
    weekdays: frozenset[int] = ALL_WEEKDAYS
    nth: frozenset[tuple[int, int]] = frozenset()
    both: bool = True

    @cached_property
    def _by_kind(self) -> dict[tuple[int, int], tuple[int, ...]]:
        """What was found of `_days_of`, which is one for all equal rules: to look there, the rule has to be hashed."""
        return {}

    def days_of(self, year: int, month: int) -> tuple[int, ...]:
        """The days of this month that are named, in order."""
        if month not in self.months:
            return ()
        kind = _kind(year, month)
        days = self._by_kind.get(kind)
        if days is None:
            days = self._by_kind[kind] = _days_of(self, *kind)
        return days

    def at_or_after(self, day: date) -> date | None:
        """The first named day that is not earlier; None if there is none in the calendar."""
        days = self.days_of(day.year, day.month)  # where it nearly always is
        if days and days[-1] >= day.day:
            return date(day.year, day.month, days[bisect_left(days, day.day)])
        for year in range(day.year, min(day.year + YEARS_APART, MAXYEAR) + 1):
            for month in self.months:
                days = self.days_of(year, month) if (year, month) > (day.year, day.month) else ()
                if days:
                    return date(year, month, days[0])
        return None

    def count(self, since: date, until: date) -> int:
        """How many days in [since, until) are named."""
        if since >= until:
            return 0
        total = bisect_left(self.days_of(until.year, until.month), until.day)
        total -= bisect_left(self.days_of(since.year, since.month), since.day)
        for year, month in _months(since, until):
            total += len(self.days_of(year, month))
        return total

    def least_apart(self) -> int:
        """The fewest days from one named day to the next, within the 28 years after which weekdays recur."""
        least, previous = 28 * 365, date.min
        for year, month in _months(date(2000, 1, 1), date(2028, 1, 1)):
            for number in self.days_of(year, month):
                day = date(year, month, number)
                least, previous = min(least, (day - previous).days), day
            if least == 1:
                break
        return least

    def ever(self) -> bool:
        """Whether there is any such day in any year. In 400 years every month begins on every weekday."""
        lengths = {month: [31] for month in ALL_MONTHS} | {4: [30], 6: [30], 9: [30], 11: [30], 2: [29, 28]}
        return any(
            _days_of(self, first, length) for month in self.months for length in lengths[month] for first in range(7)
        )


def _months(since: date, until: date) -> Iterator[tuple[int, int]]:
    """The months from that of `since` up to, not including, that of `until`."""
    for number in range(since.year * 12 + since.month - 1, until.year * 12 + until.month - 1):
        yield number // 12, number % 12 + 1


@lru_cache(maxsize=1024)
def _kind(year: int, month: int) -> tuple[int, int]:
    """The weekday of its first day and its length."""
    monday_based, length = monthrange(year, month)
    return (monday_based + 1) % 7, length


@lru_cache(maxsize=16384)
def _days_of(rule: DayRule, first: int, length: int) -> tuple[int, ...]:
    by_date, by_weekday = _by_date(rule, first, length), _by_weekday(rule, first, length)
    return tuple(sorted(by_date & by_weekday if rule.both else by_date | by_weekday))


def _by_date(rule: DayRule, first: int, length: int) -> set[int]:
    days = {day for day in rule.dates if day <= length}
    days |= {length - back for back in rule.before_last if back < length}
    days |= {_workday_near(day, first, length) for day in rule.nearest if day <= length}
    if rule.last_workday:
        days.add(_workday_near(length, first, length))
    return days


def _workday_near(day: int, first: int, length: int) -> int:
    weekday = (first + day - 1) % 7
    if weekday == SATURDAY:
        return day - 1 if day > 1 else day + 2
    if weekday == SUNDAY:
        return day + 1 if day < length else day - 2
    return day


def _by_weekday(rule: DayRule, first: int, length: int) -> set[int]:
    days = {day for day in range(1, length + 1) if (first + day - 1) % 7 in rule.weekdays}
    for weekday, n in rule.nth:
        such = range(1 + (weekday - first) % 7, length + 1, 7)
        if n == LAST:
            days.add(such[-1])
        elif n <= len(such):
            days.add(such[n - 1])
    return days
