"""Fires that made no instance, newest first: from the events that were written with the fire."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, QuerySet, Subquery

from jobs.models import Event, Job

KIND = "schedule.skipped"


@dataclass(frozen=True, slots=True)
class SkippedFire:
    """`count` fires, the first of them due at `logical_at`, noted at `at`. `code` says why for programs, `reason` for
    people; event_id is where the next page begins."""

    event_id: int
    at: datetime
    logical_at: datetime
    code: str
    reason: str
    count: int


def recent(job_id: int, most: int, *, before: int | None = None) -> list[SkippedFire]:
    """One query along the index event_skipped. `before`: only those with a smaller event_id."""
    rows = Event.objects.filter(job_id=job_id, kind=KIND).order_by("-id")
    if before is not None:
        rows = rows.filter(id__lt=before)
    return [skip for _, skip in _read(rows[:most])]


def latest(job_ids: Collection[int]) -> dict[int, SkippedFire]:
    """The latest of each of these jobs that has any. Two queries along the index event_skipped."""
    newest = Event.objects.filter(job_id=OuterRef("pk"), kind=KIND).order_by("-id").values("id")[:1]
    jobs = Job.objects.filter(pk__in=job_ids).annotate(newest_skip=Subquery(newest)).order_by()
    ids = [pk for pk in jobs.values_list("newest_skip", flat=True) if pk is not None]
    return dict(_read(Event.objects.filter(pk__in=ids)))


def _read(rows: QuerySet[Event]) -> list[tuple[int, SkippedFire]]:
    return [
        (
            job_id,
            SkippedFire(
                event_id=pk,
                at=at,
                logical_at=datetime.fromisoformat(data["logical_at"]),
                code=data.get("code", "overlap"),  # those of earlier versions had no other cause
                reason=data["reason"],
                count=data.get("count", 1),
            ),
        )
        for job_id, pk, at, data in rows.values_list("job_id", "id", "at", "data")
        if job_id is not None
    ]
