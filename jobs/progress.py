"""How far a backfill has got, in numbers and in a sentence: made when somebody looks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
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
    return progress_of_all([backfill])[0]


def progress_of_all(found: Sequence[Backfill]) -> list[Progress]:
    """Of each, in four queries for all and two more for each that runs."""
    rows = Instance.objects.filter(backfill__in=found)
    instances: defaultdict[int | None, dict[str, int]] = defaultdict(dict)
    for backfill_id, status, count in rows.values_list("backfill", "status").annotate(Count("pk")).order_by("status"):
        instances[backfill_id][status] = count
    live = set(rows.filter(status__in=LIVE).values_list("backfill", "logical_at"))
    # Counted in the database: of a long backfill there may be a hundred thousand.
    gone = rows.filter(status=Status.CANCELLED)
    cancelled = Counter(dict(gone.values_list("backfill").annotate(Count("logical_at", distinct=True))))
    still_live = live & set(gone.filter(logical_at__in={at for _, at in live}).values_list("backfill", "logical_at"))
    cancelled -= Counter(backfill_id for backfill_id, _ in still_live)
    under_way = Counter(backfill_id for backfill_id, _ in live)
    return [_progress(one, instances[one.pk], under_way[one.pk], cancelled[one.pk]) for one in found]


def _progress(backfill: Backfill, instances: dict[str, int], live: int, cancelled: int) -> Progress:
    done = max(0, backfill.made - live - cancelled)
    return Progress(_sentence(backfill, done, cancelled, live, instances), instances, backfill.made, done)


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
