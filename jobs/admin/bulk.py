"""A bulk edit, job by job: what would change, and changing it by the single actions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from jobs import actions
from jobs.actions import InvalidInput
from jobs.actions.capacity import Capacity, largest_capacity
from jobs.actions.definition import edited, raw_of, spec_of, zone_to_show
from jobs.actions.options import stored_calendar
from jobs.actions.submission import read_job
from jobs.actions.timing import Timing
from jobs.admin.bulk_form import BulkEdit
from jobs.core.invalid import InvalidSchedule
from jobs.core.states import WAITING
from jobs.core.triggers import first_after
from jobs.labels import CHOICES
from jobs.models import Instance, Job, Schedule
from jobs.store import definitions, read, workflows
from jobs.store.locks import once_more
from jobs.store.specs import JobSpec, ScheduleSpec

WORDS = {
    "priority": "priority",
    "timeout_seconds": "time limit",
    "cpu_cores_required": "cores",
    "memory_mb_required": "memory",
    "max_running": "at most at once",
    "start_deadline_seconds": "skip if not started after",
    "pause_after_failures": "pause after failures",
    "tenant": "tenant",
    "tags": "tags",
    "timezone": "time zone",
    "gap": "in a skipped hour",
    "fold": "in a repeated hour",
    "calendar": "calendar",
    "calendar_action": "when it is closed",
    "catch_up": "after downtime",
    "catch_up_limit": "latest how many",
    "misfire_grace_seconds": "missed after",
    "overlap": "while one runs",
    "queue_bound": "at most wait",
    "jitter_seconds": "spread over",
}
UNITS = {
    "timeout_seconds": " s", "start_deadline_seconds": " s", "misfire_grace_seconds": " s", "jitter_seconds": " s",
    "memory_mb_required": " MB",
}  # fmt: skip
NONE = "none"


class Change(NamedTuple):
    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Row:
    """What a bulk action does to one object. `notes` say what it does not do to it, and why."""

    pk: int
    label: str
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    revision: int = 0

    @property
    def key(self) -> str:
        return f"{self.pk}:{self.revision}"


@dataclass(frozen=True, slots=True)
class Done:
    """What was done to one job."""

    paused: bool = False
    resumed: bool = False
    changed: bool = False
    submitted: bool = False
    cleared: bool = False


def plan(edit: BulkEdit, jobs: Iterable[Job], *, now: datetime) -> Iterator[Row]:
    """What `apply` would do to each. `jobs` come with their schedules."""
    capacity = largest_capacity()
    for job in jobs:
        yield plan_one(edit, job, capacity=capacity, now=now)


def plan_one(edit: BulkEdit, job: Job, *, capacity: Capacity, now: datetime) -> Row:
    if job.being_deleted:
        return Row(
            job.pk, job.name, (), ("It is being deleted, and goes when its processes have ended.",), job.revision
        )
    schedule: Schedule | None = getattr(job, "schedule", None)
    before = spec_of(job, schedule)
    try:
        wanted = edited(before, edit.patch(before.tags))
        after = read_job(wanted, capacity=capacity, now=now, before=before)
    except InvalidInput as refusal:
        return Row(job.pk, job.name, (), (f"Cannot be changed: {refusal.sentence}",), job.revision)
    changes, notes = _state(edit, job)
    changes += _differences(before, after)
    if "timezone" in edit.fields and after.schedule is None:
        notes.append("It has no schedule, so there is no time zone to change.")
    changes += _next_run(edit, job, schedule, before, after, now)
    if edit.cancel_waiting and (waiting := Instance.objects.filter(job=job, status__in=WAITING).count()):
        changes.append(Change("what waits", f"{waiting:,}", "cancelled"))
    if edit.run_now:
        waits = edit.state == "pause" or (job.paused and edit.state != "resume")
        changes.append(Change("run now", "", "one instance, which waits while the job is paused" if waits else "one"))
    return Row(job.pk, job.name, tuple(changes), tuple(notes), job.revision)


def apply(edit: BulkEdit, job_id: int, *, revision: int | None, actor: str, now: datetime) -> Done:
    """All of it for one job, or none of it. Raises ActionError, also when another changed it since the preview.

    What waits is cancelled after that, in portions: a long queue must not keep the engine waiting.
    """
    done = _apply_whole(edit, job_id, revision, actor, now)
    cleared = edit.cancel_waiting and bool(actions.cancel_waiting(job_id, actor=actor, now=now).cancelled)
    return replace(done, cleared=cleared)


@once_more
@transaction.atomic
def _apply_whole(edit: BulkEdit, job_id: int, revision: int | None, actor: str, now: datetime) -> Done:
    """Paused before and resumed after it is changed, so that no fire comes in between."""
    paused = resumed = changed = submitted = False
    # Before the first event, which locks the feed: what a run by hand takes along is locked by it, too.
    workflows.lock()
    definitions.lock_all(read.workflows().component(job_id))
    if edit.state == "pause":
        paused = bool(actions.pause_job(job_id, actor=actor, now=now).changed)
    tags = Job.objects.filter(pk=job_id).values_list("tags", flat=True).first() or []
    if patch := edit.patch(tags):
        changed = bool(actions.change_job(job_id, patch, actor=actor, now=now, revision=revision).changed)
    if edit.state == "resume":
        resumed = bool(actions.resume_job(job_id, actor=actor, now=now).changed)
    if edit.run_now:
        submitted = actions.run_job(job_id, actor=actor, now=now).is_new
    return Done(paused, resumed, changed, submitted)


def _state(edit: BulkEdit, job: Job) -> tuple[list[Change], list[str]]:
    if not edit.state:
        return [], []
    wanted = edit.state == "pause"
    if wanted == job.paused:
        return [], ["It is paused already." if wanted else "It is not paused."]
    words = ("active", "paused") if wanted else ("paused", "active")
    return [Change("state", *words)], []


def _differences(before: JobSpec, after: JobSpec) -> list[Change]:
    old, new = raw_of(before), raw_of(after)
    return [
        Change(word, _shown(field, old[field]), _shown(field, new[field]))
        for field, word in WORDS.items()
        if old[field] != new[field]
    ]


def _shown(field: str, value: Any) -> str:
    if value is None or value in ([], ""):
        return NONE
    if field == "priority":
        return str(Job.Priority(value).label)
    if field in CHOICES:
        return CHOICES[field][value]
    if isinstance(value, list):
        return ", ".join(value)
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text + UNITS.get(field, "")


def _next_run(
    edit: BulkEdit, job: Job, schedule: Schedule | None, before: JobSpec, after: JobSpec, now: datetime
) -> list[Change]:
    """Only where it moves. A fire is computed from now on: what was due while paused is not made up for."""
    if schedule is None or after.schedule is None:
        return []
    paused = edit.state == "pause" or (job.paused and edit.state != "resume")
    fires_on = schedule.next_at
    if paused:
        fires_on = None
    elif job.paused or before.schedule != after.schedule:
        fires_on = _next_after(schedule, after.schedule, now)
    if fires_on == schedule.next_at:  # in another zone it is the same moment
        return []
    return [Change("next run", _moment(schedule.next_at, schedule.zone), _moment(fires_on, after.schedule.zone))]


def _next_after(schedule: Schedule, spec: ScheduleSpec, now: datetime) -> datetime | None:
    try:
        trigger = Timing(spec, stored_calendar(spec.calendar_id)).trigger(
            anchor=schedule.anchor_at, hash_id=str(schedule.pk)
        )
    except InvalidSchedule:
        return None  # the zone left the tz data; the schedule's fault says so on the job's page
    return first_after(trigger, now)


def _moment(moment: datetime | None, zone: str) -> str:
    return f"{moment.astimezone(zone_to_show(zone)):%a %Y-%m-%d %H:%M:%S %Z}" if moment else NONE
