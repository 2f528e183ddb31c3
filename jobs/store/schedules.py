"""When a stored schedule fires next, and the rules by which saving moves that."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from jobs.core.expressions import parse_trigger
from jobs.core.invalid import InvalidSchedule
from jobs.core.triggers import Trigger
from jobs.models import Job, Schedule
from jobs.store.specs import ScheduleSpec

# Never the whole row: the engine counts fires in the others at the same time.
_EDITED = (
    "type", "expression", "zone", "start_at", "end_at", "anchor_at", "watched_from", "next_at", "fault",
)  # fmt: skip


def trigger_of(schedule: Schedule) -> Trigger:
    """The trigger that the row describes. Raises InvalidSchedule, for instance when its zone left the tz data."""
    return _trigger(
        schedule.type,
        schedule.expression,
        schedule.zone,
        schedule.anchor_at,
        schedule.start_at,
        schedule.end_at,
        str(schedule.pk),
    )


# Reading a cron line takes 0.2 ms, and lists of jobs show hundreds of them again and again.
@lru_cache(maxsize=4096)
def _trigger(
    type_: str, expression: str, zone: str, anchor: datetime, start: datetime | None, end: datetime | None, hash_id: str
) -> Trigger:
    return parse_trigger(type_, expression, zone=zone, anchor=anchor, start=start, end=end, hash_id=hash_id)


def insert(job: Job, spec: ScheduleSpec, now: datetime, *, paused: bool = False) -> None:
    """Store it, watched from now on. A `once` whose moment has come counts as fired: who inserts it, submits it."""
    schedule = Schedule(job=job, anchor_at=spec.start_at or now, watched_from=now)
    _take(schedule, spec)
    if is_due_at_once(spec, now):
        schedule.last_logical_at, schedule.run_count = spec.start_at, 1
    schedule.save(force_insert=True)
    # Only now: H in a cron expression is hashed from the row's id.
    watch(schedule, now, paused=paused)


def is_due_at_once(spec: ScheduleSpec, now: datetime) -> bool:
    return spec.type == Schedule.Type.ONCE and spec.start_at is not None and spec.start_at <= now


def change(schedule: Schedule, spec: ScheduleSpec, now: datetime, *, paused: bool) -> None:
    """Store an edit. An interval keeps its phase: its anchor moves only with the start."""
    if spec.start_at != schedule.start_at:
        schedule.anchor_at = spec.start_at or min(schedule.anchor_at, now)
    _take(schedule, spec)
    watch(schedule, now, paused=paused)


def unschedule(schedule: Schedule, now: datetime) -> None:
    """Let it fire no more. The row stays, with its counts and with the logical date that its fires may never repeat."""
    schedule.type, schedule.expression = Schedule.Type.ONCE, ""
    schedule.start_at = schedule.end_at = None
    schedule.anchor_at = min(schedule.anchor_at, now)
    watch(schedule, now, paused=False)


def watch(schedule: Schedule, now: datetime, *, paused: bool) -> None:
    """Count fires from now on: what was due before, while it was paused or meant something else, is never missed."""
    schedule.watched_from, schedule.fault, schedule.next_at = now, "", None
    try:
        schedule.next_at = None if paused else trigger_of(schedule).next_after(now)
    except InvalidSchedule as refusal:
        schedule.fault = refusal.sentence
    schedule.save(update_fields=_EDITED)


def spec_of(schedule: Schedule | None) -> ScheduleSpec | None:
    """None for a job that has no schedule (any more)."""
    if schedule is None or (schedule.type == Schedule.Type.ONCE and schedule.start_at is None):
        return None
    return ScheduleSpec(schedule.type, schedule.expression, schedule.zone, schedule.start_at, schedule.end_at)


def _take(schedule: Schedule, spec: ScheduleSpec) -> None:
    schedule.type, schedule.expression, schedule.zone = spec.type, spec.expression, spec.zone
    schedule.start_at, schedule.end_at = spec.start_at, spec.end_at
