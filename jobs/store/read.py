"""Rows as the frozen records that the engine takes in."""

from __future__ import annotations

from collections.abc import Iterable

from jobs import models
from jobs.core import records
from jobs.core.states import Status


def job(row: models.Job) -> records.Job:
    """The definition as decisions need it."""
    return records.Job(
        id=row.pk,
        revision=row.revision,
        name=row.name,
        demand=records.Demand(row.cores, row.memory_mb),
        priority=row.priority,
        timeout_seconds=row.timeout_seconds,
        retry=records.RetryPolicy(
            row.max_retries, row.retry_delay_seconds, row.retry_max_delay_seconds, row.retry_jitter
        ),
        paused=row.paused,
        usual_seconds=row.usual_seconds,
    )


def jobs(ids: Iterable[int]) -> list[records.Job]:
    """Without those that are gone."""
    return [job(row) for row in models.Job.objects.filter(pk__in=set(ids)).defer("body", "description")]


def instance(row: models.Instance) -> records.Instance:
    return records.Instance(
        id=row.pk,
        job_id=row.job_id,
        status=Status(row.status),
        logical_at=row.logical_at,
        due_at=row.due_at,
        generation=row.generation,
        schedule_id=row.schedule_id,
        queued_at=row.queued_at,
        order_key=row.order_key,
        attempts=row.attempt_count,
        lost_attempts=row.lost_count,
        retry_at=row.retry_at,
        cancel_requested=row.cancel_requested_at is not None,
    )
