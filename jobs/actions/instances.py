"""What people may do to instances."""

from __future__ import annotations

from datetime import datetime

from jobs.actions.answers import Cancelled, NotFound
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
