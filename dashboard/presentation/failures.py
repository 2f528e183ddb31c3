"""What failed in the last day, by job."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from dashboard.presentation import looks
from dashboard.presentation.looks import Look
from dashboard.presentation.nodes import More
from dashboard.presentation.rows import Regions
from dashboard.presentation.selections import failures

WINDOW = timedelta(days=1)
MOST_READ = 500
MOST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class FailureRow:
    """The latest failure of one job. `count` says how many there were, `instance_id` and `error` are the latest's."""

    job_id: int
    job_name: str
    count: int
    instance_id: int
    look: Look
    ended_at: datetime
    error: str


def read_failures(now: datetime) -> Regions:
    """Regions failures and failures_more. One query, along its index, of the newest 500 failures."""
    failed = list(
        failures()
        .filter(ended_at__gt=now - WINDOW)
        .order_by("-ended_at")
        .values_list("job_id", "job__name", "id", "status", "ended_at", "error")[:MOST_READ]
    )
    counts: dict[int, int] = {}
    latest: dict[int, tuple[Any, ...]] = {}
    for job_id, *rest in failed:
        counts[job_id] = counts.get(job_id, 0) + 1
        latest.setdefault(job_id, tuple(rest))
    rows = [
        (
            f"j{job_id}",
            FailureRow(job_id, name, counts[job_id], pk, looks.of_instance(status, stopping=False), at, error),
        )
        for job_id, (name, pk, status, at, error) in list(latest.items())[:MOST_SHOWN]
    ]
    hidden = len(latest) - len(rows)
    more = [("more", More(str(hidden), "more jobs with failures"))] if hidden else []
    return {"failures": rows, "failures_more": more}
