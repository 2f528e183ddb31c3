"""How far an action on many instances is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.acts import ACTS
from dashboard.models import BulkOperation
from dashboard.presentation.looks import Look
from dashboard.presentation.rows import Gone, Regions

MOST_SHOWN = 5

RUNNING = Look("running", "running", "run")
STOPPING = Look("stopping", "stop", "warn")
INTERRUPTED = Look("interrupted", "broken", "bad")
STOPPED = Look("stopped", "stop", "quiet")
DONE = Look("done", "check", "good")


@dataclass(frozen=True, slots=True)
class OperationRow:
    """`passed` of `total` were come to; `done` of those were changed."""

    operation_id: int
    title: str
    look: Look
    actor: str
    passed: int
    total: int
    sentence: str
    refusal: str
    created_at: datetime
    can_stop: bool
    can_continue: bool

    @property
    def shown_id(self) -> str:
        return str(self.operation_id)


def read_operation(operation_id: int, now: datetime) -> Regions:
    """Region operation. One query. Raises Gone."""
    found = BulkOperation.objects.defer("ids").filter(pk=operation_id).first()
    if found is None:
        raise Gone(f"Operation {operation_id} does not exist.")
    return {"operation": [("operation", row(found, now))]}


def read_unended(now: datetime) -> Regions:
    """Region operations: what is going on, and what was interrupted. One query."""
    found = BulkOperation.objects.defer("ids").filter(ended_at=None).order_by("-pk")[:MOST_SHOWN]
    return {"operations": [(f"o{one.pk}", row(one, now)) for one in found]}


def row(one: BulkOperation, now: datetime) -> OperationRow:
    look, passed = _look(one, now), one.done + one.unchanged
    return OperationRow(
        operation_id=one.pk,
        title=title_of(one),
        look=look,
        actor=one.actor,
        passed=min(passed, one.total) if one.ended_at is None or look is STOPPED else one.total,
        total=one.total,
        sentence=_sentence(one, look),
        refusal=one.refusal,
        created_at=one.created_at,
        can_stop=look in (RUNNING, INTERRUPTED),
        can_continue=look is INTERRUPTED,
    )


def title_of(one: BulkOperation) -> str:
    """Such as "Cancel 3 instances", 'Add tag “etl” to 12 jobs'."""
    word = ACTS[one.subject, one.action].word
    if one.detail:
        word = word.replace("tag", f"tag \N{LEFT DOUBLE QUOTATION MARK}{one.detail}\N{RIGHT DOUBLE QUOTATION MARK}", 1)
    return f"{word} {one.total:,} {one.subject}{'' if one.total == 1 else 's'}"


def is_under_way(regions: Regions) -> bool:
    """Whether any of the operations may still change."""
    return any(shown.can_stop or shown.look is STOPPING for rows in regions.values() for _, shown in rows)


def _look(one: BulkOperation, now: datetime) -> Look:
    if one.ended_at is not None:
        return STOPPED if one.stop_asked_at else DONE
    if one.is_silent(now):
        return INTERRUPTED
    return STOPPING if one.stop_asked_at else RUNNING


def _sentence(one: BulkOperation, look: Look) -> str:
    said = f"{one.done:,} of {one.total:,} {ACTS[one.subject, one.action].did}."
    if one.unchanged:
        said += f" {one.unchanged:,} {'was' if one.unchanged == 1 else 'were'} left as {_they(one)}."
    if look is DONE and one.total > one.done + one.unchanged:
        said += " The others had changed before their turn came, and do not match any more."
    if look is INTERRUPTED:
        said += " The process that worked on it has ended; continue it, and it goes on where it was."
    return said


def _they(one: BulkOperation) -> str:
    return "it was" if one.unchanged == 1 else "they were"
