"""Stored calendars in words, and when they are closed next: for pages, API and admin alike."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from jobs.core.calendarreading import parse_calendar
from jobs.core.calendars import FOR_EVER, Closure
from jobs.core.invalid import InvalidSchedule
from jobs.models import Calendar

LOOK_AHEAD = timedelta(days=366)


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
