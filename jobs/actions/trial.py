"""Runs what a form says once, without touching the job that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from jobs.actions.answers import NotFound, Refused, Submitted
from jobs.actions.capacity import largest_capacity
from jobs.actions.definition import edited, spec_of
from jobs.actions.parameters import values_for_run
from jobs.actions.reading import shown
from jobs.actions.submission import read_job
from jobs.actions.timing import TIMING_FIELDS
from jobs.actions.upstreams import UPSTREAM_FIELDS
from jobs.core.states import LIVE
from jobs.models import Instance, Job
from jobs.store import definitions, wishes
from jobs.store.specs import JobSpec
from jobs.trials import SUFFIX, description_of

TAG = "test"
LONGEST_NAME = 200
UNNAMED = "untitled"


def try_job(raw: Mapping[str, Any], *, actor: str, now: datetime, of: int | None = None) -> Submitted:
    """Run it once as a job of its own, "NAME (test)", which later tests of the same name change and run again.

    So the instance shows exactly what ran, and neither the schedule of the job `of` nor its history, its retries or its
    notices know of it. `raw` is as for `create_job`; with `of` only what differs from that job. Raises InvalidInput,
    Refused while the last test has not ended, NotFound.
    """
    try:
        with transaction.atomic():
            job = _copy(_trial_of(raw, of, now), actor=actor, now=now)
            values = values_for_run(job, None)
            instance = wishes.submit(job, cause=Instance.Cause.MANUAL, actor=actor, now=now, parameter_values=values)
    except Job.DoesNotExist:
        raise NotFound("job", of) from None
    except IntegrityError:
        raise Refused("Another test of this name began at the same moment; look at it, then test again.") from None
    return Submitted(instance.pk, job.pk, is_new=True)


def _trial_of(raw: Mapping[str, Any], of: int | None, now: datetime) -> JobSpec:
    before = spec_of(*definitions.lock(of)) if of is not None else None
    whole = edited(before, raw) if before else dict(raw)
    whole |= dict.fromkeys((*TIMING_FIELDS, *UPSTREAM_FIELDS))
    name = whole.get("name")
    if name is None or (isinstance(name, str) and not name.strip()):
        whole["name"] = UNNAMED
    spec = read_job(whole, capacity=largest_capacity(), now=now, before=before)
    return replace(
        spec,
        name=spec.name[: LONGEST_NAME - len(SUFFIX)] + SUFFIX,
        description=description_of(spec.name),
        tags=(TAG,),
        max_retries=0,
        notify_email="",
        notify_webhook="",
        schedule=None,
    )


def _copy(trial: JobSpec, *, actor: str, now: datetime) -> Job:
    """The job of that name, made or changed to it. Raises Refused if it is no job of tests, or busy."""
    known = Job.objects.filter(name=trial.name).first()
    if known is None:
        return definitions.insert(trial, actor=actor, now=now)
    job, schedule = definitions.lock(known.pk)
    if job.description != trial.description or schedule is not None:
        raise Refused(f"The job {shown(job.name)} was not made for tests; rename it, or give this one another name.")
    # What waits is run as the job is when it starts: it would run another text than it was made for.
    live = Instance.objects.filter(job=job, status__in=LIVE).order_by("pk").first()
    if live is not None:
        raise Refused(f"The last test of it, instance {live.pk}, has not ended; wait for it or cancel it.")
    definitions.change(job, schedule, trial, actor=actor, now=now)
    if job.paused:
        definitions.resume(job.pk, actor=actor, now=now)
    return Job.objects.get(pk=job.pk)
