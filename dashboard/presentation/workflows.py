"""A job among those that wait for each other: its neighbours, one date, and the grid of dates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.presentation import looks
from dashboard.presentation.looks import Look
from jobs.models import Instance, Job
from jobs.store import grids, read


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A job that is waited for, or waits. `look` of its latest instance, None while it has none."""

    job_id: int
    name: str
    relation: str
    instance_id: int | None
    look: Look | None
    paused: bool


@dataclass(frozen=True, slots=True)
class Square:
    """A job on a date. `waits_for`: names; `is_own`: it is what the page is about."""

    job_id: int
    name: str
    waits_for: str
    instance_id: int | None
    look: Look | None
    error: str
    is_own: bool


def neighbours(job_id: int) -> list[Neighbour]:
    """Upstreams, then dependents. None where it is part of no workflow."""
    graph = read.workflows()
    relations = dict.fromkeys(graph.dependents(job_id), "waits for this")
    relations = dict.fromkeys(graph.upstreams(job_id), "upstream") | relations
    jobs = Job.objects.only("name", "paused_at").in_bulk(relations)
    return [
        _neighbour(jobs[one], relation, Instance.objects.filter(job=one).order_by("-pk").first())
        for one, relation in relations.items()
        if one in jobs
    ]


def on_date(instance: Instance) -> list[Square]:
    """All jobs of the workflow on the instance's logical date, upstreams first; empty where there is no workflow."""
    grid = grids.of_date(instance.job_id, instance.logical_at)
    if len(grid.jobs) < 2:
        return []
    names = {job.pk: job.name for job in grid.jobs}
    squares: list[Square] = []
    for job in grid.jobs:
        row = instance if job.pk == instance.job_id else grid.latest.get((job.pk, instance.logical_at))
        above = ", ".join(names[up] for up in grid.graph.upstreams(job.pk) if up in names)
        squares.append(_square(job, row, above, is_own=job.pk == instance.job_id))
    return squares


def rows_of(grid: grids.Grid, job_id: int) -> list[tuple[datetime, list[Square]]]:
    """The grid by date, newest first."""
    return [
        (date, [_square(job, grid.latest.get((job.pk, date)), "", is_own=job.pk == job_id) for job in grid.jobs])
        for date in grid.dates
    ]


def _square(job: Job, row: Instance | None, above: str, *, is_own: bool) -> Square:
    return Square(job.pk, job.name, above, row.pk if row else None, _look(row), row.error if row else "", is_own)


def _neighbour(job: Job, relation: str, latest: Instance | None) -> Neighbour:
    return Neighbour(job.pk, job.name, relation, latest.pk if latest else None, _look(latest), job.paused)


def _look(row: Instance | None) -> Look | None:
    return None if row is None else looks.of_instance(row.status, stopping=row.cancel_requested_at is not None)
