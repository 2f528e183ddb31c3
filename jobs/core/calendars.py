"""Named calendars: when nothing may fire, however it is scheduled.

A calendar is closed in its blackouts (ranges of dates, windows of the week), on days that are no business days, and on
holidays; all by the clocks of its own zone. What it does to a schedule's fires is in `calendared`.

A window of the week whose edge falls into a fold is closed from the first pass of its beginning to the second pass of
its end; an edge that falls into a gap lies at the end of the gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from jobs.core import timewords
from jobs.core.moments import earliest, end_of, latest, start_of
from jobs.core.zones import zone_named

DAY = timedelta(days=1)
FOR_EVER = datetime.max.replace(tzinfo=UTC)
FIRST_DAY, LAST_DAY = date(2, 1, 1), date(9997, 12, 31)

# What is closed for so many days or windows in a row, one ending where the next begins, is closed for ever.
MOST_IN_A_ROW = 2500


class Closure(NamedTuple):
    """A stretch in which a calendar is closed: [begins, ends), UTC. `says` why: "closed time 'freeze' of ..."."""

    begins: datetime
    ends: datetime
    says: str


@dataclass(frozen=True)
class DateRange:
    """[begins, ends), UTC."""

    begins: datetime
    ends: datetime
    name: str = ""


@dataclass(frozen=True)
class WeeklyWindow:
    """From `begins` on each of these days (0 is Sunday) to `ends`; if that is not later, to `ends` of the next day."""

    weekdays: frozenset[int]
    begins: time
    ends: time
    name: str = ""


@dataclass(frozen=True)
class _Week:
    """The part of a calendar that comes again each week."""

    calendar: str
    zone: str
    windows: tuple[WeeklyWindow, ...]
    business_days: frozenset[int]


@dataclass(frozen=True)
class Calendar:
    """Every day is a business day if none is named. Moments asked for are aware."""

    name: str
    zone: str
    ranges: tuple[DateRange, ...] = ()
    weekly: tuple[WeeklyWindow, ...] = ()
    business_days: frozenset[int] = frozenset()
    holidays: frozenset[date] = frozenset()

    def blocks(self, moment: datetime) -> Closure | None:
        """What it is closed for at that moment; of several, that which ends last. None: it is open."""
        return max(self._holding(moment), key=lambda closure: closure.ends, default=None)

    def end_of(self, moment: datetime) -> datetime | None:
        """The first instant, not before the moment, at which it is open; None if it never is again."""
        for _ in range(MOST_IN_A_ROW):
            closure = self.blocks(moment)
            if closure is None:
                return moment.astimezone(UTC)
            moment = closure.ends
        return None

    def around(self, moment: datetime) -> Closure | None:
        """The whole stretch around the moment in which it is closed, over all that follow on one another."""
        first = self.blocks(moment)
        if first is None:
            return None
        before: Closure | None = first
        for _ in range(MOST_IN_A_ROW):
            before = min(self._holding(first.begins - datetime.resolution), default=None)
            if before is None:
                break
            first = before
        return Closure(first.begins, self.end_of(moment) or FOR_EVER, first.says)

    def closures(self, since: datetime, until: datetime) -> Iterator[Closure]:
        """The stretches that touch [since, until], whole, in order. Costs by the window."""
        moment = since
        while moment <= until:
            closure = self.around(moment)
            if closure is None:
                begins = self._next_beginning(moment, until)
                closure = self.around(begins) if begins is not None and begins <= until else None
            if closure is None:
                return
            yield closure
            moment = closure.ends

    def describe(self) -> str:
        """Such as "closed on days other than Monday to Friday, on 9 holidays, from ... to ... (Europe/Berlin)"."""
        said = [f"on days other than {timewords.weekdays(self.business_days)}"] if self.business_days else []
        if self.holidays:
            said.append(f"on {len(self.holidays)} holiday{'s' if len(self.holidays) > 1 else ''}")
        said += [_weekly_said(window) for window in self.weekly]
        said += [_range_said(found, zone_named(self.zone)) for found in self.ranges]
        return f"closed {timewords.joined(said)} ({self.zone})" if said else f"never closed ({self.zone})"

    def _holding(self, moment: datetime) -> Iterator[Closure]:
        for found in self.ranges:
            if found.begins <= moment < found.ends:
                yield self._of_range(found)
        day = self._day(moment)
        if not FIRST_DAY < day < LAST_DAY:
            return
        for shift in (-2, -1, 0, 1):  # it may last over midnight; where clocks go back over it, days overlap
            for closure in self._on(day + shift * DAY):
                if closure.begins <= moment < closure.ends:
                    yield closure

    def _day(self, moment: datetime) -> date:
        """The day of the zone; at the ends of what a datetime can hold, the last day that is looked at."""
        if not FIRST_DAY.year <= moment.year <= LAST_DAY.year:
            return FIRST_DAY if moment.year < FIRST_DAY.year else LAST_DAY
        return moment.astimezone(zone_named(self.zone)).date()

    def _on(self, day: date) -> tuple[Closure, ...]:
        """What begins on that day of the zone."""
        found = _of_week(_Week(self.name, self.zone, self.weekly, self.business_days), day)
        if day not in self.holidays:
            return found
        holiday = _whole_day(day, zone_named(self.zone), f"{day}, a holiday of calendar {self.name!r}")
        return (holiday, *found) if holiday.begins < holiday.ends else found

    def _next_beginning(self, moment: datetime, until: datetime) -> datetime | None:
        """The first beginning later than the moment; a later one than `until`, or None, if there is none up to it."""
        later = [found.begins for found in self.ranges if found.begins > moment]
        for day in self._days(self._day(moment) - DAY, self._day(until) + DAY):
            begins = [closure.begins for closure in self._on(day) if closure.begins > moment]
            if begins:
                return min(begins + later)
        return min(later, default=None)

    def _days(self, first: date, last: date) -> Iterator[date]:
        """The days in [first, last] on which something may begin."""
        first, last = max(first, FIRST_DAY), min(last, LAST_DAY)
        if not (self.weekly or self.business_days):
            yield from sorted(day for day in self.holidays if first <= day <= last)
            return
        while first <= last:
            yield first
            first += DAY

    def _of_range(self, found: DateRange) -> Closure:
        return Closure(found.begins, found.ends, _said(found.name, self.name))


@lru_cache(maxsize=4096)
def _of_week(week: _Week, day: date) -> tuple[Closure, ...]:
    zone, weekday = zone_named(week.zone), day.isoweekday() % 7
    found = []
    if week.business_days and weekday not in week.business_days:
        says = f"{timewords.weekdays([weekday])}, no business day of calendar {week.calendar!r}"
        found.append(_whole_day(day, zone, says))
    for window in week.windows:
        if weekday in window.weekdays:
            last = day if window.ends > window.begins else day + DAY
            begins = earliest(zone, datetime.combine(day, window.begins))
            ends = latest(zone, datetime.combine(last, window.ends))
            found.append(Closure(begins, ends, _said(window.name, week.calendar)))
    return tuple(closure for closure in found if closure.begins < closure.ends)


def _whole_day(day: date, zone: ZoneInfo, says: str) -> Closure:
    return Closure(start_of(day, zone), end_of(day, zone) + datetime.resolution, says)


def _said(name: str, calendar: str) -> str:
    return f"closed time {name!r} of calendar {calendar!r}" if name else f"a closed time of calendar {calendar!r}"


def _weekly_said(window: WeeklyWindow) -> str:
    ends = "24:00" if window.ends == time() else f"{window.ends:%H:%M}"
    return f"on {timewords.weekdays(window.weekdays)} from {window.begins:%H:%M} to {ends}"


def _range_said(found: DateRange, zone: ZoneInfo) -> str:
    begins, ends = (moment.astimezone(zone).replace(tzinfo=None) for moment in (found.begins, found.ends))
    said = (moment.isoformat(" ", "minutes") for moment in (begins, ends))
    return "from {} to {}".format(*said)
