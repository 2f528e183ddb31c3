"""One sentence that says where an instance stands, or why it ended as it did."""

from __future__ import annotations

from dashboard.presentation import amounts
from jobs.core.states import OutcomeKind, Status
from jobs.models import Attempt, Instance


def sentence(instance: Instance, latest: Attempt | None, waits: str) -> str:
    """`waits` is the hold's sentence, for one that waits. Durations of what goes on are not in it: they tick beside."""
    status = Status(instance.status)
    if status in (Status.PENDING, Status.QUEUED, Status.RETRYING):
        return waits
    if status is Status.RUNNING:
        return _running(instance, latest)
    said = _ENDINGS[status](instance, latest)
    return f"{said} {_tries(instance)}".strip()


def _running(instance: Instance, latest: Attempt | None) -> str:
    where = _where(latest)
    if instance.cancel_requested_at:
        by = instance.cancel_requested_by or "somebody"
        return f"Being stopped{where}: {by} asked for it. Its processes are told to end, then killed."
    if latest is not None and latest.status == "starting":
        return f"Starting{where}."
    return f"Running{where}."


def _success(_: Instance, latest: Attempt | None) -> str:
    took = f" in {amounts.duration(latest.duration_seconds)}" if latest and latest.duration_seconds is not None else ""
    return f"Succeeded{took}{_where(latest)}."


def _failed(instance: Instance, latest: Attempt | None) -> str:
    if latest is not None and latest.outcome == OutcomeKind.LOST:
        return f"Lost: {_ended(instance.error.removeprefix('was lost: ')) or 'no reason was recorded.'}"
    return f"Failed: {_reason(instance)}"


def _timeout(instance: Instance, latest: Attempt | None) -> str:
    """By the words of the attempt: the job's limit may be another one by now."""
    said = _reason(instance) if instance.error else "it ran longer than its time limit and was ended."
    count = latest.descendants_ended if latest else 0
    others = f" The {count} processes that it had started were ended with it." if count > 1 else ""
    return f"Timed out: {said}{others}{_goes_on(latest)}"


def _cancelled(instance: Instance, latest: Attempt | None) -> str:
    by = f" by {instance.cancel_requested_by}" if instance.cancel_requested_by else ""
    if latest is None:
        return f"Cancelled{by} before it started."
    if latest.abandoned_at:
        return f"Cancelled{by}.{_goes_on(latest)}"
    return f"Cancelled{by}; no process of it is left."


def _goes_on(latest: Attempt | None) -> str:
    if latest is None or latest.abandoned_at is None:
        return ""
    if latest.token not in latest.node.abandoned:
        return " Its thread could not be ended, and has gone on for a while."
    return " Its thread could not be ended: what it holds is free only once it has returned by itself."


def _skipped(instance: Instance, _: Attempt | None) -> str:
    return f"Skipped: {_reason(instance)}"


def _upstream_failed(instance: Instance, _: Attempt | None) -> str:
    return f"Did not run, because what it depends on failed: {_reason(instance)}"


_ENDINGS = {
    Status.SUCCESS: _success,
    Status.FAILED: _failed,
    Status.TIMEOUT: _timeout,
    Status.CANCELLED: _cancelled,
    Status.SKIPPED: _skipped,
    Status.UPSTREAM_FAILED: _upstream_failed,
}


def _reason(instance: Instance) -> str:
    if instance.error:
        return _ended(_with_subject(instance.error.strip()))
    if instance.signal:
        return f"it was ended by {amounts.signal_name(instance.signal)}."
    if instance.exit_code is not None:
        return f"it exited with code {instance.exit_code}."
    return "no reason was recorded."


def _with_subject(reason: str) -> str:
    """Reasons are told of the attempt, as in "exited with code 3"."""
    first = reason.partition(" ")[0]
    if first == "killed":
        return f"it was {reason}"
    return f"it {reason}" if first in ("exited", "ran", "was", "could") else reason


def _ended(text: str) -> str:
    """With a full stop, as a sentence."""
    text = text.strip()
    return text if not text or text[-1] in ".!?" else f"{text}."


def _where(attempt: Attempt | None) -> str:
    if attempt is None:
        return ""
    held = amounts.held(attempt.cores, attempt.virtual_cores)
    return f" on {held} of {attempt.node.name}" if held else f" on {attempt.node.name}"


def _tries(instance: Instance) -> str:
    return f"It took {instance.attempt_count} attempts." if instance.attempt_count > 1 else ""
