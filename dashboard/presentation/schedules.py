"""Schedules in words, and what they will do next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from dashboard.presentation.rows import Regions, Row
from jobs.core.invalid import InvalidSchedule
from jobs.core.triggers import Trigger, fires
from jobs.models import Instance, Schedule
from jobs.store.schedules import trigger_of

MOST_SHOWN = 8
FIRES_SHOWN = 10


@dataclass(frozen=True, slots=True)
class FireRow:
    job_id: int
    job_name: str
    at: datetime
    words: str


@dataclass(frozen=True, slots=True)
class ScheduleCard:
    """`fires` are in the order in which they come; empty when there is none, or `fault` says what is wrong."""

    words: str
    fires: tuple[datetime, ...]
    fault: str
    paused: bool
    run_count: int
    missed_count: int
    skipped_count: int


def read_fires(now: datetime) -> Regions:
    """Region fires: the next ones of all schedules, and of what was submitted for later."""
    schedules = (
        Schedule.objects.filter(next_at__isnull=False, job__paused_at__isnull=True)
        .select_related("job")
        .defer("job__body", "job__environment")
        .order_by("next_at", "id")[:MOST_SHOWN]
    )
    rows = [(f"s{schedule.pk}", _fire_row(schedule)) for schedule in schedules]
    later = _submitted_for_later(now)
    return {"fires": sorted([*rows, *later], key=lambda row: (row[1].at, row[0]))[:MOST_SHOWN]}


def words_of(schedule: Schedule) -> str:
    """Such as "every 5 minutes"; of one that cannot be read, what is written there."""
    try:
        return trigger_of(schedule).describe()
    except InvalidSchedule:
        return str(schedule)


def schedule_card(schedule: Schedule | None, now: datetime, *, paused: bool) -> ScheduleCard | None:
    """None for a job that only runs by hand."""
    if schedule is None:
        return None
    try:
        trigger = trigger_of(schedule)
        words, coming, fault = trigger.describe(), next_fires(trigger, schedule.zone, now), schedule.fault
    except InvalidSchedule as refusal:
        words, coming, fault = str(schedule), (), refusal.sentence
    return ScheduleCard(
        words=words,
        fires=() if paused or fault else coming,
        fault=fault,
        paused=paused,
        run_count=schedule.run_count,
        missed_count=schedule.missed_count,
        skipped_count=schedule.skipped_count,
    )


def next_fires(trigger: Trigger, zone: str, now: datetime) -> tuple[datetime, ...]:
    """In the schedule's own zone, so that their offsets show where clocks change."""
    return tuple(fire.astimezone(ZoneInfo(zone)) for fire in fires(trigger, now, FIRES_SHOWN))


def _fire_row(schedule: Schedule) -> FireRow:
    assert schedule.next_at is not None  # filtered by the query  # noqa: S101
    return FireRow(schedule.job_id, schedule.job.name, schedule.next_at, words_of(schedule))


def _submitted_for_later(now: datetime) -> list[Row]:
    rows = (
        Instance.objects.filter(status="pending", due_at__gt=now)
        .order_by("due_at", "id")
        .values_list("id", "job_id", "due_at", "job__name")[:MOST_SHOWN]
    )
    return [(f"i{pk}", FireRow(job_id, name, due_at, "once")) for pk, job_id, due_at, name in rows]
