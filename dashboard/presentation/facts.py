"""What is recorded and measured of an instance and of one of its attempts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.presentation import amounts
from dashboard.presentation.callables import model_words
from dashboard.presentation.curves import LEAST_SECONDS, TOO_SHORT
from jobs.core.states import OutcomeKind
from jobs.models import Attempt, Instance, Job


@dataclass(frozen=True, slots=True)
class Fact:
    """One measured or recorded thing of an instance or a node. `at`, if given, is shown as a moment, not `text`."""

    label: str
    text: str = ""
    at: datetime | None = None
    note: str = ""


def facts(instance: Instance, attempt: Attempt | None) -> list[Fact]:
    """Those that are known, in the order of a reader's questions; times and measures are those of the attempt."""
    ended = _how_it_ended(attempt) if attempt else []
    return [*_when(instance, attempt), *_what_it_held(instance, attempt), *ended]


def _when(instance: Instance, attempt: Attempt | None) -> list[Fact]:
    found = [Fact("Logical date", at=instance.logical_at, note=_generation(instance)), Fact("Cause", _cause(instance))]
    found.append(Fact("Runs", str(Job.Kind(instance.job.kind).label), note=model_words(instance.job)))
    started_at, ended_at = (attempt.started_at, attempt.ended_at) if attempt else (None, instance.ended_at)
    if started_at:
        found.append(Fact("Started", at=started_at))
    if ended_at:
        found.append(Fact("Ended", at=ended_at))
    return found


def _generation(instance: Instance) -> str:
    return f"generation {instance.generation}" if instance.generation else ""


def _cause(instance: Instance) -> str:
    cause = str(Instance.Cause(instance.cause).label)
    return f"{cause}, {instance.created_by}" if instance.created_by else cause


def _what_it_held(instance: Instance, latest: Attempt | None) -> list[Fact]:
    if latest is None:
        wanted = f"{instance.job.cores or 'no'} core{'s' if instance.job.cores > 1 else ''}"
        return [Fact("Asks for", wanted), *_memory(instance.job.memory_mb)]
    verb = "Holds" if latest.status != "ended" else "Held"
    note = "for itself" if latest.cores and not latest.virtual_cores else "shared, at lower priority"
    if not latest.cores and not latest.virtual_cores:
        note = "runs in the host process, beside others"
    held = Fact(verb, amounts.held(latest.cores, latest.virtual_cores) or "no core", note=note)
    return [Fact("Node", latest.node.name), held, *_memory(latest.memory_mb)]


def _memory(memory_mb: int) -> list[Fact]:
    return [Fact("Memory", f"{memory_mb:,} MB", note="reserved, and its limit")] if memory_mb else []


def _how_it_ended(attempt: Attempt) -> list[Fact]:
    found: list[Fact] = []
    if attempt.exit_code is not None:
        found.append(Fact("Exit code", str(attempt.exit_code)))
    if attempt.signal:
        found.append(Fact("Signal", amounts.signal_name(attempt.signal)))
    if attempt.duration_seconds is not None:
        found.append(Fact("Duration", amounts.duration(attempt.duration_seconds)))
    if attempt.cpu_seconds is not None:
        found.append(Fact("CPU time", amounts.duration(attempt.cpu_seconds), note=_cores_used(attempt)))
    if attempt.peak_memory_bytes is not None:
        found.append(Fact("Peak memory", amounts.size(attempt.peak_memory_bytes)))
    if attempt.descendants_ended:
        found.append(Fact("Descendants ended", str(attempt.descendants_ended), note=_whose(attempt)))
    return found


def _cores_used(attempt: Attempt) -> str:
    if not attempt.cpu_seconds or not attempt.duration_seconds:
        return ""
    if attempt.duration_seconds < LEAST_SECONDS:
        return f"cores: {TOO_SHORT}"
    return f"{attempt.cpu_seconds / attempt.duration_seconds:.2f} cores on average"


def _whose(attempt: Attempt) -> str:
    """A timed-out job did not leave its processes behind: they were ended with it."""
    if attempt.outcome in (OutcomeKind.TIMEOUT, OutcomeKind.CANCELLED):
        return "processes that it had started, ended with it"
    return "processes that it had started, still there when it was over"
