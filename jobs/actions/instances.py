"""What people may do to instances."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from jobs.actions.answers import Cancelled, NotFound, Refused, Submitted
from jobs.core.states import LIVE
from jobs.models import Instance
from jobs.store import wishes
from jobs.store.wishes import CancelAnswer

SENTENCES = {
    CancelAnswer.CANCELLED: "Instance {id} waited and is cancelled.",
    CancelAnswer.STOPPING: "Instance {id} is being stopped; it is cancelled when none of its processes is left.",
    CancelAnswer.ENDED: "Instance {id} had ended already and stays as it is.",
}


def cancel_instance(instance_id: int, *, actor: str, now: datetime) -> Cancelled:
    """What waits is cancelled at once, what runs is ended. A second time changes nothing. Raises NotFound."""
    try:
        answer = wishes.cancel(instance_id, actor=actor, now=now)
    except Instance.DoesNotExist:
        raise NotFound("instance", instance_id) from None
    return Cancelled(instance_id, answer.value, SENTENCES[answer].format(id=instance_id))


@transaction.atomic
def retry_instance(instance_id: int, *, actor: str, now: datetime) -> Submitted:
    """A new instance of the same logical date, linked to the ended one; or the retry of it that has not ended yet.

    Raises Refused while it has not ended, NotFound.
    """
    # Locked, so that the second click of two at once finds what the first made.
    ended = Instance.objects.select_for_update(of=("self",)).select_related("job").filter(pk=instance_id).first()
    if ended is None:
        raise NotFound("instance", instance_id)
    if ended.status in LIVE:
        raise Refused(f"Instance {instance_id} is {ended.status}; cancel it first, or wait until it ends.")
    under_way = Instance.objects.filter(retry_of=ended, status__in=LIVE).order_by("pk").first()
    retry = under_way or wishes.submit(
        ended.job, cause=Instance.Cause.RETRY, actor=actor, now=now, logical_at=ended.logical_at, retry_of=ended
    )
    return Submitted(retry.pk, ended.job_id, is_new=under_way is None)
