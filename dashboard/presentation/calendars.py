"""Calendars in words, when they are closed next, and what that does to the schedules that go by them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.db.models import Count

from jobs.actions.definition import zone_to_show
from jobs.calendars import affected, next_closures, words_of
from jobs.core.calendars import Closure
from jobs.core.invalid import InvalidSchedule
from jobs.core.zones import tzdata_version
from jobs.models import Calendar, Schedule

MOST_SHOWN = 20
MOST_LISTED = 500
CLOSURES_SHOWN = 3
USERS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class CalendarCard:
    """`closures` are the next, in the calendar's zone; `users` is how many schedules go by it."""

    calendar_id: int
    name: str
    words: str
    closures: tuple[Closure, ...]
    users: int


@dataclass(frozen=True, slots=True)
class CalendarUser:
    """A schedule that goes by a calendar: `fires` has the next that it takes, each with what becomes of it."""

    job_id: int
    job_name: str
    fires: tuple[tuple[datetime, str], ...]
    fault: str = ""


def calendar_section(now: datetime, most: int = MOST_SHOWN) -> dict[str, Any]:
    """Two queries, however many there are."""
    total = Calendar.objects.count()
    shown = Calendar.objects.annotate(users=Count("schedules")).order_by("name")[:most]
    cards = [_card(calendar, calendar.users, now) for calendar in shown]
    return {"calendars": cards, "more_calendars": total - len(cards), "tzdata_version": tzdata_version()}


def calendar_users(calendar: Calendar, now: datetime) -> dict[str, Any]:
    """Who goes by it, and what it, as it is here and not as it is stored, does to them next."""
    found = Schedule.objects.filter(calendar=calendar.pk).select_related("job").order_by("job__name")
    users = [_user(schedule, calendar, now) for schedule in found[:USERS_SHOWN]]
    return {"users": users, "more_users": found.count() - len(users)}


def _card(calendar: Calendar, users: int, now: datetime) -> CalendarCard:
    zone = zone_to_show(calendar.definition.get("timezone") or "UTC")
    of_it = f" of calendar {calendar.name!r}"  # which stands above them
    closures = tuple(
        Closure(closure.begins.astimezone(zone), closure.ends.astimezone(zone), closure.says.removesuffix(of_it))
        for closure in islice(next_closures(calendar, now), CLOSURES_SHOWN)
    )
    return CalendarCard(calendar.pk, calendar.name, words_of(calendar), closures, users)


def _user(schedule: Schedule, calendar: Calendar, now: datetime) -> CalendarUser:
    schedule.calendar = calendar
    zone = zone_to_show(schedule.zone)
    fires: list[tuple[datetime, str]] = []
    try:
        for one in islice(affected(schedule, now), CLOSURES_SHOWN):
            others = f" and {one.count - 1:,} more" if one.count > 1 else ""
            moved = f", moved to {one.moved_to.astimezone(zone):%a %d %b %Y, %H:%M}" if one.moved_to else ""
            fires.append((one.at.astimezone(zone), f"{others}{moved or ', skipped'}: {one.says}"))
    except InvalidSchedule as refusal:
        return CalendarUser(schedule.job_id, schedule.job.name, (), refusal.sentence)
    return CalendarUser(schedule.job_id, schedule.job.name, tuple(fires))
