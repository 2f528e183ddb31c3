"""A job that is being deleted: marked for good, out of its workflow, and gone when its last process has ended."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q

from jobs.execution import runfolders
from jobs.models import Backfill, Dependency, Instance, Job
from jobs.store import backfills, definitions, removal, wishes, workflows
from jobs.store.events import NewEvent, record
from jobs.store.locks import once_more
from jobs.store.wishes import CancelAnswer


@once_more
@transaction.atomic
def request(job_id: int, *, actor: str, now: datetime) -> bool:
    """Mark it, once: it is paused and stays so, and no job waits for it or it for any. False: it is marked already.

    Raises Job.DoesNotExist.
    """
    workflows.lock()
    dependents = [dependent.pk for dependent in workflows.dependents_of(job_id)]
    definitions.lock_all([job_id, *dependents])
    definitions.pause(job_id, actor=actor, now=now)  # it alone: what begins its workflow with it goes on
    unmarked = Job.objects.filter(pk=job_id, delete_requested_at=None)
    wish = {"delete_requested_at": now, "delete_requested_by": actor}
    if not unmarked.update(**wish, revision=F("revision") + 1, updated_at=now):
        return False
    _take_out(job_id, dependents, actor, now)
    # Else it would make instances for as long as others end.
    for backfill in Backfill.objects.filter(job=job_id, status=Backfill.Status.RUNNING).order_by("pk"):
        backfills.end_now(backfill, now, actor)
    record([NewEvent(now, "job.delete_requested", job_id, actor=actor)])
    return True


def requested() -> list[tuple[int, str]]:
    """The jobs that are being deleted, each with who wished it. One query along the index job_being_deleted."""
    found = Job.objects.filter(delete_requested_at__isnull=False).order_by("pk")
    return list(found.values_list("pk", "delete_requested_by"))


def finish(job_id: int, *, actor: str, now: datetime) -> tuple[int, int]:
    """Cancel what lives of it, and delete it if nothing runs: (cancelled, still running). Zero running: it is gone.

    Done again it goes on where it was, and two nodes that do it at once do it once. Never under a process: nobody
    would end that, or count its cores as free.
    """
    try:
        cancelled, running = _cancel(removal.live_instances(job_id), actor, now)
        return cancelled, running or _remove(job_id, actor, now)
    except Job.DoesNotExist:  # somebody else was first
        return 0, 0


def remove_logs(instance_id: int) -> None:
    """Its run directories. What cannot be removed is logged: the rows are gone, so it is too late to refuse."""
    runfolders.remove(settings.DATA_DIR / "runs" / str(instance_id))


def _take_out(job_id: int, dependents: list[int], actor: str, now: datetime) -> None:
    """Before anything of it is cancelled: what waited for it would else fail with it."""
    Dependency.objects.filter(Q(job=job_id) | Q(upstream=job_id)).delete()
    Job.objects.filter(pk__in=dependents).update(revision=F("revision") + 1, updated_at=now)
    name = Job.objects.values_list("name", flat=True).get(pk=job_id)
    data = {"changed": ["upstreams"], "without": name}
    record([NewEvent(now, "job.changed", dependent, actor=actor, data=data) for dependent in dependents])


def _cancel(live: list[int], actor: str, now: datetime) -> tuple[int, int]:
    """How many waited and are cancelled, and how many still run."""
    answers = []
    for instance_id in live:
        with suppress(Instance.DoesNotExist):  # deleted meanwhile by the same wish of somebody else
            answers.append(wishes.cancel(instance_id, actor=actor, now=now))
    return answers.count(CancelAnswer.CANCELLED), answers.count(CancelAnswer.STOPPING)


def _remove(job_id: int, actor: str, now: datetime) -> int:
    """Zero, or the number of instances that came meanwhile."""
    while ids := removal.remove_some_history(job_id):
        for instance_id in ids:
            remove_logs(instance_id)
    return removal.remove_job(job_id, actor=actor, now=now)
