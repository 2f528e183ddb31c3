"""Backfills: dates of a window, made a few at a time as earlier ones end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class Live:
    """Instances of a backfill that have not ended, with their dates, as it had made so many dates."""

    made: int = -1
    dates: Mapping[int, datetime] = field(default_factory=dict)

    @property
    def under_way(self) -> int:
        """How many dates have not ended."""
        return len(set(self.dates.values()))


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
def advance(backfill_id: int, now: datetime, actor: str, before: Live) -> tuple[int, Live]:
    """Make as many of its next dates as it may have under way: how many, and what lives now. Ends it when all have.

    `before`: what lived when this was last asked. Safe on several nodes: whoever has the row decides, and the others
    find it decided.
    """
    found = Backfill.objects.filter(pk=backfill_id, status=Backfill.Status.RUNNING).first()
    if found is None:
        return 0, before
    live = live_of(found, before)
    if not _has_room(found, live):
        return 0, live
    dates = dates_of(found.job_id)
    # Jobs before the backfill, as a deletion takes them.
    jobs = {job.pk: job for job in definitions.lock_all(dates.members)} if dates else {}
    backfill = lock(backfill_id)
    if backfill is None:
        return 0, live
    live = live_of(backfill, live)
    if dates is None:
        _end(backfill, Backfill.Status.CANCELLED, now, actor, "its job has no schedule any more")
    elif backfill.next_at is None and not live.dates:
        _end(backfill, Backfill.Status.DONE, now, actor)
    elif backfill.next_at is not None and _has_room(backfill, live) and held_by(backfill, dates.members) is None:
        return _make(backfill, dates, jobs, now, live)
    return 0, live


def lock(backfill_id: int) -> Backfill | None:
    """The row, while it is running and nobody else has it."""
    skips = connection.features.has_select_for_update_skip_locked
    rows = Backfill.objects.select_for_update(of=("self",), skip_locked=skips) if skips else Backfill.objects.all()
    return rows.filter(pk=backfill_id, status=Backfill.Status.RUNNING).first()


def live_of(backfill: Backfill, before: Live) -> Live:
    """What has not ended. Only what lived before is looked at, unless dates were made since: a long backfill has
    thousands of rows.
    """
    rows = Instance.objects.filter(status__in=LIVE)
    rows = rows.filter(pk__in=before.dates) if before.made == backfill.made else rows.filter(backfill=backfill)
    return Live(backfill.made, dict(rows.values_list("pk", "logical_at")))


def held_by(backfill: Backfill, members: frozenset[int]) -> int | None:
    """The instance of the schedule's own that goes first: what is due today is not behind what was due last year."""
    rows = Instance.objects.filter(job__in=members, status__in=LIVE, cause=Instance.Cause.SCHEDULE)
    return rows.exclude(backfill=backfill).order_by("pk").values_list("pk", flat=True).first()


@transaction.atomic
def end_now(backfill: Backfill, now: datetime, actor: str) -> None:
    """Make no more of it."""
    _end(backfill, Backfill.Status.CANCELLED, now, actor)


def _has_room(backfill: Backfill, live: Live) -> bool:
    return backfill.next_at is None or live.under_way < backfill.concurrency


def _make(backfill: Backfill, dates: Dates, jobs: dict[int, Job], now: datetime, live: Live) -> tuple[int, Live]:
    room, made, looked_at = backfill.concurrency - live.under_way, 0, 0
    alive = dict(live.dates)
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
            instances = workflows.submit_date(
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
            alive |= {instance.pk: date for instance in instances}
    backfill.made += made
    backfill.save(update_fields=["next_at", "made"])
    return made, Live(backfill.made, alive)


def _end(backfill: Backfill, status: str, now: datetime, actor: str, reason: str = "") -> None:
    backfill.status, backfill.ended_at, backfill.next_at = status, now, None
    backfill.save(update_fields=["status", "ended_at", "next_at"])
    data = {"backfill": backfill.pk, "status": status, "made": backfill.made, "reason": reason}
    record([NewEvent(now, "backfill.ended", backfill.job_id, actor=actor, data=data)])
