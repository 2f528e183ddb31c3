"""The page of a job."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from dashboard.presentation.callables import model_words
from dashboard.presentation.instance_row import instance_row
from dashboard.presentation.jobuse import TREND, needs_of, trend_of
from dashboard.presentation.rows import Gone, Regions
from dashboard.presentation.runs import MANY_FAILED, MANY_SKIPPED, failed_in_a_row, mark_of_instance
from dashboard.presentation.schedules import SKIPS_SHOWN, schedule_card
from dashboard.presentation.skipping import why_skipped
from dashboard.presentation.workflows import neighbours
from jobs import skips
from jobs.actions.forms import lines_alike
from jobs.callables import registry
from jobs.core.states import UNFINISHED, WAITING, Status
from jobs.models import Instance, Job, Schedule
from jobs.parameters.schema import takes_any
from jobs.parameters.values import lacking
from jobs.pauses import who_paused
from jobs.store.schedules import spec_of

RECENT = 20
NEWEST = 1000  # among which an instance that is pending is looked for: it has no index by its job
LONGEST_SHOWN = 100_000  # characters
MOST_LINES = 5_000
TITLES = {Job.Kind.SCRIPT_PATH: "Script file", Job.Kind.COMMAND: "Command", Job.Kind.CALLABLE: "Callable"}


@dataclass(frozen=True, slots=True)
class JobHead:
    """`tags` each with what finds all jobs that have it. `gone`: that its callable is no more in the code.

    `takes`: whether an instance may be told parameters; `lacks`: whether it must be.
    """

    job_id: int
    name: str
    description: str
    kind: str
    tags: tuple[tuple[str, str], ...]
    paused_by: str
    paused_at: datetime | None
    deleting_by: str
    deleting_at: datetime | None
    skipped: int
    why_skipped: str
    failed: int
    model: str = ""
    gone: str = ""
    in_workflow: bool = False
    dated: bool = False
    takes: bool = False
    lacks: bool = False


@dataclass(frozen=True, slots=True)
class Unqueue:
    """The button that cancels what waits of a job, shown while something does."""

    job_id: int


@dataclass(frozen=True, slots=True)
class JobScript:
    """What runs, as far as a page can show it. `language` is empty for a script, whose first line says it.

    `numbered`: each line has its number, and an address.
    """

    title: str
    lines: tuple[str, ...]
    numbered: bool
    language: str
    left_out: int


def read_job(job_id: int, now: datetime) -> Regions:
    """Regions job, neighbours, trend, schedule, needs, script, unqueue, instances. Raises Gone."""
    job = find(job_id)
    schedule = planned(job)
    card = schedule_card(schedule, now, paused=job.paused, skips=skips.recent(job_id, SKIPS_SHOWN))
    recent = list(Instance.objects.filter(job_id=job_id).order_by("-id")[:TREND])
    runs = [mark_of_instance(instance) for instance in recent]
    trend = trend_of(runs)
    around = neighbours(job_id)
    return {
        "job": [("job", _job_head(job, schedule, failed_in_a_row(runs), now, in_workflow=bool(around)))],
        "neighbours": [(f"j{one.job_id}", one) for one in around],
        "trend": [("trend", trend)] if trend else [],
        "schedule": [("schedule", card)] if card else [],
        "needs": [("needs", needs_of(job, [instance.pk for instance in recent]))],
        "script": [("script", script_of(job))],
        "unqueue": [("unqueue", Unqueue(job_id))] if _waits(job_id, recent) else [],
        "instances": [(f"i{instance.pk}", instance_row(instance)) for instance in recent[:RECENT]],
    }


def _waits(job_id: int, recent: Sequence[Instance]) -> bool:
    """Whether something of the job waits, in what a page may ask as often as something happens."""
    if any(instance.status in WAITING for instance in recent):
        return True
    of_job = Instance.objects.filter(job_id=job_id)
    # Not WAITING but what their index has as its condition, and then less.
    if of_job.filter(status__in=sorted(UNFINISHED)).exclude(status=Status.RUNNING).exists():
        return True
    newest = of_job.order_by("-id").values("pk")[:NEWEST]
    return Instance.objects.filter(pk__in=newest, status=Status.PENDING).exists()


def planned(job: Job) -> Schedule | None:
    """Its schedule, unless that was taken away: then its row has only its counts left."""
    schedule: Schedule | None = getattr(job, "schedule", None)
    return schedule if spec_of(schedule) else None


def script_of(job: Job) -> JobScript:
    whole = lines_alike(job.body)  # as a browser breaks its lines
    lines = whole[:LONGEST_SHOWN].split("\n", MOST_LINES)[:MOST_LINES]
    left_out = whole[len("\n".join(lines)) :].rstrip("\n")
    if len(lines) > 1 and not lines[-1] and not left_out:
        lines.pop()  # the end of the last line begins none
    return JobScript(
        title=TITLES.get(Job.Kind(job.kind), "Script"),
        lines=tuple(lines),
        numbered=job.kind == Job.Kind.SCRIPT,
        language={Job.Kind.SCRIPT: "", Job.Kind.COMMAND: "bash"}.get(Job.Kind(job.kind), "text"),
        left_out=len(left_out),
    )


def find(job_id: int) -> Job:
    """With its schedule. Raises Gone."""
    job = Job.objects.select_related("schedule__calendar", "created_by").filter(pk=job_id).first()
    if job is None:
        raise Gone(f"Job {job_id} does not exist; it may have been deleted.")
    return job


def search_for_tag(tag: str) -> str:
    """What the list of jobs is to be asked; empty where its search cannot say it: there is no way to write a quote."""
    blank = re.search(r"\s", tag)
    if '"' in tag:
        return "" if blank or tag.startswith('"') else f"tag:{tag}"
    return f'tag:"{tag}"' if blank else f"tag:{tag}"


def _job_head(job: Job, schedule: Schedule | None, failed: int, now: datetime, *, in_workflow: bool) -> JobHead:
    skipped = schedule.skipped_in_a_row if schedule else 0
    return JobHead(
        job_id=job.pk,
        name=job.name,
        description=job.description,
        kind=str(Job.Kind(job.kind).label),
        tags=tuple((tag, search_for_tag(tag)) for tag in job.tags),
        paused_by=who_paused(job),
        paused_at=job.paused_at,
        deleting_by=job.delete_requested_by,
        deleting_at=job.delete_requested_at,
        why_skipped=why_skipped([job.pk], now).get(job.pk, "") if skipped >= MANY_SKIPPED else "",
        skipped=skipped if skipped >= MANY_SKIPPED else 0,
        failed=failed if failed >= MANY_FAILED else 0,
        model=model_words(job),
        gone=registry.missing(job.body) if job.kind == Job.Kind.CALLABLE else "",
        in_workflow=in_workflow,
        dated=in_workflow or schedule is not None,
        takes=takes_any(job.parameters),
        lacks=bool(lacking(job.parameters, job.parameter_values)),
    )
