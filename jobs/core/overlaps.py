"""What a fire finds of its job that has not ended, and what its policy says to that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from jobs.core.births import Births
from jobs.core.known import KnownInstances
from jobs.core.policies import FirePolicy, Overlap
from jobs.core.records import Instance
from jobs.core.states import Status
from jobs.core.values import made_often
from jobs.core.watched import Watched


@made_often
@dataclass(frozen=True, slots=True)
class Meeting:
    """`refused`: why the fire makes nothing, as code and sentence. Else `bound`: how many unfinished ones may be found
    beside it; `replaces`: who is cancelled for it.
    """

    refused: tuple[str, str] | None = None
    bound: int | None = None
    replaces: tuple[Instance, ...] = ()


FREE, ALONE = Meeting(), Meeting(bound=1)


class Overlaps:
    """Looks at no more of what has not ended than an answer needs: a queue may hold tens of thousands."""

    def __init__(self, known: KnownInstances, births: Births) -> None:
        self._known = known
        self._births = births

    def meet(self, watched: Watched, date: datetime) -> Meeting:
        """What becomes of a fire for this date."""
        match watched.policy.overlap:
            case Overlap.SKIP:
                other = next(self._others(watched.job_id, date), None)
                return ALONE if other is None else Meeting(("overlap", overlap(other.id)))
            case Overlap.QUEUE:
                return self._behind(watched.policy, watched.job_id, date)
            case Overlap.REPLACE:
                return Meeting(replaces=tuple(self._others(watched.job_id, date)))
            case _:
                return FREE

    def _behind(self, policy: FirePolicy, job_id: int, date: datetime) -> Meeting:
        bound = policy.queue_bound
        waiting = islice(self._known.in_the_way((job_id,), date), bound + 1)
        if sum(1 for _ in waiting) > bound:
            return Meeting(("queue_bound", f"{bound} instances wait already, which is the bound"))
        return Meeting(bound=bound + 1)

    def _others(self, job_id: int, date: datetime) -> Iterator[Instance]:
        """What is under way of the job, or of its workflow, for another date."""
        return self._known.in_the_way(self._births.workflow(job_id), date)

    def comes_after_backlog(self, watched: Watched) -> bool:
        """Whether what was missed of the job waits still: the oldest of it comes first."""
        return watched.policy.serial and any(
            watched.is_late(waiting.logical_at, waiting.queued_at or waiting.due_at)
            for waiting in self._known.each_queued(watched.job_id)
        )


def place_of_replaced(job_id: int, replaced: tuple[Instance, ...], now: datetime) -> datetime:
    """Since when the newer one waits: at the back of the queue each would be replaced in its turn."""
    waiting = (one for one in replaced if one.job_id == job_id and one.status is Status.QUEUED and not one.attempts)
    return min((one.queued_at for one in waiting if one.queued_at), default=now)


def overlap(instance_id: int) -> str:
    """The reason of a fire that makes no instance because one of the same job has not ended."""
    return f"overlap: instance {instance_id} has not ended"
