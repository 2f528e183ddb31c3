"""Stored calendars in words, and when they are closed next: for pages, API and admin alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.core.calendared import Moved, Skipped, count_in
from jobs.core.calendarreading import parse_calendar
from jobs.core.calendars import FOR_EVER, Closure
from jobs.core.invalid import InvalidSchedule
from jobs.core.triggers import AtOnce
from jobs.models import Calendar, Schedule
from jobs.store.schedules import trigger_of

LOOK_AHEAD = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class Affected:
    """`count` fires of a schedule that a closure takes, the first of them at `at`; they happen at `moved_to`, or not.

    Moments are UTC. `says`: the closure in words.
    """

    at: datetime
    count: int
    says: str
    moved_to: datetime | None


def words_of(calendar: Calendar) -> str:
    """Such as "closed on days other than Monday to Friday"; of one that cannot be read, why not."""
    try:
        return parse_calendar(calendar.name, calendar.definition).describe()
    except InvalidSchedule as refusal:
        return refusal.sentence


def next_closures(calendar: Calendar, now: datetime) -> Iterator[Closure]:
    """Those that have not ended, the first of them first, of a year ahead; none of what cannot be read."""
    try:
        read = parse_calendar(calendar.name, calendar.definition)
    except InvalidSchedule:
        return
    for closure in read.closures(now, now + LOOK_AHEAD):
        if closure.ends < FOR_EVER:
            yield closure


def affected(schedule: Schedule, now: datetime) -> Iterator[Affected]:
    """What its calendar will do to its fires within a year, by the trigger that fires. Nothing that can be told of a
    fixed delay: its fires follow from ends. Raises InvalidSchedule for a schedule or calendar that cannot be read."""
    trigger = trigger_of(schedule)
    if isinstance(trigger, AtOnce):
        trigger = trigger.trigger
    if not isinstance(trigger, Skipped | Moved):
        return
    until = now + LOOK_AHEAD
    for closure in trigger.calendar.closures(now, until):
        count = count_in(trigger.trigger, closure, now, until)
        first = trigger.trigger.next_after(max(now, closure.begins - datetime.resolution)) if count else None
        if first is not None:
            yield Affected(first, count, closure.says, closure.ends if isinstance(trigger, Moved) else None)
