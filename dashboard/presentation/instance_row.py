"""One instance as a row of a list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dashboard.presentation import amounts, looks
from dashboard.presentation.looks import Look
from jobs.core.states import TERMINAL
from jobs.models import Instance


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


def facts_of(instance: Instance) -> dict[str, Any]:
    """The fields of an InstanceRow by name, for it and for rows that say more."""
    stopping, ended = instance.cancel_requested_at is not None, instance.status in TERMINAL
    began_at, ended_at = instance.started_at, instance.ended_at
    return {
        "instance_id": instance.pk,
        "look": looks.of_instance(instance.status, stopping=stopping),
        "cause": str(Instance.Cause(instance.cause).label),
        "at": ended_at or began_at or instance.due_at,
        "seconds": (ended_at - began_at).total_seconds() if began_at and ended_at else None,
        "attempts": instance.attempt_count,
        "error": instance.error,
        "can_cancel": not ended and not stopping,
        "can_retry": ended,
    }


def instance_row(instance: Instance) -> InstanceRow:
    return InstanceRow(**facts_of(instance))
