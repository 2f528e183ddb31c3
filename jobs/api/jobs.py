"""Jobs: make, list, read, change, delete, run, pause, resume."""

# ruff: noqa: ARG001 - Ninja hands the request to every operation

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import P, QueryEx, Router, Status

from jobs import actions, skips
from jobs.actions import NotFound
from jobs.actions.definition import zone_to_show
from jobs.actions.reading import Reader
from jobs.actions.unknown import refuse_unknown
from jobs.api import answers, bodies, instances, pages
from jobs.api.auth import actor_of
from jobs.api.idempotency import DESCRIBED, idempotent
from jobs.api.moments import iso
from jobs.api.shapes import full_job, listed_job, schedule_of
from jobs.api.strict import identifier, json_object
from jobs.models import LARGE, Job
from jobs.store.secrets import prefetch_uses

router = Router(tags=["jobs"])
Revision = QueryEx[
    int | None, P(ge=1, le=2**31 - 1, description="That of the job which was edited: 409 if it has another by now.")
]
CancelWaiting = QueryEx[bool, P(description="Cancel what waits of it, too; else it goes on waiting, and runs.")]


@router.post(
    "/jobs",
    response={201: answers.CreatedJob, **answers.REFUSALS},
    openapi_extra=bodies.described(bodies.JobFields) | DESCRIBED,
)
@idempotent
def create_job(request: HttpRequest) -> Any:
    """Store a job. A `once` without a date runs at once, and `instance_id` says as which instance.

    A `once` whose moment has passed is refused.
    """
    created = actions.create_job(json_object(request), actor=actor_of(request), now=timezone.now(), lenient=False)
    answer = {
        "job_id": created.job_id,
        "name": created.name,
        "status": "created",
        "created_at": iso(created.created_at),
        "instance_id": created.instance_id,
    }
    return Status(201, answer)


@router.get("/jobs", response={200: list[answers.ListedJob], **answers.REFUSALS})
def list_jobs(
    request: HttpRequest,
    response: HttpResponse,
    name: QueryEx[str | None, P(description="Only jobs whose name contains this.")] = None,
    tag: str | None = None,
    paused: bool | None = None,
    before: QueryEx[int | None, P(ge=1, le=pages.LARGEST, description="Only jobs with a smaller id.")] = None,
    limit: QueryEx[int, P(ge=1, le=500)] = 50,
) -> Any:
    """Newest first, without what they run and its variables."""
    found = Job.objects.select_related("schedule__calendar", "created_by").prefetch_related(
        "upstream_edges", prefetch_uses()
    )
    found = found.defer(*LARGE).order_by("-pk")
    if name:
        found = found.filter(name__icontains=name)
    if paused is not None:
        found = found.filter(paused_at__isnull=not paused)
    if tag is not None:
        found = pages.tagged(found, tag)
    return [listed_job(job) for job in pages.page(request, response, found, before, limit)]


@router.get("/jobs/{job_id}", response={200: answers.FullJob, **answers.REFUSALS})
def read_job(request: HttpRequest, job_id: str) -> Any:
    return full_job(_job(job_id))


@router.patch(
    "/jobs/{job_id}",
    response={200: answers.ChangedJob, **answers.REFUSALS},
    openapi_extra=bodies.described(bodies.JobFields, partial=True),
)
def change_job(
    request: HttpRequest, job_id: str, cancel_waiting: CancelWaiting = False, revision: Revision = None
) -> Any:
    """Change the fields that are given; null gives one its default. Never starts anything."""
    number = identifier("job", job_id)
    patch, now = json_object(request), timezone.now()
    changed = actions.change_job(number, patch, actor=actor_of(request), now=now, revision=revision)
    return _changed(request, changed, cancel_waiting)


@router.delete("/jobs/{job_id}", response={200: answers.DeletedJob, 202: answers.DeletedJob, **answers.REFUSALS})
def delete_job(request: HttpRequest, job_id: str, cancel: bool = False, release: bool = False) -> Any:
    """Delete it with its history; 409 while instances of it have not ended, or other jobs wait for it.

    With `cancel=true` these are cancelled, with `release=true` the others wait for it no more. 202 says that some
    still run: they are being stopped, and the job goes by itself when they have ended.
    """
    number = identifier("job", job_id)
    gone = actions.delete_job(number, actor=actor_of(request), now=timezone.now(), cancel_live=cancel, release=release)
    answer = {"job_id": number, "cancelled": gone.cancelled, "running": gone.running}
    if gone.gone:
        return Status(200, answer | {"status": "deleted", "detail": "The job and its history are deleted."})
    stopping = f"{gone.running} of its instances are" if gone.running > 1 else "One of its instances is"
    detail = f"{stopping} being stopped; the job goes by itself when no process is left. Nothing of it starts any more."
    return Status(202, answer | {"status": "stopping", "detail": detail})


