"""Deleting a job with its history, a little at a time, so that the engine never waits long for the write lock."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F

from jobs.core.states import LIVE, TERMINAL, AttemptStatus
from jobs.models import Attempt, Instance, Job, Schedule
from jobs.store import workflows
from jobs.store.events import NewEvent, record
from jobs.store.locks import once_more

# About 20 ms on SQLite.
PORTION = 500


@once_more
@transaction.atomic
def remove_some_history(job_id: int) -> list[int]:
    """Delete up to PORTION ended instances and return their ids; empty when there are none left."""
    # One node after the other: two that delete the same rows at once would wait for each other.
    list(Job.objects.select_for_update(no_key=True).filter(pk=job_id).values_list("pk"))
    ids = list(Instance.objects.filter(job_id=job_id, status__in=TERMINAL).values_list("pk", flat=True)[:PORTION])
    remove_ended(ids)
    return ids


@once_more
@transaction.atomic
def remove_instance(instance_id: int, *, actor: str, now: datetime) -> bool:
    """Delete one that has ended, with its attempts. False: something of it has not. Raises Instance.DoesNotExist."""
    instance = Instance.objects.select_for_update().get(pk=instance_id)
    # An attempt in flight has a process or may get one, whatever its instance says.
    if instance.status in LIVE or instance.attempts.exclude(status=AttemptStatus.ENDED).exists():
        return False
    remove_ended([instance_id])
    data = {"status": instance.status, "logical_at": instance.logical_at.isoformat()}
    record([NewEvent(now, "instance.deleted", instance.job_id, instance_id, actor=actor, data=data)])
    return True


def remove_ended(ids: list[int]) -> None:
    """Delete these rows, of which nothing is in flight, in the transaction of the caller."""
    # By hand, because a cascade would load every row to look for more.
    Instance.objects.filter(retry_of__in=ids).update(retry_of=None)
    Instance.objects.filter(blame__in=ids).update(blame=None)
    Attempt.objects.filter(instance__in=ids).delete()
    Instance.objects.filter(pk__in=ids)._raw_delete(Instance.objects.db)


@once_more
@transaction.atomic
def remove_job(job_id: int, *, actor: str, now: datetime) -> int:
    """Delete the job unless it has instances; returns how many it has: zero = gone. Raises Job.DoesNotExist.

    Holding the job with its key keeps an instance from being made meanwhile.
    """
    workflows.lock()
    dependents = [dependent.pk for dependent in workflows.dependents_of(job_id)]
    # In the order of their ids, as everybody locks them; the key of the job itself, too.
    list(Job.objects.select_for_update().filter(pk__in=[job_id, *dependents]).order_by("pk"))
    job = Job.objects.get(pk=job_id)
    left = Instance.objects.filter(job=job).count()
    if left == 0:
        Schedule.objects.filter(job=job).delete()
        job.delete()
        Job.objects.filter(pk__in=dependents).update(revision=F("revision") + 1, updated_at=now)
        # The engine judges again what waited for it.
        data = {"changed": ["upstreams"], "without": job.name}
        freed = [NewEvent(now, "job.changed", dependent, actor=actor, data=data) for dependent in dependents]
        record([*freed, NewEvent(now, "job.deleted", job_id, actor=actor, data={"name": job.name})])
    return left


def live_instances(job_id: int) -> list[int]:
    return list(Instance.objects.filter(job_id=job_id, status__in=LIVE).order_by("pk").values_list("pk", flat=True))
