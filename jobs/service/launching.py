"""From a committed start to what the executor needs to know."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.conf import settings

from jobs import models
from jobs.core.records import Allocation
from jobs.execution.local import Launch

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Launcher:
    """Builds launches for one node. `real` are the core ids that exist: what holds another is not pinned."""

    node_name: str
    real: frozenset[int]

    def launches(self, tokens: Iterable[str]) -> list[Launch]:
        """For attempts that are `starting` in the store. One query, whatever their number."""
        rows = models.Attempt.objects.filter(token__in=list(tokens)).select_related("instance__job")
        return [self._launch(row) for row in rows.order_by("pk")]

    def _launch(self, attempt: models.Attempt) -> Launch:
        instance, job = attempt.instance, attempt.instance.job
        keep = settings.KEEP_WORKSPACES if job.keep_workspace is None else job.keep_workspace
        return Launch(
            instance_id=instance.pk,
            job_id=job.pk,
            job_name=job.name,
            attempt=attempt.number,
            token=attempt.token,
            kind=job.kind,
            body=job.body,
            allocation=Allocation(tuple(attempt.cores), attempt.virtual_cores, attempt.memory_mb),
            timeout_seconds=job.timeout_seconds,
            kill_grace_seconds=job.kill_grace_seconds,
            memory_limit_mb=attempt.memory_mb,
            env=dict(job.environment),
            logical_at=instance.logical_at,
            keep_workspace=keep,
            log_cap_bytes=settings.LOG_CAP_MB * MEGABYTE,
        )
