"""The page of one instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from dashboard.presentation import amounts, looks, timeline, verdict
from dashboard.presentation.looks import Look
from dashboard.presentation.nodes import expected_duration
from dashboard.presentation.rows import Gone, Regions, Row
from dashboard.presentation.waiting import whole_second
from jobs import holds
from jobs.core.states import TERMINAL, WAITING, Status
from jobs.models import Attempt, Instance

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
    waits: bool
    can_cancel: bool
    stopping: bool
    can_retry: bool


@dataclass(frozen=True, slots=True)
class Fact:
    """One measured or recorded thing. `at`, if given, is shown as a moment, with `text` after it."""

    label: str
    text: str = ""
    at: datetime | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    segments: tuple[timeline.Segment, ...]


@dataclass(frozen=True, slots=True)
class AttemptRow:
    instance_id: int
    number: int
    look: Look
    held: str
    node: str
    started_at: datetime
    seconds: float | None
    error: str
    ended: bool

    @property
    def lasted(self) -> str:
        return "" if self.seconds is None else amounts.duration(self.seconds)


def read_instance(instance_id: int, now: datetime) -> Regions:
    """Regions head, facts, bar, stages, attempts. A fixed number of queries. Raises Gone."""
    instance = find(instance_id)
    attempts = list(instance.attempts.select_related("node").order_by("-number")[:MOST_ATTEMPTS])
    latest = attempts[0] if attempts else None
    hold = holds.explain([instance], now)[instance.pk] if instance.status in WAITING else None
    found = timeline.stages(timeline.read_events(instance_id))
    return {
        "head": [("head", head(instance, latest, hold))],
        "facts": [(fact.label, fact) for fact in facts(instance, latest)],
        "bar": [("bar", Bar(tuple(timeline.bar(found, now))))] if found else [],
        "stages": [(f"e{stage.n}", stage) for stage in found],
        "attempts": attempt_rows(attempts),
    }


def find(instance_id: int) -> Instance:
    """With its job. Raises Gone."""
    rows = Instance.objects.select_related("job", "node").defer("job__body", "job__environment")
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
        waits=instance.status in WAITING,
        can_cancel=instance.status not in TERMINAL and not stopping,
        stopping=stopping,
        can_retry=instance.status in TERMINAL,
    )


def _since(instance: Instance, latest: Attempt | None) -> datetime | None:
    if instance.status == Status.RUNNING:
        return (latest.started_at or latest.created_at) if latest else instance.started_at
    if instance.status == Status.RETRYING and latest is not None:
        return latest.ended_at  # since the attempt that failed
    if instance.status in WAITING:
        return instance.queued_at or instance.created_at
    return None


def facts(instance: Instance, latest: Attempt | None) -> list[Fact]:
    """Those that are known, in the order of a reader's questions."""
    return [*_when(instance), *_what_it_held(instance, latest), *(_how_it_ended(latest) if latest else [])]


def _when(instance: Instance) -> list[Fact]:
    found = [Fact("Logical date", at=instance.logical_at, note=_generation(instance)), Fact("Cause", _cause(instance))]
    if instance.started_at:
        found.append(Fact("Started", at=instance.started_at))
    if instance.ended_at:
        found.append(Fact("Ended", at=instance.ended_at))
    return found


def _generation(instance: Instance) -> str:
    return f"generation {instance.generation}" if instance.generation else ""


def _cause(instance: Instance) -> str:
    cause = str(Instance.Cause(instance.cause).label)
    return f"{cause}, {instance.created_by}" if instance.created_by else cause


def _what_it_held(instance: Instance, latest: Attempt | None) -> list[Fact]:
    if latest is None:
        wanted = f"{instance.job.cores} core{'s' if instance.job.cores > 1 else ''}"
        return [Fact("Asks for", wanted), *_memory(instance.job.memory_mb)]
    verb = "Holds" if latest.status != "ended" else "Held"
    note = "for itself" if latest.cores and not latest.virtual_cores else "shared, at lower priority"
    held = Fact(verb, amounts.held(latest.cores, latest.virtual_cores) or "no core", note=note)
    return [Fact("Node", latest.node.name), held, *_memory(latest.memory_mb)]


def _memory(memory_mb: int) -> list[Fact]:
    return [Fact("Memory", f"{memory_mb:,} MB", note="reserved, not enforced")] if memory_mb else []


def _how_it_ended(attempt: Attempt) -> list[Fact]:
    found: list[Fact] = []
    if attempt.exit_code is not None:
        found.append(Fact("Exit code", str(attempt.exit_code)))
    if attempt.signal:
        found.append(Fact("Signal", amounts.signal_name(attempt.signal)))
    if attempt.duration_seconds is not None:
        found.append(Fact("Duration", amounts.duration(attempt.duration_seconds)))
    if attempt.cpu_seconds is not None:
        found.append(Fact("CPU time", amounts.duration(attempt.cpu_seconds)))
    if attempt.peak_memory_bytes is not None:
        found.append(Fact("Peak memory", amounts.size(attempt.peak_memory_bytes)))
    if attempt.descendants_ended:
        found.append(Fact("Descendants ended", str(attempt.descendants_ended), note="processes that it left behind"))
    return found


def attempt_rows(attempts: Sequence[Attempt]) -> list[Row]:
    return [(f"a{attempt.number}", _attempt_row(attempt)) for attempt in attempts]


def _attempt_row(attempt: Attempt) -> AttemptRow:
    return AttemptRow(
        instance_id=attempt.instance_id,
        number=attempt.number,
        look=looks.of_attempt(attempt.status, attempt.outcome),
        held=amounts.held(attempt.cores, attempt.virtual_cores),
        node=attempt.node.name,
        started_at=attempt.started_at or attempt.created_at,
        seconds=attempt.duration_seconds,
        error=attempt.error,
        ended=attempt.ended_at is not None,
    )
