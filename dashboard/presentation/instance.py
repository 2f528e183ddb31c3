"""The page of one instance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.presentation import amounts, looks, timeline, verdict
from dashboard.presentation.attempts import attempt_rows
from dashboard.presentation.conditions import ran_rows
from dashboard.presentation.facts import facts
from dashboard.presentation.given import Told, given_rows, told_by
from dashboard.presentation.lastline import last_lines
from dashboard.presentation.looks import Look
from dashboard.presentation.rows import Gone, Regions
from dashboard.presentation.running import expected_duration
from dashboard.presentation.waiting import whole_second
from dashboard.presentation.workflows import on_date
from jobs import holds
from jobs.core.states import TERMINAL, WAITING, OutcomeKind, Status
from jobs.models import LARGE_OF_JOB, Attempt, Instance

MOST_ATTEMPTS = 50


@dataclass(frozen=True, slots=True)
class Head:
    """`sentence` is the verdict. `since` ticks: when it began to wait or to run; None once it has ended."""

    instance_id: int
    job_name: str
    look: Look
    sentence: str
    since: datetime | None
    starts_at: datetime | None
    unknown_because: str
    expected_seconds: float | None
    expected_by: str
    told: Told | None
    runs: bool
    waits: bool
    can_cancel: bool
    stopping: bool
    can_retry: bool
    job_id: int
    says: str
    last_line: str


@dataclass(frozen=True, slots=True)
class Bar:
    segments: tuple[timeline.Segment, ...]


def read_instance(instance_id: int, now: datetime) -> Regions:
    """Regions head, facts, ran, given, bar, stages, attempts. A fixed number of queries. Raises Gone."""
    instance = find(instance_id)
    attempts = list(instance.attempts.select_related("node").order_by("-number")[:MOST_ATTEMPTS])
    latest = attempts[0] if attempts else None
    hold = holds.explain([instance], now)[instance.pk] if instance.status in WAITING else None
    found = timeline.stages(timeline.read_events(instance_id))
    return {
        "head": [("head", head(instance, latest, hold))],
        "facts": [(fact.label, fact) for fact in facts(instance, latest)],
        "ran": ran_rows(latest),
        "given": given_rows(latest),
        "bar": [("bar", Bar(tuple(timeline.bar(found, now))))] if found else [],
        "stages": [(f"e{stage.n}", stage) for stage in found],
        "attempts": attempt_rows(attempts),
        "date": [(f"j{square.job_id}", square) for square in on_date(instance)],
    }


def find(instance_id: int) -> Instance:
    """With its job. Raises Gone."""
    rows = Instance.objects.select_related("job", "node").defer(*LARGE_OF_JOB)
    instance = rows.filter(pk=instance_id).first()
    if instance is None:
        raise Gone(f"Instance {instance_id} does not exist; it may have been deleted with its job.")
    return instance


def head(instance: Instance, latest: Attempt | None, hold: holds.HoldView | None) -> Head:
    stopping = instance.status == Status.RUNNING and instance.cancel_requested_at is not None
    expected, by = expected_duration(instance.job.usual_seconds, instance.job.timeout_seconds)
    return Head(
        instance_id=instance.pk,
        job_name=instance.job.name,
        look=looks.of_instance(instance.status, stopping=stopping),
        sentence=verdict.sentence(instance, latest, hold.sentence if hold else ""),
        since=_since(instance, latest),
        starts_at=whole_second(hold.predicted_start) if hold else None,
        unknown_because=hold.unknown_because if hold else "",
        expected_seconds=expected if instance.status == Status.RUNNING else None,
        expected_by=by,
        told=_told(instance, latest),
        runs=instance.status == Status.RUNNING,
        waits=instance.status in WAITING,
        can_cancel=instance.status not in TERMINAL and not stopping,
        stopping=stopping,
        can_retry=instance.status in TERMINAL,
        job_id=instance.job_id,
        says=_says(instance, stopping=stopping),
        last_line=_last_line(instance, latest),
    )


def _told(instance: Instance, latest: Attempt | None) -> Told | None:
    if instance.status != Status.RUNNING or latest is None:
        return None
    return told_by(instance.pk, latest.number, latest.token)


def _says(instance: Instance, *, stopping: bool) -> str:
    """What the buttons do."""
    if instance.status in TERMINAL:
        return "Retry: once more for the same logical date. Run again: a new instance of the job, as it is defined now."
    if stopping:
        return ""
    if instance.status == Status.RUNNING:
        grace = amounts.duration(instance.job.kill_grace_seconds)
        return f"Cancel tells all its processes to end, and kills after {grace} what is left of them."
    if instance.status == Status.RETRYING:
        return "Cancel takes it out of the queue: it will not be tried again."
    return "Cancel takes it out of the queue: it will not run."


def _last_line(instance: Instance, latest: Attempt | None) -> str:
    """Of what failed by itself. What was ended from outside has the runner's word about that at its end."""
    if instance.status != Status.FAILED or latest is None or latest.outcome != OutcomeKind.FAILED:
        return ""
    return last_lines([instance.pk]).get(instance.pk, "")


def _since(instance: Instance, latest: Attempt | None) -> datetime | None:
    if instance.status == Status.RUNNING:
        return (latest.started_at or latest.created_at) if latest else instance.started_at
    if instance.status == Status.RETRYING and latest is not None:
        return latest.ended_at  # since the attempt that failed
    if instance.status in WAITING:
        return instance.queued_at or instance.created_at
    return None
