"""What a calendar does to the fires of a schedule: those that fall where it is closed are skipped, or moved to its end.

skip   they do not exist: the next is the first that the calendar leaves open
move   they happen at the first open instant; several that move to the same one, or meet one there, are one fire
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from jobs.core.calendars import Calendar, Closure
from jobs.core.fixeddelay import FixedDelay
from jobs.core.invalid import CALENDAR_ACTION, InvalidSchedule
from jobs.core.triggers import Trigger, count_between

CalendarAction = Literal["skip", "move"]

# A schedule whose next fires are all skipped, so many closures on end, never fires: four years of a daily one.
MOST_CLOSED = 1500


def in_calendar(trigger: Trigger, calendar: Calendar, action: CalendarAction) -> Trigger:
    """The trigger as the calendar leaves it. Raises InvalidSchedule for an unknown action.

    A fixed delay is moved whatever the action: without its next run there would be no further end to follow.
    """
    if action not in get_args(CalendarAction):
        expected = " or ".join(get_args(CalendarAction))
        raise InvalidSchedule(CALENDAR_ACTION, f"{action!r} is nothing that a calendar does; expected {expected}.")
    if isinstance(trigger, FixedDelay):
        return DelayInCalendar(trigger, calendar)
    return Moved(trigger, calendar) if action == "move" else Skipped(trigger, calendar)


@dataclass(frozen=True)
class Skipped:
    """The fires that the calendar leaves open."""

    trigger: Trigger
    calendar: Calendar

    def next_after(self, moment: datetime) -> datetime | None:
        """Costs by the closure, not by the fire that falls into one."""
        for _ in range(MOST_CLOSED):
            fire = self.trigger.next_after(moment)
            opens = None if fire is None else self.calendar.end_of(fire)
            if opens is None or opens == fire:
                return opens
            moment = opens - datetime.resolution
        return None

    def count_between(self, after: datetime, until: datetime) -> int:
        blocked = blocked_between(self.trigger, self.calendar, after, until)
        return count_between(self.trigger, after, until) - blocked.count

    def describe(self) -> str:
        return f"{self.trigger.describe()}, unless calendar {self.calendar.name!r} is closed"


@dataclass(frozen=True)
class Moved:
    """The fires that the calendar leaves open, and one at the end of each closure that has any. It may lie behind the
    end of the schedule, which is about when fires are due."""

    trigger: Trigger
    calendar: Calendar

    def next_after(self, moment: datetime) -> datetime | None:
        closure = self.calendar.around(moment)
        since = moment if closure is None else closure.begins - datetime.resolution
        fire = self.trigger.next_after(since)
        return None if fire is None else self.calendar.end_of(fire)

    def count_between(self, after: datetime, until: datetime) -> int:
        total = count_between(self.trigger, after, until)
        for closure in self.calendar.closures(after, until):
            total -= count_in(self.trigger, closure, after, until)
            if (
                after < closure.ends <= until
                and count_in(self.trigger, closure)
                and not self.fires_by_itself_at(closure.ends)
            ):
                total += 1
        return total

    def fires_by_itself_at(self, moment: datetime) -> bool:
        """Whether one is due then without being moved."""
        return self.trigger.next_after(moment - datetime.resolution) == moment

    def describe(self) -> str:
        return f"{self.trigger.describe()}, later if calendar {self.calendar.name!r} is closed"


@dataclass(frozen=True)
class DelayInCalendar:
    """A fixed delay whose runs wait for the calendar to open."""

    trigger: FixedDelay
    calendar: Calendar

    def next_after(self, moment: datetime) -> datetime | None:
        first = self._opened(self.trigger.next_after(self.trigger.start - datetime.resolution))
        return first if first is not None and first > moment else None

    def after_end(self, ended_at: datetime) -> datetime | None:
        return self._opened(self.trigger.after_end(ended_at))

    def count_between(self, after: datetime, until: datetime) -> int:
        fire = self.next_after(after)
        return int(fire is not None and fire <= until)

    def describe(self) -> str:
        return f"{self.trigger.describe()}, later if calendar {self.calendar.name!r} is closed"

    def _opened(self, fire: datetime | None) -> datetime | None:
        return None if fire is None else self.calendar.end_of(fire)


@dataclass(frozen=True)
class Blocked:
    """How many fires a calendar took away, and the first closure that did (None: none)."""

    count: int
    first: Closure | None


def blocked_between(trigger: Trigger, calendar: Calendar, after: datetime, until: datetime) -> Blocked:
    """Of the fires in (after, until] of a trigger without its calendar: those that fall where this one is closed.

    Costs by the closure.
    """
    total, first = 0, None
    for closure in calendar.closures(after, until):
        count = count_in(trigger, closure, after, until)
        total += count
        first = first or (closure if count else None)
    return Blocked(total, first)


def count_in(trigger: Trigger, closure: Closure, after: datetime | None = None, until: datetime | None = None) -> int:
    """How many fires fall into the closure, within (after, until] if they are given."""
    since, last = closure.begins - datetime.resolution, closure.ends - datetime.resolution
    return count_between(trigger, max(since, after or since), min(last, until or last))
