"""When a stored schedule fires next, and the rules by which saving moves that."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.db.models import Q

from jobs.core.calendared import in_calendar
from jobs.core.calendarreading import parse_calendar
from jobs.core.catchup import CatchUp
from jobs.core.expressions import parse_interval, parse_trigger
from jobs.core.invalid import InvalidSchedule
from jobs.core.policies import FirePolicy, Overlap
from jobs.core.states import UNFINISHED, Status
from jobs.core.triggers import FixedRate, Following, Trigger, first_after
from jobs.models import Calendar, Instance, Job, Schedule
from jobs.store.specs import ScheduleSpec

# A clock that is set back by up to this is waited for, so that nothing runs twice.
FOLLOWED_BACK = timedelta(hours=3)

# Never the whole row: the engine counts fires in the others at the same time.
_EDITED = (
    "type", "expression", "zone", "start_at", "end_at", "anchor_at", "watched_from", "next_at", "fault",
    "gap", "fold", "calendar", "calendar_action", "catch_up", "catch_up_limit", "misfire_grace_seconds", "overlap",
    "queue_bound", "jitter_seconds", "first_at_once",
)  # fmt: skip

# Of a spec, what is stored under the same name.
_TAKEN = (
    "type", "expression", "zone", "start_at", "end_at", "gap", "fold", "calendar_id", "calendar_action", "catch_up",
    "catch_up_limit", "misfire_grace_seconds", "overlap", "queue_bound", "jitter_seconds", "first_at_once",
)  # fmt: skip


def trigger_of(schedule: Schedule) -> Trigger:
    """The trigger that the row describes. Raises InvalidSchedule, for instance when its zone left the tz data."""
    calendar = schedule.calendar
    return _trigger(
        schedule.type,
        schedule.expression,
        schedule.zone,
        schedule.anchor_at,
        None if _goes_on_before_start(schedule) else schedule.start_at,
        schedule.end_at,
        str(schedule.pk),
        schedule.gap,
        schedule.fold,
        schedule.watched_from if schedule.first_at_once else None,
        None if calendar is None else (calendar.name, json.dumps(calendar.definition, sort_keys=True)),
        schedule.calendar_action,
    )


def policy_of(schedule: Schedule | ScheduleSpec) -> FirePolicy:
    """How it says that its fires become instances."""
    return FirePolicy(
        CatchUp(schedule.catch_up),
        schedule.catch_up_limit,
        schedule.misfire_grace_seconds,
        Overlap(schedule.overlap),
        schedule.queue_bound,
        schedule.jitter_seconds,
    )


# Reading a cron line takes 0.2 ms, and lists of jobs show hundreds of them again and again.
@lru_cache(maxsize=4096)
def _trigger(
    type_: str,
    expression: str,
    zone: str,
    anchor: datetime,
    start: datetime | None,
    end: datetime | None,
    hash_id: str,
    gap: Any,
    fold: Any,
    at_once: datetime | None,
    calendar: tuple[str, str] | None,
    calendar_action: Any,
) -> Trigger:
    trigger = parse_trigger(
        type_, expression, zone=zone, anchor=anchor, start=start, end=end, hash_id=hash_id, gap=gap, fold=fold,
        at_once=at_once,
    )  # fmt: skip
    if calendar is None:
        return trigger
    name, definition = calendar
    return in_calendar(trigger, parse_calendar(name, json.loads(definition)), calendar_action)


def insert(
    job: Job,
    spec: ScheduleSpec,
    now: datetime,
    *,
    paused: bool = False,
    anchor: datetime | None = None,
    first: datetime | None = None,
) -> None:
    """Store it, watched from now on. `first`: a fire that has been made already, by who inserts it.

    `anchor`: what an interval is counted from, if not from its start or from now.
    """
    schedule = Schedule(job=job, anchor_at=anchor or spec.start_at or now, watched_from=now)
    _take(schedule, spec)
    if first is not None:
        schedule.last_logical_at, schedule.run_count = first, 1
    schedule.save(force_insert=True)
    # Only now: H in a cron expression is hashed from the row's id.
    watch(schedule, now, paused=paused)
    if first is not None and spec.type == Schedule.Type.FIXED_DELAY:
        Schedule.objects.filter(pk=schedule.pk).update(next_at=None)  # its end tells


def due_at_once(spec: ScheduleSpec, now: datetime) -> datetime | None:
    """The fire with which a schedule begins in the moment in which it is made: a `once` whose moment has come, and the
    first of what is wished to begin at once; unless its calendar is closed then."""
    calendar = Calendar.objects.filter(pk=spec.calendar_id).first() if spec.calendar_id is not None else None
    if spec.type == Schedule.Type.ONCE and spec.start_at is not None and spec.start_at <= now:
        at = spec.start_at
    elif spec.first_at_once and (spec.start_at is None or spec.start_at <= now):
        at = now
    else:
        return None
    if spec.end_at is not None and spec.end_at < at:
        return None
    return None if calendar is not None and parse_calendar(calendar.name, calendar.definition).blocks(at) else at


def change(
    schedule: Schedule, spec: ScheduleSpec, now: datetime, *, paused: bool, anchor: datetime | None = None
) -> None:
    """Store an edit. An interval keeps its phase: its anchor moves only with the start, or to `anchor`."""
    if anchor is not None:
        schedule.anchor_at = anchor
    elif spec.start_at != schedule.start_at:
        schedule.anchor_at = spec.start_at or min(schedule.anchor_at, now)
    _take(schedule, spec)
    watch(schedule, now, paused=paused)


def unschedule(schedule: Schedule, now: datetime) -> None:
    """Let it fire no more. The row stays, with its counts and with the logical date that its fires may never repeat."""
    _take(schedule, ScheduleSpec(Schedule.Type.ONCE, "", schedule.zone))
    schedule.anchor_at = min(schedule.anchor_at, now)
    watch(schedule, now, paused=False)


def watch(schedule: Schedule, now: datetime, *, paused: bool) -> None:
    """Count fires from now on: what was due before, while it was paused or meant something else, is never missed."""
    given_up = ("last_logical_at", "former_mark_at") if _give_up_mark(schedule, now) else ()
    schedule.watched_from, schedule.fault, schedule.next_at = now, "", None
    try:
        if given_up:
            schedule.anchor_at = _anchor_before(schedule, now)
        schedule.next_at = None if paused else _next_after(schedule, max(now, schedule.last_logical_at or now))
    except InvalidSchedule as refusal:
        schedule.fault = refusal.sentence
    schedule.save(update_fields=(*_EDITED, *given_up))


def _give_up_mark(schedule: Schedule, now: datetime) -> bool:
    """Whether the clock was set back so far behind what the schedule has decided that it begins anew."""
    mark = max(schedule.watched_from, schedule.last_logical_at or schedule.watched_from)
    if mark - now <= FOLLOWED_BACK:
        return False
    schedule.former_mark_at = max(mark, schedule.former_mark_at or mark)
    schedule.last_logical_at = None
    return True


def _anchor_before(schedule: Schedule, now: datetime) -> datetime:
    """In the same phase; of a short interval beside it, for dates that have run already do not run again."""
    if schedule.type != Schedule.Type.INTERVAL:
        return min(schedule.anchor_at, now)
    every = parse_interval(schedule.expression)
    anchor = FixedRate(schedule.anchor_at, every).reaching_back_to(now).anchor
    return anchor + datetime.resolution if every < FOLLOWED_BACK else anchor


def _goes_on_before_start(schedule: Schedule) -> bool:
    """What had begun does not wait for its start once more because the clock was set back behind that."""
    mark, start = schedule.former_mark_at, schedule.start_at
    return schedule.type != Schedule.Type.ONCE and mark is not None and start is not None and mark >= start


def _next_after(schedule: Schedule, now: datetime) -> datetime | None:
    """Where the end of a run decides, one that is under way will tell."""
    trigger = trigger_of(schedule)
    return None if isinstance(trigger, Following) and is_under_way(schedule.job_id) else first_after(trigger, now)


def is_under_way(job_id: int) -> bool:
    """Whether an instance of the job has not ended: not one that was submitted for later, but one that a fire made."""
    made = Q(status=Status.PENDING, schedule__isnull=False)
    return Instance.objects.filter(Q(status__in=UNFINISHED) | made, job=job_id).exists()


def first_from(schedule: Schedule, now: datetime) -> datetime | None:
    """The first fire of a schedule that is watched from now on, None if there is none or it cannot be read."""
    try:
        return first_after(trigger_of(schedule), now)
    except InvalidSchedule:
        return None


def spec_of(schedule: Schedule | None) -> ScheduleSpec | None:
    """None for a job that has no schedule (any more)."""
    if schedule is None or (schedule.type == Schedule.Type.ONCE and schedule.start_at is None):
        return None
    name = schedule.calendar.name if schedule.calendar else ""
    return ScheduleSpec(**{name: getattr(schedule, name) for name in _TAKEN}, calendar_name=name)


def _take(schedule: Schedule, spec: ScheduleSpec) -> None:
    for name in _TAKEN:
        setattr(schedule, name, getattr(spec, name))
