"""The list of jobs, and the page of one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.core.paginator import Paginator
from django.db.models import OuterRef, QuerySet, Subquery

from dashboard.presentation import amounts, looks
from dashboard.presentation.looks import Look
from dashboard.presentation.rows import Gone, Regions
from dashboard.presentation.schedules import schedule_card, words_of
from jobs.core.states import TERMINAL
from jobs.models import Instance, Job, Schedule

PER_PAGE = 50
RECENT = 20


@dataclass(frozen=True, slots=True)
class JobRow:
    """`last` is None before the first instance; `next_at` None when nothing is planned."""

    job_id: int
    name: str
    tags: tuple[str, ...]
    words: str
    next_at: datetime | None
    paused: bool
    last: Look | None
    last_id: int | None
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class InstanceRow:
    """`at` is when it ended, else when it began, else when it is due."""

    instance_id: int
    look: Look
    cause: str
    at: datetime
    seconds: float | None
    attempts: int
    error: str
    can_cancel: bool
    can_retry: bool

    @property
    def shown_id(self) -> str:
        return str(self.instance_id)

    @property
    def lasted(self) -> str:
        return "" if self.seconds is None else amounts.duration(self.seconds)


@dataclass(frozen=True, slots=True)
class JobHead:
    job_id: int
    name: str
    description: str
    kind: str
    tags: tuple[str, ...]
    paused_by: str
    paused_at: datetime | None


@dataclass(frozen=True, slots=True)
class JobsPage:
    number: int
    pages: int
    total: int


def page_of_jobs(number: int) -> tuple[JobsPage, QuerySet[Job]]:
    """A page beyond the last is the last. Three indexed subqueries per row shown, none per row of the table."""
    pages = Paginator(_listed(), PER_PAGE)
    page = pages.get_page(number)
    return JobsPage(page.number, pages.num_pages, pages.count), page.object_list  # type: ignore[return-value]  # a slice


def read_jobs(number: int, now: datetime) -> Regions:  # noqa: ARG001 - one signature for all readers
    """Region jobs: one page of the list."""
    _, jobs = page_of_jobs(number)
    return {"jobs": [(f"j{job.pk}", _job_row(job)) for job in jobs]}


def read_job(job_id: int, now: datetime) -> Regions:
    """Regions job, schedule, instances. Three queries. Raises Gone."""
    job = find(job_id)
    card = schedule_card(getattr(job, "schedule", None), now, paused=job.paused)
    recent = Instance.objects.filter(job_id=job_id).order_by("-id")[:RECENT]
    return {
        "job": [("job", _job_head(job))],
        "schedule": [("schedule", card)] if card else [],
        "instances": [(f"i{instance.pk}", instance_row(instance)) for instance in recent],
    }


def find(job_id: int) -> Job:
    """With its schedule. Raises Gone."""
    job = Job.objects.select_related("schedule", "created_by").filter(pk=job_id).first()
    if job is None:
        raise Gone(f"Job {job_id} does not exist; it may have been deleted.")
    return job


def instance_row(instance: Instance) -> InstanceRow:
    stopping = instance.cancel_requested_at is not None
    ended = instance.status in TERMINAL
    ran = instance.ended_at is not None and instance.started_at is not None
    return InstanceRow(
        instance_id=instance.pk,
        look=looks.of_instance(instance.status, stopping=stopping),
        cause=str(Instance.Cause(instance.cause).label),
        at=instance.ended_at or instance.started_at or instance.due_at,
        seconds=(instance.ended_at - instance.started_at).total_seconds() if ran else None,  # type: ignore[operator]  # `ran`
        attempts=instance.attempt_count,
        error=instance.error,
        can_cancel=not ended and not stopping,
        can_retry=ended,
    )


def _listed() -> QuerySet[Job]:
    newest = Instance.objects.filter(job=OuterRef("pk")).order_by("-id")
    return (
        Job.objects.select_related("schedule")
        .defer("body", "environment", "description")
        .annotate(
            last_id=Subquery(newest.values("pk")[:1]),
            last_status=Subquery(newest.values("status")[:1]),
            last_stop=Subquery(newest.values("cancel_requested_at")[:1]),
            last_at=Subquery(newest.values("created_at")[:1]),
        )
        .order_by("name")
    )


def _job_row(job: Job) -> JobRow:
    schedule: Schedule | None = getattr(job, "schedule", None)
    status, stopping = job.last_status, job.last_stop is not None  # type: ignore[attr-defined]  # annotated
    return JobRow(
        job_id=job.pk,
        name=job.name,
        tags=tuple(job.tags),
        words=words_of(schedule) if schedule else "by hand",
        next_at=schedule.next_at if schedule and not job.paused else None,
        paused=job.paused,
        last=looks.of_instance(status, stopping=stopping) if status else None,
        last_id=job.last_id,  # type: ignore[attr-defined]  # annotated
        last_at=job.last_at,  # type: ignore[attr-defined]  # annotated
    )


def _job_head(job: Job) -> JobHead:
    return JobHead(
        job_id=job.pk,
        name=job.name,
        description=job.description,
        kind=str(Job.Kind(job.kind).label),
        tags=tuple(job.tags),
        paused_by=job.paused_by,
        paused_at=job.paused_at,
    )
