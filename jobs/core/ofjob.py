"""What has not ended of one job, kept so that each question about it costs by its answer."""

from __future__ import annotations

from jobs.core.records import Instance
from jobs.core.states import Status

# Of the job whose instances run one after another, these keep the next one waiting.
BUSY = frozenset({Status.RUNNING, Status.RETRYING})


class OfJob:
    """Each in the order in which it came to be so.

    `fired`: what a next fire would overlap with. `backfills`: those that no fire is skipped for. `busy`: what keeps the
    next one waiting of those that run one after another. `queued`: how many, those first that need not.
    """

    __slots__ = ("backfills", "busy", "fired", "instances", "queued")

    def __init__(self) -> None:
        self.instances: dict[int, Instance] = {}
        self.fired: dict[int, Instance] = {}
        self.backfills: set[int] = set()
        self.busy: dict[int, None] = {}
        self.queued = [0, 0]

    def put(self, before: Instance | None, instance: Instance) -> None:
        if before is not None and before.status is Status.QUEUED:
            self.queued[before.serial] -= 1
        self.instances[instance.id] = instance
        if instance.status is Status.QUEUED:
            self.queued[instance.serial] += 1
        elif instance.status in BUSY:
            self.busy[instance.id] = None
        if not _is_under_way(instance):
            self.fired.pop(instance.id, None)
            self.backfills.discard(instance.id)
        elif instance.backfill:
            self.backfills.add(instance.id)
        else:
            self.fired[instance.id] = instance

    def drop(self, instance: Instance) -> None:
        if instance.status is Status.QUEUED:
            self.queued[instance.serial] -= 1
        del self.instances[instance.id]
        self.fired.pop(instance.id, None)
        self.backfills.discard(instance.id)


def _is_under_way(instance: Instance) -> bool:
    """What was submitted for a later moment is not; what its schedule made, and waits for its upstreams, is."""
    return instance.status is not Status.PENDING or instance.schedule_id is not None
