"""Writing calendars. Every function is one transaction; the schedules that go by a calendar change with it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from jobs.models import Calendar, Job, Schedule
from jobs.store import schedules
from jobs.store.events import NewEvent, record


class CalendarInUseError(Exception):
    """A calendar that schedules go by; `jobs` are the first of their names, `more` how many others there are."""

    def __init__(self, jobs: list[str], more: int) -> None:
        super().__init__(f"used by {', '.join(jobs)}")
        self.jobs = jobs
        self.more = more


@transaction.atomic
def insert(name: str, definition: Mapping[str, Any], *, actor: str, now: datetime) -> Calendar:
    """Raises IntegrityError when the name is taken."""
    calendar = Calendar.objects.create(name=name, definition=dict(definition))
    record([NewEvent(now, "calendar.created", actor=actor, data={"name": name})])
    return calendar


def lock(calendar_id: int) -> Calendar:
    """As it is now, and until the end of the transaction. Raises Calendar.DoesNotExist."""
    return Calendar.objects.select_for_update().get(pk=calendar_id)


@transaction.atomic
def change(calendar: Calendar, name: str, definition: Mapping[str, Any], *, actor: str, now: datetime) -> list[str]:
    """Store what differs of a locked one, and name it. All schedules that go by it are watched anew: nothing starts.

    Raises IntegrityError when the new name is taken.
    """
    wanted = {"name": name, "definition": dict(definition)}
    changed = [field for field, value in wanted.items() if getattr(calendar, field) != value]
    if not changed:
        return []
    calendar.name, calendar.definition = name, wanted["definition"]
    calendar.save()
    events = [_rewatched(job_id, actor, now) for job_id in _jobs_of(calendar.pk)]
    record([*events, NewEvent(now, "calendar.changed", actor=actor, data={"name": name, "changed": changed})])
    return changed


@transaction.atomic
def delete(calendar_id: int, *, actor: str, now: datetime) -> str:
    """Returns its name. Raises Calendar.DoesNotExist, CalendarInUseError."""
    calendar = lock(calendar_id)
    users = Schedule.objects.filter(calendar=calendar)
    names = list(users.order_by("job__name").values_list("job__name", flat=True)[:5])
    if names:
        raise CalendarInUseError(names, users.count() - len(names))
    calendar.delete()
    record([NewEvent(now, "calendar.deleted", actor=actor, data={"name": calendar.name})])
    return calendar.name


def _jobs_of(calendar_id: int) -> list[int]:
    """In the order in which all lock them."""
    users = Schedule.objects.filter(calendar_id=calendar_id)
    return list(users.order_by("job_id").values_list("job_id", flat=True))


def _rewatched(job_id: int, actor: str, now: datetime) -> NewEvent:
    """Its revision rises, so that an engine which has not heard of it yet cannot fire by the old calendar."""
    job = Job.objects.select_for_update(no_key=True).get(pk=job_id)
    schedule = Schedule.objects.select_for_update().get(job_id=job_id)
    schedules.watch(schedule, now, paused=job.paused)
    Job.objects.filter(pk=job_id).update(revision=F("revision") + 1, updated_at=now)
    return NewEvent(now, "job.changed", job_id, actor=actor, data={"changed": ["calendar"]})
