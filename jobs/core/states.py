"""Statuses of an instance and the only legal moves between them.

Everything that changes a status goes through `check_move`; the store repeats the same rule as a guarded update and
the database repeats it as a trigger, so that a terminal status can never change, whoever writes.
"""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Where an instance is in its life. The last six are terminal."""

    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    RETRYING = "retrying"
    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    UPSTREAM_FAILED = "upstream_failed"
    SKIPPED = "skipped"


class AttemptStatus(StrEnum):
    """`starting` is committed before any process exists; `running` once the runner has claimed it."""

    STARTING = "starting"
    RUNNING = "running"
    ENDED = "ended"


class OutcomeKind(StrEnum):
    """How one attempt ended."""

    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    LOST = "lost"
    MEMORY_EXCEEDED = "memory_exceeded"
    ENVIRONMENT_FAILED = "environment_failed"
    REJECTED = "rejected"


MOVES: dict[Status, frozenset[Status]] = {
    Status.PENDING: frozenset({Status.QUEUED, Status.CANCELLED, Status.UPSTREAM_FAILED, Status.SKIPPED, Status.FAILED}),
    Status.QUEUED: frozenset({Status.RUNNING, Status.CANCELLED, Status.SKIPPED, Status.FAILED}),
    Status.RUNNING: frozenset(
        {Status.SUCCESS, Status.FAILED, Status.TIMEOUT, Status.CANCELLED, Status.RETRYING, Status.QUEUED}
    ),
    Status.RETRYING: frozenset({Status.QUEUED, Status.CANCELLED, Status.FAILED}),
}

TERMINAL = frozenset(Status) - frozenset(MOVES)
LIVE = frozenset(MOVES)
WAITING = LIVE - {Status.RUNNING}
# What a fire would overlap with: an instance submitted for a later moment is not under way yet.
UNFINISHED = LIVE - {Status.PENDING}

ENDED_BY: dict[OutcomeKind, Status] = {
    OutcomeKind.SUCCESS: Status.SUCCESS,
    OutcomeKind.FAILED: Status.FAILED,
    OutcomeKind.TIMEOUT: Status.TIMEOUT,
    OutcomeKind.CANCELLED: Status.CANCELLED,
    OutcomeKind.LOST: Status.FAILED,
    OutcomeKind.MEMORY_EXCEEDED: Status.FAILED,
    OutcomeKind.ENVIRONMENT_FAILED: Status.FAILED,
    OutcomeKind.REJECTED: Status.FAILED,
}


class InvalidTransitionError(ValueError):
    """A move that the table above does not allow."""

    def __init__(self, current: Status, wanted: Status) -> None:
        self.current = current
        self.wanted = wanted
        allowed = ", ".join(sorted(MOVES.get(current, ()))) or "nothing: it has ended"
        super().__init__(
            f"an instance that is {current} cannot become {wanted}; from {current} it may become {allowed}"
        )


def check_move(current: Status, wanted: Status) -> None:
    """Raise InvalidTransitionError unless `current` -> `wanted` is in the table."""
    if wanted not in MOVES.get(current, frozenset()):
        raise InvalidTransitionError(current, wanted)
