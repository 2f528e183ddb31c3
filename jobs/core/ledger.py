"""The store of a simulation: nobody else writes there, so it only gives births their ids and refuses what may not be.

It refuses as the real stores do (the contract is in `jobs.core.port`): a date that exists, more of a job than may be.
What has ended is not kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from jobs.core.decisions import Birth, Decision, Dismiss, Finish, Fire, Queue
from jobs.core.records import Instance
from jobs.core.states import LIVE, UNFINISHED, Status
from jobs.core.values import made_often


@made_often
@dataclass(frozen=True, slots=True)
class Written:
    """`refused`: fires, by schedule and logical date, that made nothing for their own job after all."""

    born: list[Instance] = field(default_factory=list)
    refused: list[Fire] = field(default_factory=list)


# What changes how many have not ended, or makes some.
_WRITTEN = frozenset({Finish, Dismiss, Fire, Queue})


class Ledger:
    """Counts what has not ended. `present`: the live instances that there are to begin with."""

    def __init__(self, present: Iterable[Instance], last_id: int) -> None:
        known = list(present)
        self._dates = {(one.job_id, one.logical_at) for one in known}
        self._backfills = {one.id for one in known if one.backfill}  # which no fire is refused for
        self._unfinished = Counter(one.job_id for one in known if one.status in UNFINISHED and not one.backfill)
        self._last_id = last_id

    def commit(self, decisions: Sequence[Decision]) -> Written:
        """Ends before fires, fires before what joins the queue, as every store has it."""
        written = Written()
        fires: list[Fire] = []
        queued: list[Queue] = []
        if _WRITTEN.isdisjoint(map(type, decisions)):
            return written
        for decision in decisions:
            match decision:
                case Finish() if decision.status not in LIVE:
                    self._count(decision, -1)
                case Dismiss() if decision.from_status in UNFINISHED:
                    self._count(decision, -1)
                case Fire():
                    fires.append(decision)
                case Queue() if decision.from_status is Status.PENDING:
                    queued.append(decision)
        for fire in fires:
            self._fire(fire, written)
        for queue in queued:
            self._count(queue, 1)
        return written

    def _count(self, decision: Finish | Dismiss | Queue, by: int) -> None:
        if decision.instance_id not in self._backfills:
            self._unfinished[decision.job_id] += by

    def _fire(self, fire: Fire, written: Written) -> None:
        refused: set[datetime] = set()
        for birth in fire.births:
            if birth.logical_at in refused:
                continue
            if not self._taken(birth):
                written.born.append(self._bear(birth, fire.schedule_id))
                if birth.job_id != fire.job_id:  # another root of the workflow makes the same one
                    self._dates.add((birth.job_id, birth.logical_at))
            elif birth.job_id == fire.job_id:
                refused.add(birth.logical_at)
                written.refused.append(fire)

    def _taken(self, birth: Birth) -> bool:
        full = birth.bound is not None and self._unfinished[birth.job_id] >= birth.bound
        return full or (birth.job_id, birth.logical_at) in self._dates

    def _bear(self, birth: Birth, schedule_id: int) -> Instance:
        self._last_id += 1
        if birth.status in UNFINISHED:
            self._unfinished[birth.job_id] += 1
        return birth.instance(self._last_id, schedule_id)
