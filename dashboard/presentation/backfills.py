"""The backfills of a job, and how far each has got."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.presentation import looks
from dashboard.presentation.looks import Look
from dashboard.presentation.rows import Gone, Regions
from jobs.models import Backfill, Job
from jobs.progress import Progress, progress_of_all

SHOWN = 20


@dataclass(frozen=True, slots=True)
class BackfillRow:
    """`done` of `dates` are done."""

    backfill_id: int
    look: Look
    first_at: datetime
    last_at: datetime
    dates: int
    done: int
    sentence: str
    is_running: bool

    @property
    def shown_id(self) -> str:
        return str(self.backfill_id)


def read_backfills(job_id: int, now: datetime) -> Regions:  # noqa: ARG001 - as all are read
    """Region backfills, newest first. Raises Gone."""
    if not Job.objects.filter(pk=job_id).exists():
        raise Gone(f"Job {job_id} does not exist; it may have been deleted.")
    found = list(Backfill.objects.filter(job=job_id).order_by("-pk")[:SHOWN])
    progresses = progress_of_all(found)
    return {"backfills": [(f"b{one.pk}", _row(one, done)) for one, done in zip(found, progresses, strict=True)]}


def any_runs(regions: Regions) -> bool:
    return any(row.is_running for _, row in regions["backfills"])


def _row(one: Backfill, progress: Progress) -> BackfillRow:
    return BackfillRow(
        one.pk,
        looks.BACKFILLS[one.status],
        one.first_at,
        one.last_at,
        one.dates,
        progress.done,
        progress.sentence,
        one.status == Backfill.Status.RUNNING,
    )
