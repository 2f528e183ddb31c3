"""How a status looks: a word, an icon and a tone, defined once. Colour is never the only sign."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.core.states import OutcomeKind, Status


@dataclass(frozen=True, slots=True)
class Look:
    """`icon` is a name in static/dashboard/icons.svg, `tone` one of the tones in static/dashboard/tokens.css."""

    word: str
    icon: str
    tone: str


STATUSES = {
    Status.PENDING: Look("pending", "clock", "quiet"),
    Status.QUEUED: Look("queued", "hourglass", "wait"),
    Status.RUNNING: Look("running", "running", "run"),
    Status.RETRYING: Look("retrying", "retry", "warn"),
    Status.SUCCESS: Look("success", "check", "good"),
    Status.FAILED: Look("failed", "cross", "bad"),
    Status.TIMEOUT: Look("timeout", "alarm", "bad"),
    Status.CANCELLED: Look("cancelled", "stop", "quiet"),
    Status.UPSTREAM_FAILED: Look("upstream failed", "broken", "bad"),
    Status.SKIPPED: Look("skipped", "skip", "quiet"),
}
STOPPING = Look("stopping", "stop", "warn")
STARTING = Look("starting", "running", "run")
ABANDONED = Look("abandoned", "warn", "warn")  # a thread that runs on when its instance has ended

OUTCOMES = {
    OutcomeKind.SUCCESS: STATUSES[Status.SUCCESS],
    OutcomeKind.FAILED: STATUSES[Status.FAILED],
    OutcomeKind.TIMEOUT: STATUSES[Status.TIMEOUT],
    OutcomeKind.CANCELLED: STATUSES[Status.CANCELLED],
    OutcomeKind.LOST: Look("lost", "broken", "bad"),
    OutcomeKind.MEMORY_EXCEEDED: Look("memory exceeded", "cross", "bad"),
    OutcomeKind.ENVIRONMENT_FAILED: Look("environment failed", "cross", "bad"),
    OutcomeKind.REJECTED: Look("rejected", "cross", "bad"),
}

# By the status of a backfill.
BACKFILLS = {
    "running": STATUSES[Status.RUNNING],
    "done": Look("done", "check", "good"),
    "cancelled": STATUSES[Status.CANCELLED],
}


def of_instance(status: str, *, stopping: bool) -> Look:
    """`stopping`: somebody has asked for its end."""
    return STOPPING if stopping and status == Status.RUNNING else STATUSES[Status(status)]


def of_attempt(status: str, outcome: str) -> Look:
    if outcome:
        return OUTCOMES[OutcomeKind(outcome)]
    return STARTING if status == "starting" else STATUSES[Status.RUNNING]
