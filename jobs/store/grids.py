"""A workflow over its logical dates: which instance each of its jobs has of each."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from jobs.core.graph import Graph, in_order
from jobs.models import LARGE, Instance, Job
from jobs.store import read, workflows

MOST_DATES = 100


@dataclass(frozen=True, slots=True)
class Grid:
    """`jobs` upstreams first; `dates` newest first; `latest` by job and date, the latest generation.

    `older`: the date before which there are more, None when these are all.
    """

    graph: Graph
    jobs: tuple[Job, ...]
    dates: tuple[datetime, ...]
    latest: dict[tuple[int, datetime], Instance]
    older: datetime | None


def grid(job_id: int, limit: int, before: datetime | None = None) -> Grid | None:
    """The workflow that the job is part of, by its `limit` latest dates earlier than `before`. None: no such job.

    Reads a page of each job's own dates, so it costs by what is shown, however long the history.
    """
    graph = read.workflows()
    ids = in_order(graph.component(job_id), graph.upstreams)
    rows = Job.objects.select_related("schedule").defer(*LARGE).in_bulk(ids)
    if job_id not in rows:
        return None
    dates = _dates(ids, limit + 1, before)
    shown = tuple(dates[:limit])
    instances = Instance.objects.filter(job__in=ids, logical_at__in=shown).order_by("generation")
    latest = {(row.job_id, row.logical_at): row for row in instances}
    older = shown[-1] if len(dates) > limit else None
    return Grid(graph, tuple(rows[one] for one in ids if one in rows), shown, latest, older)


def of_date(job_id: int, date: datetime) -> Grid:
    """The workflow on one date."""
    graph = read.workflows()
    ids = in_order(graph.component(job_id), graph.upstreams)
    rows = Job.objects.defer(*LARGE).in_bulk(ids)
    latest = {(one, date): row for one, row in workflows.latest_of(ids, date).items()}
    return Grid(graph, tuple(rows[one] for one in ids if one in rows), (date,), latest, None)


def _dates(job_ids: Collection[int], limit: int, before: datetime | None) -> list[datetime]:
    found: set[datetime] = set()
    for job_id in job_ids:
        rows = Instance.objects.filter(job=job_id).order_by("-logical_at").values_list("logical_at", flat=True)
        if before is not None:
            rows = rows.filter(logical_at__lt=before)
        found.update(rows.distinct()[:limit])
    return sorted(found, reverse=True)[:limit]
