"""Backfills: dates of a window, made a few at a time as earlier ones end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Count

from jobs.core.graph import Graph
from jobs.core.invalid import InvalidSchedule
from jobs.core.policies import Overlap
from jobs.core.states import LIVE
from jobs.core.triggers import Following, Trigger
from jobs.models import Backfill, Instance, Job, Schedule
from jobs.store import definitions, read, workflows
from jobs.store.events import NewEvent, record
from jobs.store.schedules import spec_of, trigger_of

# Dates that are looked at in one transaction: most of a window may have its instances already.
PORTION = 100


@dataclass(frozen=True, slots=True)
class Dates:
    """Of which jobs, by which schedule, the dates of a backfill are."""

    graph: Graph
    members: frozenset[int]
    trigger: Trigger
    schedule: Schedule


def dates_of(job_id: int) -> Dates | None:
    """None where the job, or what begins its workflow, has no schedule whose dates can be told."""
    graph = read.workflows()
    row = next(iter(workflows.schedules_of(workflows.roots(graph, job_id)).values()), None)
    if row is None or spec_of(row) is None:
        return None
    try:
        trigger = trigger_of(row)
    except InvalidSchedule:
        return None
    return None if isinstance(trigger, Following) else Dates(graph, graph.component(job_id), trigger, row)


def complete_dates(members: frozenset[int], first: datetime, last: datetime) -> list[datetime]:
    """Logical dates in [first, last] of which each of these jobs has an instance."""
    rows = Instance.objects.filter(job__in=members, logical_at__gte=first, logical_at__lte=last)
    counted = rows.values("logical_at").annotate(jobs=Count("job", distinct=True)).filter(jobs=len(members))
    return list(counted.values_list("logical_at", flat=True))


@transaction.atomic
def insert(backfill: Backfill, now: datetime) -> None:
    backfill.save(force_insert=True)
    data = {"backfill": backfill.pk, "dates": backfill.dates}
    record([NewEvent(now, "backfill.created", backfill.job_id, actor=backfill.created_by, data=data)])


def running() -> list[int]:
    return list(Backfill.objects.filter(status=Backfill.Status.RUNNING).order_by("pk").values_list("pk", flat=True))


@transaction.atomic
def advance(backfill_id: int, now: datetime, actor: str) -> int:
    """Make as many of its next dates as it may have under way; returns how many. Ends it when all have ended.

    Safe on several nodes: whoever has the row decides, and the others find it decided.
    """
    found = Backfill.objects.filter(pk=backfill_id).first()
    if found is None or not _has_room(found):
        return 0
    dates = dates_of(found.job_id)
    # Jobs before the backfill, as a deletion takes them.
    jobs = {job.pk: job for job in definitions.lock_all(dates.members)} if dates else {}
    backfill = lock(backfill_id)
    if backfill is None or not _has_room(backfill):
        return 0
    if dates is None:
        return _end(backfill, Backfill.Status.CANCELLED, now, actor, "its job has no schedule any more")
    if backfill.next_at is None:
        return _end(backfill, Backfill.Status.DONE, now, actor) if under_way(backfill) == 0 else 0
    return 0 if held_by(backfill, dates.members) is not None else _make(backfill, dates, jobs, now)


def lock(backfill_id: int) -> Backfill | None:
    """The row, while it is running and nobody else has it."""
    skips = connection.features.has_select_for_update_skip_locked
    rows = Backfill.objects.select_for_update(of=("self",), skip_locked=skips) if skips else Backfill.objects.all()
    return rows.filter(pk=backfill_id, status=Backfill.Status.RUNNING).first()


def under_way(backfill: Backfill) -> int:
    """How many of its dates have not ended."""
    rows = Instance.objects.filter(backfill=backfill, status__in=LIVE)
    return rows.values("logical_at").distinct().count()


def held_by(backfill: Backfill, members: frozenset[int]) -> int | None:
    """The instance of the schedule's own that goes first: what is due today is not behind what was due last year."""
    rows = Instance.objects.filter(job__in=members, status__in=LIVE, cause=Instance.Cause.SCHEDULE)
    return rows.exclude(backfill=backfill).order_by("pk").values_list("pk", flat=True).first()


@transaction.atomic
def end_now(backfill: Backfill, now: datetime, actor: str) -> None:
    """Make no more of it."""
    _end(backfill, Backfill.Status.CANCELLED, now, actor)


def _has_room(backfill: Backfill) -> bool:
    if backfill.status != Backfill.Status.RUNNING:
        return False
    return backfill.next_at is None or under_way(backfill) < backfill.concurrency


def _make(backfill: Backfill, dates: Dates, jobs: dict[int, Job], now: datetime) -> int:
    room, made, looked_at = backfill.concurrency - under_way(backfill), 0, 0
    # One after another as the schedule's own are, unless several are asked for.
    serial = backfill.concurrency == 1 and dates.schedule.overlap != Overlap.ALLOW
    while made < room and backfill.next_at is not None and looked_at < PORTION:
        date, looked_at = backfill.next_at, looked_at + 1
        there = workflows.latest_of(dates.members, date) if backfill.only_missing else {}
        wanted = {job_id: job for job_id, job in jobs.items() if job_id not in there}
        following = dates.trigger.next_after(date)
        backfill.next_at = following if following is not None and following <= backfill.last_at else None
        if wanted:
            made += 1
            workflows.submit_date(
                wanted,
                dates.graph,
                date,
                zone=dates.schedule.zone,
                cause=Instance.Cause.BACKFILL,
                actor=backfill.created_by,
                now=now,
                backfill_id=backfill.pk,
                serial=serial,
            )
    backfill.made += made
    backfill.save(update_fields=["next_at", "made"])
    return made


def _end(backfill: Backfill, status: str, now: datetime, actor: str, reason: str = "") -> int:
    backfill.status, backfill.ended_at, backfill.next_at = status, now, None
    backfill.save(update_fields=["status", "ended_at", "next_at"])
    data = {"backfill": backfill.pk, "status": status, "made": backfill.made, "reason": reason}
    record([NewEvent(now, "backfill.ended", backfill.job_id, actor=actor, data=data)])
    return 0
