"""What people may do to jobs. Each is done whole, with its event, or not at all and says why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from jobs.actions.answers import (
    BeingDeleted,
    Changed,
    ChangedMeanwhile,
    Created,
    InvalidInput,
    NotFound,
    Problem,
    WaitingCancelled,
)
from jobs.actions.capacity import largest_capacity
from jobs.actions.definition import edited, spec_of
from jobs.actions.reading import shown
from jobs.actions.submission import read_job
from jobs.actions.upstreams import check_workflow
from jobs.models import Instance, Job, Schedule, Secret
from jobs.parameters.values import lacking
from jobs.store import definitions, wishes, workflows
from jobs.store.locks import once_more
from jobs.store.schedules import due_at_once
from jobs.store.specs import JobSpec

# One transaction each: the engine, which writes too, is not kept waiting for a long queue.
CANCELLED_AT_ONCE = 500


def check_new_job(raw: Mapping[str, Any], *, now: datetime, lenient: bool = True) -> JobSpec:
    """What `create_job` would store. Raises InvalidInput."""
    spec = read_job(raw, capacity=largest_capacity(), now=now, lenient=lenient)
    check_workflow(None, spec, None)
    if Job.objects.filter(name=spec.name).exists():
        raise _name_taken(spec.name)
    return spec


def check_edit(job: Job, schedule: Schedule | None, patch: Mapping[str, Any], *, now: datetime) -> JobSpec:
    """What `change_job` would store. Raises InvalidInput."""
    before = spec_of(job, schedule)
    spec = read_job(edited(before, patch), capacity=largest_capacity(), now=now, before=before)
    if Job.objects.exclude(pk=job.pk).filter(name=spec.name).exists():
        raise _name_taken(spec.name)
    check_workflow(job.pk, spec, before)
    return spec


def create_job(
    raw: Mapping[str, Any], *, actor: str, now: datetime, start: bool = True, lenient: bool = True
) -> Created:
    """Store a job. A `once` without a date runs at once, unless `start` is off, and so does what is wished to begin so.

    What waits for other jobs does not: it runs with them. `raw` is as for `read_job`. `lenient`: a `once` whose moment
    has passed by no more than its misfire grace runs at once too; it is refused otherwise. What lacks a value that a
    run must have waits for somebody to give it. Raises InvalidInput with nothing stored.
    """
    spec = check_new_job(raw, now=now, lenient=lenient)
    try:
        with transaction.atomic():
            if spec.upstreams:
                workflows.lock()
                check_workflow(None, spec, None)
            first = due_at_once(spec.schedule, now) if spec.schedule else None
            job = definitions.insert(spec, actor=actor, now=now, first=first)
            instance = None
            ready = not lacking(spec.parameters, spec.parameter_values)
            if first is not None or (spec.schedule is None and start and ready and not spec.upstreams):
                instance = wishes.submit(job, cause=Instance.Cause.SUBMIT, actor=actor, now=now, due_at=first)
    except Secret.DoesNotExist as gone:
        raise _secret_gone(str(gone)) from None
    except IntegrityError:
        # Two at once: both found the name free, and the database let one of them have it.
        if Job.objects.filter(name=spec.name).exists():
            raise _name_taken(spec.name) from None
        raise
    return Created(job.pk, job.name, job.created_at, instance.pk if instance else None)


@once_more
def change_job(
    job_id: int, patch: Mapping[str, Any], *, actor: str, now: datetime, revision: int | None = None
) -> Changed:
    """Change the fields in `patch`, leave the others; never starts anything.

    All jobs that begin one workflow share its schedule: that of the others changes with it, and the answer says so.
    `revision`: the one that was edited, if whoever edits saw the whole job: another's edit since then is not undone.
    Raises InvalidInput, Refused, NotFound.
    """
    try:
        with transaction.atomic():
            workflows.lock()
            fellows = definitions.lock_all([job_id, *workflows.fellow_roots(job_id)])
            job, schedule = definitions.lock(job_id)
            if job.being_deleted:
                raise BeingDeleted(job.name)
            if revision is not None and revision != job.revision:
                raise ChangedMeanwhile(job.name)
            spec = check_edit(job, schedule, patch, now=now)
            changed = definitions.change(job, schedule, spec, actor=actor, now=now)
            if "schedule" not in changed:
                return Changed(job_id, changed)
            shared = {one.pk: one.name for one in fellows if one.pk != job_id and one.pk in _still_with(job_id)}
            definitions.share_schedule(job_id, list(shared), actor=actor, now=now)
            return Changed(job_id, changed, tuple(shared.values()))
    except Job.DoesNotExist:
        raise NotFound("job", job_id) from None
    except Secret.DoesNotExist as gone:
        raise _secret_gone(str(gone)) from None
    except IntegrityError:
        if Job.objects.exclude(pk=job_id).filter(name=spec.name).exists():
            raise _name_taken(spec.name) from None
        raise


def pause_job(job_id: int, *, actor: str, now: datetime) -> Changed:
    """Nothing of it starts until it is resumed; what runs goes on. Raises NotFound.

    A job that begins a workflow together with others takes these along: with some of them alone a date would never be
    whole, and what waits for all of them would wait for ever.
    """
    return _together(definitions.pause, job_id, actor, now)


def resume_job(job_id: int, *, actor: str, now: datetime) -> Changed:
    """Fires count again from now on; what came due meanwhile is not made up for. Raises NotFound.

    With the other jobs that begin its workflow, as `pause_job`.
    """
    return _together(definitions.resume, job_id, actor, now)


@once_more
@transaction.atomic
def _together(change: Callable[..., bool], job_id: int, actor: str, now: datetime) -> Changed:
    workflows.lock()
    found = definitions.lock_all([job_id, *workflows.fellow_roots(job_id)])
    jobs = {job.pk: job.name for job in found}
    if job_id not in jobs:
        raise NotFound("job", job_id)
    if any(job.pk == job_id and job.being_deleted for job in found):
        raise BeingDeleted(jobs[job_id])
    done = [one for one in jobs if change(one, actor=actor, now=now)]
    return Changed(job_id, ("paused_at",) if job_id in done else (), tuple(jobs[o] for o in done if o != job_id))


def _still_with(job_id: int) -> list[int]:
    """After the edit: what was a root beside it may be one no more, or of another workflow."""
    return workflows.fellow_roots(job_id)


def cancel_waiting(job_id: int, *, actor: str, now: datetime) -> WaitingCancelled:
    """Nothing of the job that waits now will run; what runs goes on. Raises NotFound."""
    if not Job.objects.filter(pk=job_id).exists():
        raise NotFound("job", job_id)
    cancelled = 0
    while portion := wishes.cancel_waiting(job_id, actor=actor, now=now, most=CANCELLED_AT_ONCE):
        cancelled += portion
        if portion < CANCELLED_AT_ONCE:
            break
    return WaitingCancelled(job_id, cancelled)


def _secret_gone(name: str) -> InvalidInput:
    sentence = f"The secret {shown(name)} was deleted at this moment; make it again, or leave it out."
    return InvalidInput([Problem("secrets", shown(name), "the name of a secret", sentence)])


def _name_taken(name: str) -> InvalidInput:
    sentence = f"There is a job named {shown(name)} already; choose another name, or change that job."
    return InvalidInput([Problem("name", shown(name), "a name that no other job has", sentence)])
