"""Limits that all nodes share, read for the engine and checked again in the transaction of a start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import connection

from jobs import models
from jobs.core.buckets import GREATEST_BURST, GREATEST_RATE, LEAST_RATE, Bucket, Tokens
from jobs.core.decisions import Start
from jobs.core.inputs import LimitsChanged
from jobs.core.limits import Rate, job_key, model_key, tag_key
from jobs.core.states import Status
from jobs.holding import of_threads

# Any fixed number, the same for every node: starts that take of a limit are decided one transaction after the other.
CLAIM_LOCK = 0x524F544C
# What `keys_of` an instance's job are read from.
_KEY_FIELDS = ("job__tags", "job__execution_model")


def load() -> LimitsChanged:
    """All limits as the engine is told of them."""
    maxima: dict[str, int] = {}
    rates: dict[str, Rate] = {}
    for row in models.Limit.objects.all():
        if row.kind == models.Limit.Kind.RATE:
            rates[row.name] = rate_of(row)
        elif row.maximum is not None:
            maxima[(tag_key if row.kind == models.Limit.Kind.TAG else model_key)(row.name)] = row.maximum
    return LimitsChanged(maxima, rates)


def keys_of(job: models.Job) -> tuple[str, ...]:
    """Every limit on how many run at once that could hold for the job."""
    return (job_key(job.pk), *(tag_key(tag) for tag in job.tags), model_key(job.execution_model))


def take_turn(starts: Iterable[Start]) -> None:
    """Let transactions that start what is limited go one after the other, until each commits.

    The first thing that such a transaction locks: one that held rows and then waited here could deadlock with another.
    """
    if connection.vendor == "postgresql" and any(start.limits or start.rates for start in starts):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CLAIM_LOCK])


def claim(starts: Sequence[Start], at: datetime) -> set[int]:
    """Take what the starts need of limits, and return the ids of those for which another node was first.

    Call in the transaction of the starts, before they are written, and after `take_turn`.
    """
    limited = _that_can_start([start for start in starts if start.limits or start.rates])
    if not limited:
        return set()
    maxima = dict(load().maxima) | _job_maxima(limited)
    running = in_use(at) if any(start.limits for start in limited) else Counter()
    buckets = {row.name: row for row in _buckets(limited)}
    refused: set[int] = set()
    for start in limited:
        full = any(running[key] >= maxima[key] for key in start.limits if key in maxima)
        if full or not _take(start, buckets, at):
            refused.add(start.instance_id)
        else:
            running.update(start.limits)
    for row in buckets.values():
        row.save(update_fields=["tokens", "refilled_at"])
    return refused


def _that_can_start(starts: Sequence[Start]) -> list[Start]:
    """What another node has started, or somebody cancelled or edited meanwhile, is refused anyway: it takes nothing.

    Two nodes that want the same instance would take two tokens for one start otherwise.
    """
    rows = models.Instance.objects.filter(
        pk__in={start.instance_id for start in starts}, status=Status.QUEUED, job__paused_at=None
    )
    as_it_is = {pk: rest for pk, *rest in rows.values_list("pk", "attempt_count", "job__revision")}
    return [start for start in starts if as_it_is.get(start.instance_id) == [start.attempt - 1, start.job_revision]]


def _job_maxima(starts: Iterable[Start]) -> dict[str, int]:
    rows = models.Job.objects.filter(pk__in={start.job_id for start in starts}, max_running__isnull=False)
    return {job_key(pk): maximum for pk, maximum in rows.values_list("pk", "max_running") if maximum is not None}


def in_use(now: datetime) -> Counter[str]:
    """How many run, on any node, or have ended without their threads, by the keys of all limits that could hold for
    them. Two queries, and one more where there are such threads.
    """
    running = models.Instance.objects.filter(status=Status.RUNNING).select_related("job").only(*_KEY_FIELDS)
    attempts = models.Attempt.objects.exclude(instance__status=Status.RUNNING).select_related("instance__job")
    fields = (f"instance__{field}" for field in _KEY_FIELDS)
    threads = of_threads(attempts.only(*fields), models.Node.objects.defer("equipment"), now)
    jobs = [*(instance.job for instance in running), *(attempt.instance.job for attempt in threads)]
    return Counter(key for job in jobs for key in keys_of(job))


def _buckets(starts: Iterable[Start]) -> Iterable[models.Limit]:
    names = {name for start in starts for name in start.rates}
    return models.Limit.objects.select_for_update().filter(kind=models.Limit.Kind.RATE, name__in=names)


def _take(start: Start, buckets: dict[str, models.Limit], at: datetime) -> bool:
    wanted = [buckets[name] for name in start.rates if name in buckets]
    rates = [rate_of(row) for row in wanted]
    if any(rate.ready_at(at) > at for rate in rates):
        return False
    for row, rate in zip(wanted, rates, strict=True):
        left = rate.less_one(at).tokens
        if left is not None:
            row.tokens, row.refilled_at = left.count, left.at
    return True


def rate_of(row: models.Limit) -> Rate:
    """The bucket with what is in it. Numbers written past the validation are taken as the nearest that make sense."""
    per_second = min(max(row.rate_per_second or 0.0, LEAST_RATE), GREATEST_RATE)
    bucket = Bucket(per_second, min(row.burst or 1, GREATEST_BURST))
    if row.tokens is None or row.refilled_at is None:
        return Rate(bucket)
    return Rate(bucket, Tokens(row.tokens, row.refilled_at))
