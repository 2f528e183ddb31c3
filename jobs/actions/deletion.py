"""Deleting: a job goes with its history, its instances end first; an instance goes when it has ended."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from jobs.actions.answers import Deleted, NotFound, Refused
from jobs.actions.upstreams import clash_without
from jobs.models import Instance, Job
from jobs.store import leaving, removal, workflows


def delete_job(job_id: int, *, actor: str, now: datetime, cancel_live: bool = False, release: bool = False) -> Deleted:
    """Delete it with its instances and their logs. Raises NotFound, and Refused when some have not ended.

    Also refused while other jobs wait for it, unless `release` says that they need not any more: then what waits of
    them is judged again by the upstreams that are left. Never where that would leave a workflow that cannot be.

    With `cancel_live` they are cancelled first. What runs needs its time to end: then the answer says how many run,
    and the service deletes the job when none of their processes is left. Until then it stays marked: it cannot be run,
    resumed or edited. Asking again changes nothing.
    """
    if not Job.objects.filter(pk=job_id).exists():
        raise NotFound("job", job_id)
    _check_dependents(job_id, release=release)
    live = removal.live_instances(job_id)
    if live and not cancel_live and not _is_leaving(job_id):
        number = f"{len(live)} instances that have" if len(live) > 1 else "one instance that has"
        raise Refused(f"The job has {number} not ended; cancel first, or ask for that with the deletion.")
    try:
        # Durable before anything is cancelled: whatever happens to this process, the deletion goes on.
        leaving.request(job_id, actor=actor, now=now)
    except Job.DoesNotExist:  # somebody else was first
        return Deleted(job_id, 0, 0)
    return Deleted(job_id, *leaving.finish(job_id, actor=actor, now=now))


@transaction.atomic
def delete_instance(instance_id: int, *, actor: str, now: datetime) -> None:
    """Delete an ended one with its attempts and logs; its events stay. Raises Refused while it lives, NotFound."""
    try:
        gone = removal.remove_instance(instance_id, actor=actor, now=now)
    except Instance.DoesNotExist:
        raise NotFound("instance", instance_id) from None
    if not gone:
        raise Refused(f"Instance {instance_id} has not ended; cancel it first, or wait until it ends.")
    # Only now: rows without a log are a loss, a log without rows is only space.
    transaction.on_commit(lambda: leaving.remove_logs(instance_id))


def _is_leaving(job_id: int) -> bool:
    return Job.objects.filter(pk=job_id, delete_requested_at__isnull=False).exists()


def _check_dependents(job_id: int, *, release: bool) -> None:
    names = [job.name for job in workflows.dependents_of(job_id)]
    if not names:
        return
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    if not release:
        wait = "wait" if len(names) > 1 else "waits"
        raise Refused(f"{shown} {wait} for this job; take it out of what they depend on, or ask for that with it.")
    if clash := clash_without(job_id):
        raise Refused(f"Without this job what waits for it ({shown}) cannot go on as it is: {clash}")
