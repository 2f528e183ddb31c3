"""The queue in its order, each with why it waits and when it should start."""

# ruff: noqa: ARG001 - Ninja hands the request to every operation

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import P, QueryEx, Router

from jobs import holds
from jobs.api import answers
from jobs.api.moments import iso
from jobs.api.shapes import hold_shape
from jobs.core.states import Status
from jobs.models import LARGE_OF_JOB, Instance

router = Router(tags=["instances"])


@router.get("/queue", response={200: list[answers.QueuedAnswer], **answers.REFUSALS})
def read_queue(request: HttpRequest, limit: QueryEx[int, P(ge=1, le=holds.LOOKED_THROUGH)] = 50) -> Any:
    """All that is due and has not started, the next one first; those of paused jobs keep their place."""
    queued = Instance.objects.filter(status=Status.QUEUED).select_related("job").order_by("order_key", "id")
    rows = list(queued.defer(*LARGE_OF_JOB, "job__description")[:limit])
    reasons = holds.explain(rows, timezone.now())
    return [
        {
            "instance_id": row.pk,
            "job_id": row.job_id,
            "job_name": row.job.name,
            "tenant": row.job.tenant,
            "queued_at": iso(row.queued_at),
            "cpu_cores_required": row.job.cores,
            "memory_mb_required": row.job.memory_mb,
            "hold": hold_shape(reasons.get(row.pk)),
        }
        for row in rows
    ]
