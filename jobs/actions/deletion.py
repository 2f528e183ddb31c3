"""Deleting: a job goes with its history, its instances end first; an instance goes when it has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from django.db import transaction

from jobs.actions.answers import Deleted, NotFound, Refused
from jobs.actions.upstreams import clash_without
from jobs.models import Instance, Job
from jobs.store import leaving, read, removal, workflows


def delete_job(
    job_id: int,
    *,
    actor: str,
    now: datetime,
    cancel_live: bool = False,
    release: bool = False,
    among: Callable[[], Iterable[int]] = tuple,
) -> Deleted:
    """Delete it with its instances and their logs. Raises NotFound, and Refused when some have not ended.

    Also refused while other jobs wait for it, unless `release` says that they need not any more: then what waits of
    them is judged again by the upstreams that are left. Never where that would leave a workflow that cannot be.
    `among`: asked for all that are deleted with it, in any order; if all that waits for it is among these, it may go.

    With `cancel_live` they are cancelled first. What runs needs its time to end: then the answer says how many run,
    and the service deletes the job when none of their processes is left. Until then it stays marked: it cannot be run,
    resumed or edited. Asking again changes nothing.
    """
    if not Job.objects.filter(pk=job_id).exists():
        raise NotFound("job", job_id)
    _check_dependents(job_id, release, among)
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


def waiting_outside(job_ids: Iterable[int], among: Callable[[], Iterable[int]]) -> list[str]:
    """The names of the jobs that wait for one of these, directly or not, and are not `among` those that go with it."""
    graph = read.workflows()
    below = {below for job_id in job_ids if job_id in graph for below in graph.below(job_id)}
    return sorted(workflows.names_of(below - set(among())).values()) if below else []


def shown_names(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


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


def _check_dependents(job_id: int, release: bool, among: Callable[[], Iterable[int]]) -> None:
    names = [job.name for job in workflows.dependents_of(job_id)]
    if not names or waiting_outside([job_id], among) == []:
        return
    shown = shown_names(names)
    if not release:
        name = Job.objects.values_list("name", flat=True).get(pk=job_id)
        wait, them, their = ("wait", "them", "their") if len(names) > 1 else ("waits", "that", "its")
        raise Refused(
            f"{shown} {wait} for {name}; delete {them} together with it, or take {name} out of {their} upstreams first "
            "(release=true does)."
        )
    if clash := clash_without(job_id):
        raise Refused(f"Without this job what waits for it ({shown}) cannot go on as it is: {clash}")
