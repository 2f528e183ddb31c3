"""Writing jobs with their schedules. Every function is one transaction, and what it changes has its event in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import F

from jobs.core.running import RUN_FIELDS
from jobs.models import Dependency, Job, Schedule
from jobs.store import schedules, secrets
from jobs.store.events import NewEvent, record
from jobs.store.specs import JobSpec, SecretUse

_COLUMNS = (
    "name", "kind", "body", "execution_model", "description", "python_version", "requirements", "environment",
    "cores", "memory_mb", "timeout_seconds",
    "kill_grace_seconds", "priority", "max_retries", "retry_delay_seconds", "retry_max_delay_seconds",
    "retry_jitter", "retry_only_exit_codes", "retry_never_exit_codes", "pause_after_failures", "tenant",
    "deadline_seconds", "start_deadline_seconds", "max_running", "rates", "upstream_rule", "not_before",
    "keep_workspace", "keep_days", "keep_failed_days", "keep_instances", "tags", "notify_email", "notify_webhook",
    "parameters", "parameter_values",
)  # fmt: skip


@transaction.atomic
def insert(spec: JobSpec, *, actor: str, now: datetime, first: datetime | None = None) -> Job:
    """`first`: a fire of its schedule that whoever inserts it makes. Raises IntegrityError when the name is taken."""
    owner = get_user_model().objects.filter(username=actor).first()
    job = Job(**_columns(spec), created_by=owner, created_at=now)
    job.save(force_insert=True)
    _set_upstreams(job.pk, spec.upstreams)
    if spec.secrets:
        secrets.set_uses(job.pk, spec.secrets)
    if spec.schedule is not None:
        schedules.insert(job, spec.schedule, now, first=first)
    record(
        [
            NewEvent(
                now,
                "job.created",
                job.pk,
                actor=actor,
                data={"name": job.name, **(_named(spec.secrets) if spec.secrets else {})},
            )
        ]
    )
    return job


def lock(job_id: int) -> tuple[Job, Schedule | None]:
    """The job and its schedule, as nobody else can change them until the transaction ends. Raises Job.DoesNotExist.

    The job first, and without its key: the engine locks a schedule and then refers to its job.
    """
    job = Job.objects.select_for_update(no_key=True).get(pk=job_id)
    return job, Schedule.objects.select_for_update().filter(job=job).first()


def lock_all(job_ids: Iterable[int]) -> list[Job]:
    """`lock` for all of these that there are, by id, before the first event: who holds the feed waits for no row."""
    jobs = list(Job.objects.select_for_update(no_key=True).filter(pk__in=job_ids).order_by("pk"))
    list(Schedule.objects.select_for_update().filter(job__in=jobs).order_by("pk"))
    return jobs


@transaction.atomic
def change(job: Job, schedule: Schedule | None, spec: JobSpec, *, actor: str, now: datetime) -> tuple[str, ...]:
    """Store what differs from what was locked, and name it. Raises IntegrityError when the new name is taken.

    A schedule that the edit leaves alone goes on as it was: moving its watch would lose a fire that is due right now.
    """
    wanted = _columns(spec)
    changed = [name for name, value in wanted.items() if getattr(job, name) != value]
    values = {name: wanted[name] for name in changed}
    if schedules.spec_of(schedule) != spec.schedule:
        _change_schedule(job, schedule, spec, now)
        changed.append("schedule")
    if _set_upstreams(job.pk, spec.upstreams):
        changed.append("upstreams")
    more: dict[str, Any] = {}
    if secrets.set_uses(job.pk, spec.secrets):
        changed.append("secrets")
        more = _named(spec.secrets)
    if changed:
        rewrite(job.pk, values, also=changed[len(values) :], more=more, actor=actor, now=now)
    return tuple(changed)


def rewrite(
    job_id: int,
    values: Mapping[str, Any],
    *,
    actor: str,
    now: datetime,
    also: Sequence[str] = (),
    more: Mapping[str, Any] | None = None,
) -> None:
    """Set columns of a job that is locked. `also`: what else of it changed; `more`: what its event tells of that."""
    Job.objects.filter(pk=job_id).update(**values, revision=F("revision") + 1, updated_at=now)
    record([NewEvent(now, "job.changed", job_id, actor=actor, data={"changed": [*values, *also], **(more or {})})])


@transaction.atomic
def share_schedule(job_id: int, others: Iterable[int], *, actor: str, now: datetime) -> None:
    """Give other jobs the schedule of this one, so that all fire for the same logical dates."""
    model = Schedule.objects.select_related("calendar").filter(job=job_id).first()
    wanted = schedules.spec_of(model)
    locked = [lock(other) for other in others]
    for other, schedule in locked:
        if wanted is None or model is None:
            if schedule is not None:
                schedules.unschedule(schedule, now)
        elif schedule is None:
            schedules.insert(other, wanted, now, paused=other.paused, anchor=model.anchor_at)
        else:
            schedules.change(schedule, wanted, now, paused=other.paused, anchor=model.anchor_at)
        Job.objects.filter(pk=other.pk).update(revision=F("revision") + 1, updated_at=now)
    data = {"changed": ["schedule"], "with": job_id}
    record([NewEvent(now, "job.changed", other.pk, actor=actor, data=data) for other, _ in locked])


@transaction.atomic
def pause(job_id: int, *, actor: str, now: datetime) -> bool:
    """False when it is paused already. Raises Job.DoesNotExist."""
    job, schedule = lock(job_id)
    if job.paused:
        return False
    Job.objects.filter(pk=job_id).update(paused_at=now, paused_by=actor, updated_at=now)
    if schedule is not None:
        schedules.watch(schedule, now, paused=True)
    record([NewEvent(now, "job.paused", job_id, actor=actor)])
    return True


@transaction.atomic
def resume(job_id: int, *, actor: str, now: datetime) -> bool:
    """False when it is not paused, or is being deleted. Failures are counted anew.

    What came due meanwhile is not made up for. Raises Job.DoesNotExist.
    """
    job, schedule = lock(job_id)
    if not job.paused or job.being_deleted:
        return False
    Job.objects.filter(pk=job_id).update(
        paused_at=None, paused_by="", failures_in_a_row=0, revision=F("revision") + 1, updated_at=now
    )
    if schedule is not None:
        schedules.watch(schedule, now, paused=False)
    record([NewEvent(now, "job.resumed", job_id, actor=actor)])
    return True


def _change_schedule(job: Job, schedule: Schedule | None, spec: JobSpec, now: datetime) -> None:
    if spec.schedule is None:
        if schedule is not None:
            schedules.unschedule(schedule, now)
    elif schedule is not None:
        schedules.change(schedule, spec.schedule, now, paused=job.paused)
    else:
        schedules.insert(job, spec.schedule, now, paused=job.paused)


def _set_upstreams(job_id: int, upstreams: Iterable[int]) -> bool:
    """Make exactly these the jobs that it waits for; whether that changed anything."""
    wanted = set(upstreams)
    before = set(Dependency.objects.filter(job=job_id).values_list("upstream_id", flat=True))
    Dependency.objects.filter(job=job_id, upstream__in=before - wanted).delete()
    Dependency.objects.bulk_create(Dependency(job_id=job_id, upstream_id=up) for up in sorted(wanted - before))
    return wanted != before


def _named(uses: Iterable[SecretUse]) -> dict[str, Any]:
    """For the feed: which secrets it is given now, never what they are."""
    return {"secrets": [f"{use.variable}={use.name}" for use in uses]}


def _columns(spec: JobSpec) -> dict[str, Any]:
    values = {name: getattr(spec, name) for name in _COLUMNS} | {name: getattr(spec.run, name) for name in RUN_FIELDS}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
