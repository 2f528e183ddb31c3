"""Deleting: a job goes with its history, its instances end first; an instance goes when it has ended."""

from __future__ import annotations

import logging
import shutil
from contextlib import suppress
from datetime import datetime

from django.conf import settings
from django.db import transaction

from jobs.actions.answers import Deleted, NotFound, Refused
from jobs.actions.upstreams import clash_without
from jobs.models import Instance, Job
from jobs.store import definitions, removal, wishes, workflows
from jobs.store.wishes import CancelAnswer

logger = logging.getLogger(__name__)


def delete_job(job_id: int, *, actor: str, now: datetime, cancel_live: bool = False, release: bool = False) -> Deleted:
    """Delete it with its instances and their logs. Raises NotFound, and Refused when some have not ended.

    Also refused while other jobs wait for it, unless `release` says that they need not any more: then what waits of
    them is judged again by the upstreams that are left. Never where that would leave a workflow that cannot be.

    With `cancel_live` they are cancelled first. What runs needs its time to end: then the job is paused, the answer
    says how many run, and the job goes when it is asked for again. A job is never deleted under a process, for
    nobody would end that, or count its cores as free.
    """
    if not Job.objects.filter(pk=job_id).exists():
        raise NotFound("job", job_id)
    _check_dependents(job_id, release=release)
    live = removal.live_instances(job_id)
    if live and not cancel_live:
        number = f"{len(live)} instances that have" if len(live) > 1 else "one instance that has"
        raise Refused(f"The job has {number} not ended; cancel first, or ask for that with the deletion.")
    try:
        # Paused first, so that its schedule makes no instance while the others go.
        definitions.pause(job_id, actor=actor, now=now)  # it alone: what begins its workflow with it goes on
        cancelled, running = _cancel(live, actor, now)
        if not running:
            running = _remove(job_id, actor, now)
    except Job.DoesNotExist:  # somebody else was first
        cancelled, running = 0, 0
    return Deleted(job_id, cancelled, running)


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
    transaction.on_commit(lambda: _remove_logs(instance_id))


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
            _remove_logs(instance_id)
    return removal.remove_job(job_id, actor=actor, now=now)


def _remove_logs(instance_id: int) -> None:
    try:
        shutil.rmtree(settings.DATA_DIR / "runs" / str(instance_id))
    except FileNotFoundError:
        return
    except OSError as error:
        # The rows are gone, so it is too late to refuse.
        logger.warning("The logs of instance %s could not be removed: %s", instance_id, error)
