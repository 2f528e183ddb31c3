"""What failed in the last day, by job."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from dashboard.presentation import looks
from dashboard.presentation.lastline import last_lines
from dashboard.presentation.looks import Look
from dashboard.presentation.rows import More, Regions
from dashboard.presentation.selections import failures

WINDOW = timedelta(days=1)
MOST_READ = 500
MOST_SHOWN = 10
FEW_CHARACTERS = 20  # a shorter line may stand in a reason by chance
QUERY = "status=failed&status=timeout&within=24h"


@dataclass(frozen=True, slots=True)
class FailureRow:
    """The latest failure of one job, with the last line that it printed. `count` says how many there were."""

    job_id: int
    job_name: str
    count: int
    instance_id: int
    look: Look
    ended_at: datetime
    error: str
    last_line: str


def read_failures(now: datetime) -> Regions:
    """Regions failures and failures_more. Two queries: the newest 500 failures along their index, and attempts."""
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
    shown = list(latest.items())[:MOST_SHOWN]
    lines = last_lines([pk for _, (_, pk, *_) in shown])
    rows = [(f"j{job_id}", _row(job_id, counts[job_id], lines.get(fields[1], ""), *fields)) for job_id, fields in shown]
    hidden = len(latest) - len(rows)
    more = [("more", More(str(hidden), "more jobs with failures", QUERY))] if hidden else []
    return {"failures": rows, "failures_more": more}


def _unsaid(line: str, error: str) -> str:
    """The last line, unless it says what the reason says: of what could not start, Rota printed just that."""
    plain = line.removeprefix("[rota] ").strip(" .").lower()
    if not error:
        return line
    said = error.strip(" .").lower()
    return "" if said in plain or (len(plain) >= FEW_CHARACTERS and plain in said) else line


def _row(job_id: int, count: int, line: str, name: str, pk: int, status: str, at: datetime, error: str) -> FailureRow:
    look = looks.of_instance(status, stopping=False)
    return FailureRow(job_id, name, count, pk, look, at, error, _unsaid(line, error))
