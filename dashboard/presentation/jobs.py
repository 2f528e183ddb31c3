"""The page of a job."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.presentation.instance_row import instance_row
from dashboard.presentation.jobuse import TREND, needs_of, trend_of
from dashboard.presentation.rows import Gone, Regions
from dashboard.presentation.runs import MANY_FAILED, MANY_SKIPPED, failed_in_a_row, mark_of_instance
from dashboard.presentation.schedules import schedule_card
from jobs.models import Instance, Job, Schedule
from jobs.store.schedules import spec_of

RECENT = 20
LONGEST_SHOWN = 100_000


@dataclass(frozen=True, slots=True)
class JobHead:
    job_id: int
    name: str
    description: str
    kind: str
    tags: tuple[str, ...]
    paused_by: str
    paused_at: datetime | None
    skipped: int
    failed: int


@dataclass(frozen=True, slots=True)
class JobScript:
    """What runs, as far as a page can show it; `lines` numbers them, and is empty for what has none to speak of."""

    title: str
    text: str
    lines: str
    left_out: int


def read_job(job_id: int, now: datetime) -> Regions:
    """Regions job, trend, schedule, needs, script, instances. Three queries. Raises Gone."""
    job = find(job_id)
    schedule = planned(job)
    card = schedule_card(schedule, now, paused=job.paused)
    recent = list(Instance.objects.filter(job_id=job_id).order_by("-id")[:TREND])
    runs = [mark_of_instance(instance) for instance in recent]
    trend = trend_of(runs)
    return {
        "job": [("job", _job_head(job, schedule, failed_in_a_row(runs)))],
        "trend": [("trend", trend)] if trend else [],
        "schedule": [("schedule", card)] if card else [],
        "needs": [("needs", needs_of(job, [instance.pk for instance in recent]))],
        "script": [("script", script_of(job))],
        "instances": [(f"i{instance.pk}", instance_row(instance)) for instance in recent[:RECENT]],
    }


def planned(job: Job) -> Schedule | None:
    """Its schedule, unless that was taken away: then its row has only its counts left."""
    schedule: Schedule | None = getattr(job, "schedule", None)
    return schedule if spec_of(schedule) else None


def script_of(job: Job) -> JobScript:
    whole = job.body.replace("\r\n", "\n").replace("\r", "\n")  # as a browser breaks its lines
    text = whole[:LONGEST_SHOWN]
    count = text.count("\n") + (not text.endswith("\n"))
    numbered = job.kind == Job.Kind.SCRIPT
    return JobScript(
        title={Job.Kind.SCRIPT_PATH: "Script file", Job.Kind.COMMAND: "Command"}.get(Job.Kind(job.kind), "Script"),
        text=text,
        lines="\n".join(map(str, range(1, count + 1))) if numbered else "",
        left_out=len(whole) - len(text),
    )


def find(job_id: int) -> Job:
    """With its schedule. Raises Gone."""
    job = Job.objects.select_related("schedule", "created_by").filter(pk=job_id).first()
    if job is None:
        raise Gone(f"Job {job_id} does not exist; it may have been deleted.")
    return job


def _job_head(job: Job, schedule: Schedule | None, failed: int) -> JobHead:
    skipped = schedule.skipped_in_a_row if schedule else 0
    return JobHead(
        job_id=job.pk,
        name=job.name,
        description=job.description,
        kind=str(Job.Kind(job.kind).label),
        tags=tuple(job.tags),
        paused_by=job.paused_by,
        paused_at=job.paused_at,
        skipped=skipped if skipped >= MANY_SKIPPED else 0,
        failed=failed if failed >= MANY_FAILED else 0,
    )
