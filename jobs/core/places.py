"""Places in the order: given once, and what the order has to be told of those that were given.

Only fair share remembers who was served. It is told here, whichever way an instance got its place, began, or left: on
this node or another, before this start of the service or after it.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from jobs.core.known import KnownInstances
from jobs.core.order import Entry, Order
from jobs.core.port import Committed
from jobs.core.records import Instance, Job


class Places:
    def __init__(self, order: Order, known: KnownInstances) -> None:
        self._order = order
        self._known = known
        self._of_births: Counter[tuple[int, str]] = Counter()
        self._of_queued: dict[int, tuple[int, str]] = {}

    def of_birth(self, job: Job, now: datetime, due_at: datetime) -> int:
        """The place of an instance that a fire makes and queues at once."""
        key = self._order.key(entry(job, now, due_at))
        self._of_births[key, job.tenant] += 1
        return key

    def of(self, instance: Instance, now: datetime) -> int:
        """The place of one that is queued now; the one that it has, if it has been queued before."""
        if instance.order_key is not None:
            return instance.order_key
        job = self._known.job(instance.job_id)
        key = self._order.key(entry(job, now, instance.due_at))
        self._of_queued[instance.id] = (key, job.tenant)
        return key

    def seen(self, instance: Instance) -> None:
        """One that waits."""
        if instance.order_key is not None:
            self._order.seen(instance.order_key, self._tenant(instance))

    def started(self, instance: Instance) -> None:
        """One that runs, wherever."""
        if instance.order_key is not None:
            self._order.started(instance.order_key, self._tenant(instance))

    def left(self, instance: Instance) -> None:
        """One that will not run (any more): if it never did, its tenant has had nothing for its place."""
        if instance.order_key is not None and instance.attempts == 0:
            self._order.dropped(instance.order_key, self._tenant(instance))

    def settle(self, committed: Committed) -> None:
        """After a commit: places that were given to what the store refused are free again."""
        for instance in committed.born:
            if instance.order_key is not None:
                self._of_births[instance.order_key, self._tenant(instance)] -= 1
        unused = [*self._of_births.elements()]
        unused += [place for one, place in self._of_queued.items() if one in committed.refused_instances]
        for key, tenant in unused:
            self._order.dropped(key, tenant)
        self._of_births.clear()
        self._of_queued.clear()

    def _tenant(self, instance: Instance) -> str:
        return self._known.job(instance.job_id).tenant


def entry(job: Job, queued_at: datetime, due_at: datetime) -> Entry:
    """What an order needs to know of an instance of this job."""
    return Entry(job.priority, queued_at, due_at, job.deadline_seconds, job.tenant)
