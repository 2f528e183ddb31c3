"""The page of a job."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.presentation import amounts, looks
from dashboard.presentation.looks import Look
from dashboard.presentation.rows import Gone, Regions
from dashboard.presentation.schedules import schedule_card
from jobs.core.states import TERMINAL
from jobs.models import Instance, Job

RECENT = 20


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
