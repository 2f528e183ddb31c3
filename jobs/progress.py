"""How far a backfill has got, in numbers and in a sentence: made when somebody looks."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from jobs.core.states import LIVE, Status
from jobs.models import Backfill, Instance
from jobs.store import backfills


@dataclass(frozen=True, slots=True)
class Progress:
    """`instances`: how many there are by status. `ended`: dates of which every instance has ended."""

    sentence: str
    instances: dict[str, int]
    made: int
    ended: int


def progress_of(backfill: Backfill) -> Progress:
    rows = Instance.objects.filter(backfill=backfill)
    instances = dict(rows.values_list("status").annotate(Count("pk")).order_by("status"))
    live = rows.filter(status__in=LIVE).values("logical_at").distinct().count() if LIVE & instances.keys() else 0
    ended = max(0, backfill.made - live)
    return Progress(_sentence(backfill, ended, live, instances), instances, backfill.made, ended)


def _sentence(backfill: Backfill, ended: int, live: int, instances: dict[str, int]) -> str:
    failed = sum(instances.get(status, 0) for status in (Status.FAILED, Status.TIMEOUT, Status.UPSTREAM_FAILED))
    faults = f", {failed:,} instances did not succeed" if failed else ""
    of = f"{ended:,} of {backfill.dates:,} dates done{faults}"
    if backfill.status == Backfill.Status.DONE:
        left = backfill.dates - backfill.made
        there = f"; {left:,} had their instances already" if left > 0 else ""
        return f"{of}{there}."
    if backfill.status == Backfill.Status.CANCELLED:
        return f"Cancelled: {of}."
    dates = backfills.dates_of(backfill.job_id)
    held_by = backfills.held_by(backfill, dates.members) if dates and backfill.next_at else None
    if held_by is not None and live < backfill.concurrency:
        return f"{of}; the next waits for instance {held_by}, which the schedule made."
    return f"{of}; {live:,} under way."
