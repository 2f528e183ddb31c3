"""The list of what runs, on one node or on all: instances, and threads that were abandoned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from dashboard.presentation import amounts, looks
from dashboard.presentation.given import Told, told_by
from dashboard.presentation.held import Held, is_abandoned, running_among
from dashboard.presentation.looks import Look
from dashboard.presentation.rows import More, Row

MOST_SHOWN = 12


@dataclass(frozen=True, slots=True)
class RunningRow:
    """`expected_seconds` is the usual duration, else the time limit (`expected_by` says which), else None.

    `abandoned_at`: when its instance ended without its thread, which goes on; nobody knows until when.
    """

    instance_id: int
    job_id: int
    job_name: str
    look: Look
    held: str
    node: str
    attempt: int
    started_at: datetime
    expected_seconds: float | None
    expected_by: str
    told: Told | None
    expected_end: datetime | None
    stopping: bool
    abandoned_at: datetime | None = None

    @property
    def can_be_cancelled(self) -> bool:
        return not self.stopping and self.abandoned_at is None

    @property
    def shown_id(self) -> str:
        return str(self.instance_id)


def running_regions(attempts: Sequence[Held]) -> dict[str, Sequence[Row]]:
    """Regions running and running_more."""
    running, threads = running_among(attempts), [attempt for attempt in attempts if is_abandoned(attempt)]
    rows = [(f"i{one['instance_id']}", running_row(one)) for one in (*running[:MOST_SHOWN], *threads[:MOST_SHOWN])]
    more = [*_more(len(running), "more running", "status=running"), *_more(len(threads), "more abandoned threads")]
    return {"running": rows, "running_more": more}


def _more(count: int, words: str, query: str = "") -> list[Row]:
    return [(words, More(str(count - MOST_SHOWN), words, query))] if count > MOST_SHOWN else []


def running_row(attempt: Held) -> RunningRow:
    expected, by = expected_duration(attempt["instance__job__usual_seconds"], attempt["instance__job__timeout_seconds"])
    stopping = attempt["instance__cancel_requested_at"] is not None
    began_at = attempt["started_at"] or attempt["created_at"]
    row = RunningRow(
        instance_id=attempt["instance_id"],
        job_id=attempt["instance__job_id"],
        job_name=attempt["instance__job__name"],
        look=looks.STOPPING if stopping else looks.of_attempt(attempt["status"], ""),
        held=amounts.held(attempt["cores"], attempt["virtual_cores"]),
        node=attempt["node__name"],
        attempt=attempt["number"],
        started_at=began_at,
        expected_seconds=expected,
        expected_by=by,
        told=told_by(attempt["instance_id"], attempt["number"], attempt["token"]),
        expected_end=None if expected is None else began_at + timedelta(seconds=expected),
        stopping=stopping,
    )
    return _abandoned(row, attempt["abandoned_at"]) if is_abandoned(attempt) else row


def _abandoned(row: RunningRow, at: datetime) -> RunningRow:
    """Nobody knows when it returns, and nobody can end it."""
    unknown = replace(row, expected_seconds=None, expected_by="", told=None, expected_end=None)
    return replace(unknown, look=looks.ABANDONED, abandoned_at=at)


def expected_duration(usual: float | None, limit: float | None) -> tuple[float | None, str]:
    if usual is not None and (limit is None or usual <= limit):
        return usual, f"usually {amounts.duration(usual)}"
    return (limit, f"limit {amounts.duration(limit)}") if limit is not None else (None, "")
