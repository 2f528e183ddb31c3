"""What people may do to instances."""

from __future__ import annotations

from datetime import datetime

from jobs.actions.answers import Cancelled, NotFound
from jobs.models import Instance, Job
from jobs.store import wishes
from jobs.store.wishes import CancelAnswer

SENTENCES = {
    CancelAnswer.CANCELLED: "Instance {id} waited and is cancelled.",
    CancelAnswer.STOPPING: "Instance {id} is being stopped; it is cancelled {when}.",
    CancelAnswer.ENDED: "Instance {id} had ended already and stays as it is.",
}
WHEN_CANCELLED = {  # of one that runs, by its execution model
    "process": "when none of its processes is left",
    "async": "when it has returned, or after its grace",
    "thread": "at once, and what it holds stays held until its thread returns",
}


def cancel_instance(instance_id: int, *, actor: str, now: datetime) -> Cancelled:
    """What waits is cancelled at once, what runs is ended. A second time changes nothing. Raises NotFound."""
    try:
        answer = wishes.cancel(instance_id, actor=actor, now=now)
    except Instance.DoesNotExist:
        raise NotFound("instance", instance_id) from None
    when = _when_cancelled(instance_id) if answer is CancelAnswer.STOPPING else ""
    return Cancelled(instance_id, answer.value, SENTENCES[answer].format(id=instance_id, when=when))


def _when_cancelled(instance_id: int) -> str:
    model = Job.objects.filter(instances=instance_id).values_list("execution_model", flat=True).first()
    return WHEN_CANCELLED[model or "process"]
