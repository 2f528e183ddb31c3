"""Rows as the frozen records that the engine takes in."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from django.db import connection

from jobs import models
from jobs.core import records
from jobs.core.known import USUAL_OF_LAST
from jobs.core.states import Status

# Looked through for the usual duration: a job that failed a hundred thousand times must not cost a scan of them all.
RECENT_INSTANCES = 100

_DURATIONS = f"""
    SELECT a.duration_seconds FROM (
        SELECT id FROM jobs_instance WHERE job_id = %s ORDER BY id DESC LIMIT {RECENT_INSTANCES}
    ) AS recent JOIN jobs_attempt a ON a.instance_id = recent.id
    WHERE a.outcome = 'success' AND a.duration_seconds IS NOT NULL ORDER BY a.id DESC LIMIT {USUAL_OF_LAST}
"""


def usual_seconds(job_id: int) -> float | None:
    """The median duration of the job's last successes; None before the first."""
    with connection.cursor() as cursor:
        cursor.execute(_DURATIONS, [job_id])
        durations = [row[0] for row in cursor.fetchall()]
    return median(durations) if durations else None


def job(row: models.Job) -> records.Job:
    """The definition as decisions need it, with the job's usual duration (one query)."""
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
        usual_seconds=usual_seconds(row.pk),
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