@router.post(
    "/jobs/{job_id}/run",
    response={201: answers.FullInstance, **answers.REFUSALS},
    openapi_extra=bodies.described(bodies.RunFields, required=False) | DESCRIBED,
)
@idempotent
def run_job(
    request: HttpRequest,
    job_id: str,
    scope: QueryEx[str | None, P(description="job: only this one; workflow: all of its workflow.")] = None,
    logical_at: QueryEx[str | None, P(description="The logical date.")] = None,
) -> Any:
    """One instance more, due now. While the job is paused it waits.

    A job that begins a workflow takes the whole of it along unless `scope=job`. There each has the values of its own
    definition, so `parameters` are for one job alone.
    """
    number = identifier("job", job_id)
    date = actions.read_date(number, "logical_at", logical_at) if logical_at else None
    run = actions.run_job(
        number,
        actor=actor_of(request),
        now=timezone.now(),
        scope=scope,
        logical_at=date,
        parameters=_parameters_in(request),
    )
    return Status(201, instances.one(run.instance_id))


def _parameters_in(request: HttpRequest) -> object:
    """None where nothing is sent, or nothing of that."""
    reader = Reader(json_object(request) if _says_something(request) else {})
    refuse_unknown(reader, tuple(bodies.RunFields.model_fields))
    reader.check()
    return reader.raw.get("parameters")


def _says_something(request: HttpRequest) -> bool:
    """A form without fields, which some clients send of themselves, says nothing."""
    if request.content_type == "multipart/form-data":
        return bool(request.POST or request.FILES)
    return bool(request.body)


@router.post("/jobs/{job_id}/pause", response={200: answers.ChangedJob, **answers.REFUSALS})
def pause_job(request: HttpRequest, job_id: str, cancel_waiting: CancelWaiting = False) -> Any:
    """Nothing of it starts until it is resumed; what runs goes on."""
    changed = actions.pause_job(identifier("job", job_id), actor=actor_of(request), now=timezone.now())
    return _changed(request, changed, cancel_waiting)


@router.post("/jobs/{job_id}/resume", response={200: answers.ChangedJob, **answers.REFUSALS})
def resume_job(request: HttpRequest, job_id: str) -> Any:
    """Its schedule counts again from now on; what came due meanwhile is not made up for."""
    changed = actions.resume_job(identifier("job", job_id), actor=actor_of(request), now=timezone.now())
    return _changed(request, changed, cancel_waiting=False)


@router.post("/jobs/{job_id}/cancel-waiting", response={200: answers.WaitingCancelled, **answers.REFUSALS})
def cancel_waiting(request: HttpRequest, job_id: str) -> Any:
    """Clear its queue: all instances that wait are cancelled, in portions; what runs goes on."""
    gone = actions.cancel_waiting(identifier("job", job_id), actor=actor_of(request), now=timezone.now())
    return {"job_id": gone.job_id, "cancelled": gone.cancelled}


@router.get("/jobs/{job_id}/status", response={200: list[answers.InstanceAnswer], **answers.REFUSALS})
def job_status(request: HttpRequest, job_id: str, limit: QueryEx[int, P(ge=1, le=100)] = 10) -> Any:
    """The job's instances, newest first."""
    number = identifier("job", job_id)
    if not Job.objects.filter(pk=number).exists():
        raise NotFound("job", number)
    return instances.several(instances.rows().filter(job_id=number)[:limit])


@router.get("/jobs/{job_id}/skips", response={200: list[answers.SkippedFires], **answers.REFUSALS})
def job_skips(
    request: HttpRequest,
    job_id: str,
    before: QueryEx[int | None, P(ge=1, le=pages.LARGEST, description="Only those with a smaller event_id.")] = None,
    limit: QueryEx[int, P(ge=1, le=500)] = 50,
) -> Any:
    """Fires of its schedule that made no instance, newest first, each with the reason and how many they were."""
    job = _job(job_id)
    schedule = schedule_of(job)
    zone = zone_to_show(schedule.zone if schedule else "UTC")
    return [
        {
            "event_id": skip.event_id,
            "at": iso(skip.at),
            "logical_at": iso(skip.logical_at, zone),
            "code": skip.code,
            "reason": skip.reason,
            "count": skip.count,
        }
        for skip in skips.recent(job.pk, limit, before=before)
    ]


def _changed(request: HttpRequest, done: actions.Changed, cancel_waiting: bool) -> dict[str, Any]:
    """The job as it is now. What waits is cancelled after the change, which may have to queue no more of it."""
    cancelled = 0
    if cancel_waiting:
        cancelled = actions.cancel_waiting(done.job_id, actor=actor_of(request), now=timezone.now()).cancelled
    return full_job(_job(str(done.job_id))) | {
        "changed": done.changed, "with_it": done.with_it, "cancelled": cancelled,
    }  # fmt: skip


def _job(job_id: str) -> Job:
    number = identifier("job", job_id)
    job = Job.objects.select_related("schedule__calendar", "created_by").filter(pk=number).first()
    if job is None:
        raise NotFound("job", number)
    return job
