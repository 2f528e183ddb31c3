"""Fires that made no instance, newest first: from the events that were written with the fire."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jobs.models import Event

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
    return [
        SkippedFire(
            event_id=pk,
            at=at,
            logical_at=datetime.fromisoformat(data["logical_at"]),
            code=data.get("code", "overlap"),  # those of earlier versions had no other cause
            reason=data["reason"],
            count=data.get("count", 1),
        )
        for pk, at, data in rows.values_list("id", "at", "data")[:most]
    ]
