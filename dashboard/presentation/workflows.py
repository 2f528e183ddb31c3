"""A job among those that wait for each other: its neighbours, one date, and the grid of dates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.presentation import looks
from dashboard.presentation.looks import Look
from dashboard.presentation.rows import Gone, Regions
from dashboard.presentation.schedules import in_zone
from jobs.core.triggers import latest_between
from jobs.models import Instance, Job
from jobs.store import backfills, grids, read, workflows

DATES = 30


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


@dataclass(frozen=True, slots=True)
class Column:
    """A job of the grid, and the names of those that it waits for."""

    job_id: int
    name: str
    waits_for: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GridRow:
    date: datetime
    squares: tuple[Square, ...]

    @property
    def logical_at(self) -> str:
        """To the microsecond, as a run of this date has to name it."""
        return self.date.isoformat()


@dataclass(frozen=True, slots=True)
class GridPages:
    """`older`: the date before which there are more, empty where these are all."""

    older: str
    is_first: bool


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


def read_workflow(job_id: int, before: datetime | None, now: datetime) -> Regions:  # noqa: ARG001 - as all are read
    """Regions grid-head, grid (its dates, newest first) and grid-pages. Raises Gone."""
    grid = grids.grid(job_id, DATES, before)
    if grid is None:
        raise Gone(f"Job {job_id} does not exist; it may have been deleted.")
    names = {job.pk: job.name for job in grid.jobs}
    columns = tuple(
        Column(job.pk, job.name, tuple(names[up] for up in grid.graph.upstreams(job.pk) if up in names))
        for job in grid.jobs
    )
    rows = [(date.isoformat(), GridRow(date, _squares(grid, date, job_id))) for date in grid.dates]
    pages = GridPages(grid.older.isoformat() if grid.older else "", is_first=before is None)
    shown = [("pages", pages)] if pages.older or before else []
    return {"grid-head": [("head", columns)], "grid": rows, "grid-pages": shown}


def latest_missing(job_id: int, now: datetime) -> datetime | None:
    """The latest date of its schedule, if a job of its workflow has no instance of it; in the schedule's zone."""
    dates = backfills.dates_of(job_id)
    latest = None if dates is None else latest_between(dates.trigger, dates.schedule.anchor_at, now)
    if dates is None or latest is None or not dates.members - workflows.latest_of(dates.members, latest).keys():
        return None
    return in_zone(latest, dates.schedule.zone)


def _squares(grid: grids.Grid, date: datetime, job_id: int) -> tuple[Square, ...]:
    return tuple(_square(job, grid.latest.get((job.pk, date)), "", is_own=job.pk == job_id) for job in grid.jobs)


def _square(job: Job, row: Instance | None, above: str, *, is_own: bool) -> Square:
    return Square(job.pk, job.name, above, row.pk if row else None, _look(row), row.error if row else "", is_own)


def _neighbour(job: Job, relation: str, latest: Instance | None) -> Neighbour:
    return Neighbour(job.pk, job.name, relation, latest.pk if latest else None, _look(latest), job.paused)


def _look(row: Instance | None) -> Look | None:
    return None if row is None else looks.of_instance(row.status, stopping=row.cancel_requested_at is not None)
