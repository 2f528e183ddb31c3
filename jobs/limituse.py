"""Limits as they stand at one moment: what is in use of each, how many wait, what is in the bucket."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count

from jobs.core.limits import model_key, tag_key
from jobs.core.states import Status
from jobs.models import Instance, Job, Limit
from jobs.store import limits


@dataclass(frozen=True, slots=True)
class LimitUse:
    """`in_use` of `limit.maximum` run, or have ended while their threads go on; of a rate `tokens` are there, and the
    next start is at `ready_at`.

    `waiting`: queued instances that it applies to, whatever else holds them.
    """

    limit: Limit
    waiting: int
    in_use: int | None = None
    tokens: float | None = None
    ready_at: datetime | None = None


def uses(rows: Iterable[Limit], now: datetime) -> list[LimitUse]:
    """Four queries beside that for the limits, and one more where there are abandoned threads."""
    running = limits.in_use(now)
    queued = Instance.objects.filter(status=Status.QUEUED).order_by().values_list("job").annotate(count=Count("id"))
    counts: dict[int, int] = dict(queued)
    waiting: Counter[str] = Counter()
    rates: Counter[str] = Counter()
    for job in Job.objects.filter(pk__in=counts).only("tags", "execution_model", "rates"):
        waiting.update(dict.fromkeys(limits.keys_of(job), counts[job.pk]))
        rates.update(dict.fromkeys(job.rates, counts[job.pk]))
    return [_use(row, running, waiting, rates, now) for row in rows]


def _use(row: Limit, running: Counter[str], waiting: Counter[str], rates: Counter[str], now: datetime) -> LimitUse:
    if row.kind == Limit.Kind.RATE:
        rate = limits.rate_of(row)
        return LimitUse(row, rates[row.name], tokens=rate.left(now), ready_at=rate.ready_at(now))
    key = tag_key(row.name) if row.kind == Limit.Kind.TAG else model_key(row.name)
    return LimitUse(row, waiting[key], in_use=running[key])
