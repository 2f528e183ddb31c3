"""Calendars in words, and when they are closed next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.db.models import Count

from jobs.actions.definition import zone_to_show
from jobs.calendars import next_closures, words_of
from jobs.core.calendars import Closure
from jobs.core.zones import tzdata_version
from jobs.models import Calendar

MOST_SHOWN = 20
CLOSURES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class CalendarCard:
    """`closures` are the next, in the calendar's zone; `users` is how many schedules go by it."""

    name: str
    words: str
    closures: tuple[Closure, ...]
    users: int


def calendar_section(now: datetime) -> dict[str, Any]:
    """Two queries, however many there are."""
    total = Calendar.objects.count()
    shown = Calendar.objects.annotate(users=Count("schedules")).order_by("name")[:MOST_SHOWN]
    cards = [_card(calendar, calendar.users, now) for calendar in shown]
    return {"calendars": cards, "more_calendars": total - len(cards), "tzdata_version": tzdata_version()}


def _card(calendar: Calendar, users: int, now: datetime) -> CalendarCard:
    zone = zone_to_show(calendar.definition.get("timezone") or "UTC")
    of_it = f" of calendar {calendar.name!r}"  # which stands above them
    closures = tuple(
        Closure(closure.begins.astimezone(zone), closure.ends.astimezone(zone), closure.says.removesuffix(of_it))
        for closure in islice(next_closures(calendar, now), CLOSURES_SHOWN)
    )
    return CalendarCard(calendar.name, words_of(calendar), closures, users)
