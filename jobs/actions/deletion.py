"""Deleting: a job goes with its history, its instances end first; an instance goes when it has ended."""

from __future__ import annotations

import logging
import shutil
from contextlib import suppress
from datetime import datetime

from django.conf import settings
from django.db import transaction

from jobs.actions.answers import Deleted, NotFound, Refused
from jobs.models import Instance, Job
from jobs.store import definitions, removal, wishes
from jobs.store.wishes import CancelAnswer

logger = logging.getLogger(__name__)


def delete_job(job_id: int, *, actor: str, now: datetime, cancel_live: bool = False) -> Deleted:
    """Delete it with its instances and their logs. Raises Refused when some have not ended, NotFound.

    With `cancel_live` they are cancelled first. What runs needs its time to end: then the job is paused, the answer
    says how many run, and the job goes when it is asked for again. A job is never deleted under a process, for
    nobody would end that, or count its cores as free.
    """
    if not Job.objects.filter(pk=job_id).exists():
        raise NotFound("job", job_id)
    live = removal.live_instances(job_id)
    if live and not cancel_live:
        number = f"{len(live)} instances that have" if len(live) > 1 else "one instance that has"
        raise Refused(f"The job has {number} not ended; cancel first, or ask for that with the deletion.")
    try:
        # Paused first, so that its schedule makes no instance while the others go.
        definitions.pause(job_id, actor=actor, now=now)
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
