"""Workflows: the jobs that wait for each other, their dates, and running them as one."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import P, QueryEx, Router, Status

from jobs import actions
from jobs.actions import NotFound
from jobs.api import answers
from jobs.api.auth import actor_of
from jobs.api.idempotency import DESCRIBED, idempotent
from jobs.api.moments import iso
from jobs.api.shapes import schedule_of, words_of
from jobs.api.strict import identifier
from jobs.models import Instance, Job
from jobs.store import grids

router = Router(tags=["workflows"])


@router.get("/workflows/{job_id}", response={200: answers.WorkflowAnswer, **answers.REFUSALS})
def read_workflow(
    request: HttpRequest,
    response: HttpResponse,
    job_id: str,
    before: QueryEx[str | None, P(description="Only logical dates before this moment.")] = None,
    limit: QueryEx[int, P(ge=1, le=grids.MOST_DATES, description="How many dates.")] = 30,
) -> Any:
    """The workflow that the job is part of, upstreams first, with the latest generation of each of its latest dates."""
    number = identifier("job", job_id)
    earlier = actions.read_date(number, "before", before) if before else None
    grid = grids.grid(number, limit, earlier)
    if grid is None:
        raise NotFound("job", number)
    if grid.older is not None:
        query = request.GET.copy()
        query["before"] = grid.older.isoformat()
        response.headers["Link"] = f'<{request.build_absolute_uri(request.path)}?{query.urlencode()}>; rel="next"'
    root = next((job for job in grid.jobs if schedule_of(job) is not None and not grid.graph.upstreams(job.pk)), None)
    return {
        "job_id": number,
        "schedule": words_of(schedule_of(root) if root else None),
        "dates": [iso(date) for date in grid.dates],
        "jobs": [_job(job, grid) for job in grid.jobs],
    }


@router.post(
    "/workflows/{job_id}/run", response={201: answers.WorkflowRun, **answers.REFUSALS}, openapi_extra=DESCRIBED
)
@idempotent
def run_workflow(
    request: HttpRequest,
    job_id: str,
    logical_at: QueryEx[str | None, P(description="The logical date of all of them; now unless given.")] = None,
) -> Any:
    """One instance of each job of the workflow, for one logical date; the next generation where it has some already."""
    number = identifier("job", job_id)
    date = actions.read_date(number, "logical_at", logical_at) if logical_at else None
    run = actions.run_job(number, actor=actor_of(request), now=timezone.now(), scope="workflow", logical_at=date)
    return Status(201, _made([run.instance_id, *run.also]))


@router.post(
    "/instances/{instance_id}/retry-from-here",
    response={200: answers.RetriedAnswer, 201: answers.RetriedAnswer, **answers.REFUSALS},
    openapi_extra=DESCRIBED,
)
@idempotent
def retry_from_here(request: HttpRequest, instance_id: str) -> Any:
    """New instances of its job and of all that waits for it, directly or not, for its logical date.

    409 while one of them is queued or runs. 200 with what is under way when it was asked for before.
    """
    number = identifier("instance", instance_id)
    retry = actions.retry_from_here(number, actor=actor_of(request), now=timezone.now())
    date = Instance.objects.values_list("logical_at", flat=True).get(pk=retry.instance_id)
    answer = {
        "instance_id": retry.instance_id,
        "job_id": retry.job_id,
        "logical_at": iso(date),
        "is_new": retry.is_new,
        "also": retry.also,
    }
    return Status(201 if retry.is_new else 200, answer)


def _job(job: Job, grid: grids.Grid) -> dict[str, Any]:
    return {
        "job_id": job.pk,
        "name": job.name,
        "depends_on": grid.graph.upstreams(job.pk),
        "upstream_rule": job.upstream_rule,
        "not_before": job.not_before,
        "paused": job.paused,
        "dates": {str(iso(date)): _square(row) for date in grid.dates if (row := grid.latest.get((job.pk, date)))},
    }


def _square(instance: Instance) -> dict[str, Any]:
    return {
        "instance_id": instance.pk,
        "status": instance.status,
        "generation": instance.generation,
        "first_cause": instance.blame_id,
    }


def _made(ids: list[int]) -> dict[str, Any]:
    rows = list(Instance.objects.filter(pk__in=ids).order_by("pk").values_list("job__name", "pk", "logical_at"))
    return {"logical_at": iso(rows[0][2]), "instances": {name: pk for name, pk, _ in rows}}
