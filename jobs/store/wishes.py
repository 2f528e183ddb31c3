"""What people may ask of an instance. Each is one guarded move with its event, in one transaction."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max

from jobs.core.order import Entry, FairShare, make_order
from jobs.core.states import WAITING, Status
from jobs.models import Dependency, Instance, Job
from jobs.store.events import NewEvent, record
from jobs.store.locks import once_more


class CancelAnswer(StrEnum):
    """`cancelled`: it waited and will not run. `stopping`: it runs and is being ended. `ended`: too late, as it was."""

    CANCELLED = "cancelled"
    STOPPING = "stopping"
    ENDED = "ended"


@transaction.atomic
def submit(
    job: Job,
    *,
    cause: Instance.Cause,
    actor: str,
    now: datetime,
    due_at: datetime | None = None,
    logical_at: datetime | None = None,
    retry_of: Instance | None = None,
    backfill_id: int | None = None,
    serial: bool = False,
    parameter_values: dict[str, Any] | None = None,
) -> Instance:
    """Insert an instance: queued if it is due and waits for nothing, else pending.

    Its logical date is its due moment unless given. A logical date that the job has already takes the next generation.
    parameter_values: complete; None for what the job says when it starts.
    """
    due = due_at or now
    logical = logical_at or due
    latest = Instance.objects.filter(job=job, logical_at=logical).aggregate(top=Max("generation"))["top"]
    key = _place(job, now, due)
    instance = Instance(
        job=job,
        logical_at=logical,
        generation=0 if latest is None else latest + 1,
        status=Status.QUEUED if due <= now and key is not None else Status.PENDING,
        cause=cause,
        due_at=due,
        retry_of=retry_of,
        backfill_id=backfill_id,
        serial=serial,
        parameter_values=parameter_values,
        created_by=actor,
        created_at=now,
    )
    if instance.status == Status.QUEUED:
        instance.queued_at, instance.order_key, instance.hold_code = now, key, "turn"
    instance.save(force_insert=True)
    kind, data = f"instance.{instance.status}", {"logical_at": logical.isoformat(), "cause": instance.cause}
    record([NewEvent(now, kind, job.pk, instance.pk, to_status=instance.status, actor=actor, data=data)])
    return instance


def _place(job: Job, now: datetime, due: datetime) -> int | None:
    """Its place in the order; None where only the engine can say: what its upstreams are, or whose turn it is."""
    order = make_order(settings.ORDER, settings.TENANT_WEIGHTS)
    if isinstance(order, FairShare) or Dependency.objects.filter(job=job).exists():
        return None
    return order.key(Entry(job.priority, now, due, job.deadline_seconds, job.tenant))


@once_more
@transaction.atomic
def cancel(instance_id: int, *, actor: str, now: datetime) -> CancelAnswer:
    """Cancel what waits at once; ask what runs to stop. A second wish, or one after the end, changes nothing.

    Raises Instance.DoesNotExist.
    """
    instance = Instance.objects.select_for_update().get(pk=instance_id)
    wish = {"cancel_requested_at": now, "cancel_requested_by": actor}
    rows = Instance.objects.filter(pk=instance_id)
    if rows.filter(status__in=WAITING).update(status=Status.CANCELLED, ended_at=now, hold_code="", **wish):
        record([_moved(instance, "instance.ended", Status.CANCELLED, actor, now)])
        return CancelAnswer.CANCELLED
    if rows.filter(status=Status.RUNNING, cancel_requested_at__isnull=True).update(**wish):
        record([_moved(instance, "instance.cancel_requested", Status.RUNNING, actor, now)])
        return CancelAnswer.STOPPING
    return CancelAnswer.STOPPING if rows.filter(status=Status.RUNNING).exists() else CancelAnswer.ENDED


@once_more
@transaction.atomic
def cancel_waiting(job_id: int, *, actor: str, now: datetime, most: int) -> int:
    """Cancel what waits of a job, at most so many at once, the last in the queue first; returns how many.

    The last first, so that while it goes on none of those that are to be cancelled starts in their stead.
    """
    rows = Instance.objects.filter(job_id=job_id, status__in=WAITING)
    last = list(rows.order_by("-id").values_list("pk", flat=True)[:most])
    # Locked from the first on, as by everybody.
    waiting = list(rows.select_for_update().filter(pk__in=last).order_by("pk"))
    ids = [instance.pk for instance in waiting]
    Instance.objects.filter(pk__in=ids).update(
        status=Status.CANCELLED, ended_at=now, hold_code="", cancel_requested_at=now, cancel_requested_by=actor
    )
    record([_moved(instance, "instance.ended", Status.CANCELLED, actor, now) for instance in waiting])
    return len(waiting)


def _moved(instance: Instance, kind: str, to: Status, actor: str, now: datetime) -> NewEvent:
    return NewEvent(now, kind, instance.job_id, instance.pk, None, instance.status, to, actor)
