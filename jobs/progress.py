"""How far a backfill has got, in numbers and in a sentence: made when somebody looks."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from jobs.core.states import LIVE, Status
from jobs.models import Backfill, Instance
from jobs.store import backfills


@dataclass(frozen=True, slots=True)
class Progress:
    """`instances`: how many there are by status. `done`: dates whose instances all ended, none by a cancel."""

    sentence: str
    instances: dict[str, int]
    made: int
    done: int


def progress_of(backfill: Backfill) -> Progress:
    rows = Instance.objects.filter(backfill=backfill)
    instances = dict(rows.values_list("status").annotate(Count("pk")).order_by("status"))
    live = set(rows.filter(status__in=LIVE).values_list("logical_at", flat=True))
    cancelled = set(rows.filter(status=Status.CANCELLED).values_list("logical_at", flat=True)) - live
    done = max(0, backfill.made - len(live) - len(cancelled))
    return Progress(_sentence(backfill, done, len(cancelled), len(live), instances), instances, backfill.made, done)


def _sentence(backfill: Backfill, done: int, cancelled: int, live: int, instances: dict[str, int]) -> str:
    failed = sum(instances.get(status, 0) for status in (Status.FAILED, Status.TIMEOUT, Status.UPSTREAM_FAILED))
    faults = f", {failed:,} instances did not succeed" if failed else ""
    of = f"{done:,} of {backfill.dates:,} dates done"
    of += (f", {cancelled:,} cancelled" if cancelled else "") + faults
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
