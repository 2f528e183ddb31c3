"""The attempts of an instance, each a tab: how it ended, and what is known of it alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from dashboard.presentation import amounts, looks
from dashboard.presentation.conditions import ran_rows
from dashboard.presentation.facts import facts
from dashboard.presentation.given import given_rows
from dashboard.presentation.looks import Look
from dashboard.presentation.rows import Gone, Regions, Row
from jobs.models import Attempt


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


def read_attempt(instance_id: int, number: int, now: datetime) -> Regions:  # noqa: ARG001 - what all readers are given
    """Regions facts:NUMBER, ran:NUMBER, given:NUMBER. Raises Gone."""
    found = Attempt.objects.select_related("node", "instance__job", "instance__node")
    attempt = found.defer("instance__job__body", "instance__job__environment").filter(
        instance_id=instance_id, number=number
    ).first()  # fmt: skip
    if attempt is None:
        raise Gone(f"Attempt {number} of instance {instance_id} does not exist (any more).")
    return {
        f"facts:{number}": [(fact.label, fact) for fact in facts(attempt.instance, attempt)],
        f"ran:{number}": ran_rows(attempt),
        f"given:{number}": given_rows(attempt),
    }


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
