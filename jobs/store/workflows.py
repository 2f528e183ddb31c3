"""Workflows as they are stored: who changes one has it alone, and what its jobs share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from django.conf import settings
from django.db import connection

from jobs.core.graph import Graph, in_order
from jobs.core.moments import not_before_moment
from jobs.core.weektimes import parse_clock
from jobs.core.zones import zone_named
from jobs.models import Instance, Job, Schedule
from jobs.store import read, wishes

# Any fixed number, the same for every writer, and not that of the feed.
WORKFLOW_LOCK = 0x524F5746


def lock() -> None:
    """Until the transaction ends nobody else changes an edge, or what the roots of a workflow share.

    Two edits that close a cycle together would each find none. Taken before the lock of any row, so that no two wait
    for each other. On SQLite a transaction that writes has the database to itself.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [WORKFLOW_LOCK])


def roots(graph: Graph, job_id: int) -> list[int]:
    """The jobs of its workflow that wait for none; the job itself where it is part of no workflow."""
    return sorted(member for member in graph.component(job_id) if not graph.upstreams(member))


def fellow_roots(job_id: int) -> list[int]:
    """The other roots beside a root, which share its schedule; none where the job is no root."""
    graph = read.workflows()
    return [root for root in roots(graph, job_id) if root != job_id] if not graph.upstreams(job_id) else []


def schedules_of(job_ids: Iterable[int]) -> dict[int, Schedule]:
    """By job, of those that have one."""
    return {row.job_id: row for row in Schedule.objects.filter(job__in=job_ids).select_related("calendar")}


def names_of(job_ids: Iterable[int]) -> dict[int, str]:
    return dict(Job.objects.filter(pk__in=job_ids).values_list("pk", "name"))


def dependents_of(job_id: int) -> list[Job]:
    """The jobs that wait for it directly, by name."""
    return list(Job.objects.filter(upstream_edges__upstream=job_id).only("name").order_by("name"))


def latest_of(job_ids: Collection[int], date: datetime) -> dict[int, Instance]:
    """By job, the latest generation that it has of this logical date."""
    if not job_ids:
        return {}
    rows = Instance.objects.filter(job__in=job_ids, logical_at=date).order_by("generation")
    return {row.job_id: row for row in rows}


def latest_date(job_ids: Collection[int]) -> datetime | None:
    """The latest logical date of which any of these jobs has an instance."""
    dates = [
        Instance.objects.filter(job=job_id).order_by("-logical_at").values_list("logical_at", flat=True).first()
        for job_id in job_ids
    ]
    return max((date for date in dates if date is not None), default=None)


def zone_of(graph: Graph, job_id: int) -> str:
    """The zone in which the times of day of its workflow are read."""
    rows = schedules_of(roots(graph, job_id))
    return next((row.zone for row in rows.values()), settings.DEFAULT_TIME_ZONE)


def submit_date(
    members: Mapping[int, Job],
    graph: Graph,
    date: datetime,
    *,
    zone: str,
    cause: Instance.Cause,
    actor: str,
    now: datetime,
    backfill_id: int | None = None,
    serial: bool = False,
) -> list[Instance]:
    """One instance of each of `members` for this date, upstreams first, due now or at their `not_before`.

    Whoever calls has locked the members: the first event that is recorded locks the feed.
    """
    return [
        wishes.submit(
            members[job_id],
            cause=cause,
            actor=actor,
            now=now,
            due_at=_due(members[job_id], date, zone, now),
            logical_at=date,
            backfill_id=backfill_id,
            serial=serial,
        )
        for job_id in in_order(members, graph.upstreams)
    ]


def _due(job: Job, date: datetime, zone: str, now: datetime) -> datetime:
    if not job.not_before:
        return now
    return max(now, not_before_moment(date, parse_clock(job.not_before), zone_named(zone)))
