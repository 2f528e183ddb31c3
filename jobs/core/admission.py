"""Who of the ready may start now, on which cores, and why the first of the others may not.

Big and small: when the first in order does not fit, smaller ones may go ahead if they are expected to end before it
could start anyway, or for as long as its patience lasts; after that the cores that come free are kept for it. So it
never starves, and cores are not idle for its sake longer than they must be. Who is held back by a limit, and not by
room, keeps nobody else waiting.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from jobs.core.cores import CoreManager
from jobs.core.limits import Limits
from jobs.core.packages import Preparations
from jobs.core.prediction import Holding, Prediction, Room, earliest_start
from jobs.core.ready import Needs, ReadySet
from jobs.core.records import Allocation, Demand, Hold

PATIENCE = timedelta(seconds=60)

# Of those with the same needs that would take too long to go ahead of a big one: a pass must not cost by the queue.
MOST_LOOKED_BEHIND = 10


class Candidate(NamedTuple):
    """What admission asks about a ready instance. `seconds`: how long it is expected to run, None if nobody knows."""

    queued_at: datetime
    seconds: float | None


@dataclass(slots=True)
class Admission:
    """`starts` in order. `holds`: for the first of each kind of needs that waits. `kept_for`: the big one, if any.

    `startable`: how many of those that still wait do so for nothing but room or their turn. `prepares`: environments
    that are to be made sure of, each with an instance that waits for it.
    """

    starts: list[tuple[int, Allocation]] = field(default_factory=list)
    holds: dict[int, Hold] = field(default_factory=dict)
    kept_for: int | None = None
    look_again_at: datetime | None = None
    startable: int = 0
    prepares: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What admission decides by. `busy_with(job, instance)`: another instance of the job that is under way."""

    ready: ReadySet
    manager: CoreManager
    limits: Limits
    candidate: Callable[[int], Candidate]
    busy_with: Callable[[int, int], int | None]
    holdings: Callable[[], Iterable[Holding]]
    load: Mapping[int, float]
    patience: timedelta = PATIENCE
    preparations: Preparations = field(default_factory=Preparations)


@dataclass(frozen=True, slots=True)
class _Big:
    """The first in order that does not fit."""

    instance_id: int
    demand: Demand
    patient_until: datetime


def admit(around: Surroundings, now: datetime) -> Admission:
    """Start all that may start; allocates from the manager and the limits, and takes from the ready set what starts."""
    return _Pass(around, now).run()


class _Pass:
    def __init__(self, around: Surroundings, now: datetime) -> None:
        self._around = around
        self._now = now
        self._result = Admission()
        self._big: _Big | None = None
        self._foreseen: Prediction | None = None
        self._alone: dict[int, int] = {}
        self._behind: Counter[Needs] = Counter()
        self._lacks: dict[Demand, str] = {}
        self._stuck = 0

    def run(self) -> Admission:
        ready = self._around.ready
        kinds = ready.kinds()
        queues = [ready.in_order(needs) for needs in kinds]
        firsts = [(next(queue), kind) for kind, queue in enumerate(queues)]  # in order, as the kinds are: a heap
        while firsts:
            (_, instance_id), kind = firsts[0]
            following = next(queues[kind], None) if self._look_at(instance_id, kinds[kind]) else None
            if following is None:
                heapq.heappop(firsts)
            else:
                heapq.heapreplace(firsts, (following, kind))
        self._result.startable = len(ready) - self._stuck - len(self._result.starts)
        if self._big is not None and self._result.holds:
            # Only a big one whose patience has run out keeps cores from others; until then nothing is reserved.
            patient = self._now < self._big.patient_until
            self._result.kept_for = None if patient else self._big.instance_id
            if patient:
                self._look_again_at(self._big.patient_until)
        return self._result

    def _look_at(self, instance_id: int, needs: Needs) -> bool:
        """Whether another with the same needs, the first by now, is worth a look."""
        hold = None if self._around.manager.can_ever(needs.demand) else Hold("node_too_small")
        if hold is None and self._waits_for_its_own(instance_id):
            return True
        if hold is None:
            hold = self._unprepared(instance_id, needs.environment) or self._limit(needs)
        if hold is not None:
            self._stuck += self._around.ready.count(needs)
        else:
            hold = self._no_room(instance_id, needs)
        if hold is None:
            self._result.starts.append((instance_id, self._start(instance_id, needs)))
            return True
        if hold.code != "behind":
            self._result.holds[instance_id] = hold
            return False
        # It is held for the time that it takes, so one with the same needs may go ahead; only the first is told why.
        looked = self._behind[needs]
        self._behind[needs] += 1
        if not looked:
            self._result.holds[instance_id] = hold
        return looked < MOST_LOOKED_BEHIND

    def _waits_for_its_own(self, instance_id: int) -> bool:
        """Whether another instance of its job keeps it waiting: then it is parked until that has ended."""
        ready = self._around.ready
        job_id = ready.alone(instance_id)
        if job_id is None:
            return False
        other = self._alone.get(job_id) or self._around.busy_with(job_id, instance_id)
        if other is None:
            return False
        if ready.park(instance_id):
            self._result.holds[instance_id] = Hold("overlap", {"instance": other})
        return True

    def _unprepared(self, instance_id: int, key: str) -> Hold | None:
        """It waits for its environment before it waits for anything that others could use meanwhile."""
        preparations = self._around.preparations
        if preparations.is_settled(key):
            return None
        if preparations.ask(key, self._now):
            self._result.prepares[key] = instance_id
        return preparations.hold(key)

    def _limit(self, needs: Needs) -> Hold | None:
        """What holds it back whatever room there is."""
        if not needs.limits and not needs.rates:
            return None
        lacking = self._around.limits.lacks(needs.limits, needs.rates, self._now)
        if lacking is None:
            return None
        hold, at = lacking
        if at is not None:
            self._look_again_at(at)
        return hold

    def _no_room(self, instance_id: int, needs: Needs) -> Hold | None:
        lacking = self._lacking(needs.demand)
        if lacking:
            if self._big is None:
                self._big = self._as_big(instance_id, needs)
            return Hold(lacking)
        big = self._big
        if not any(needs.demand):
            return None  # it takes nothing that a big one waits for
        if big is None or self._now < big.patient_until or self._ends_before(instance_id, big):
            return None
        return Hold("behind", {"instance": big.instance_id})

    def _lacking(self, demand: Demand) -> str:
        """Asked once for each demand until something starts: many kinds of needs have the same."""
        found = self._lacks.get(demand)
        if found is None:
            found = self._lacks[demand] = self._around.manager.lacks(demand)
        return found

    def _ends_before(self, instance_id: int, big: _Big) -> bool:
        seconds = self._around.candidate(instance_id).seconds
        if seconds is None:
            return False
        at = self._big_could_start_at(big)
        return at is not None and self._now + timedelta(seconds=seconds) <= at

    def _big_could_start_at(self, big: _Big) -> datetime | None:
        """Asked for only once its patience has run out: it costs by all that runs. None: nobody knows."""
        if not self._foreseen:
            manager = self._around.manager
            free = Room(manager.free_slots, manager.free_memory_mb if manager.memory_total_mb else None)
            started = [self._holding_of(started_id, held) for started_id, held in self._result.starts]
            self._foreseen = earliest_start(big.demand, free, [*self._around.holdings(), *started], self._now)
        return self._foreseen.at

    def _start(self, instance_id: int, needs: Needs) -> Allocation:
        allocation = self._around.manager.allocate(instance_id, needs.demand, self._around.load)
        if allocation is None:
            raise AssertionError(f"instance {instance_id} was found to fit and then did not")
        self._lacks.clear()
        self._around.limits.take(instance_id, needs.limits, needs.rates, self._now)
        alone = self._around.ready.alone(instance_id)
        if alone is not None:
            self._alone[alone] = instance_id
        self._around.ready.discard(instance_id)
        return allocation

    def _as_big(self, instance_id: int, needs: Needs) -> _Big:
        queued_at = self._around.candidate(instance_id).queued_at
        return _Big(instance_id, needs.demand, queued_at + self._around.patience)

    def _holding_of(self, instance_id: int, allocation: Allocation) -> Holding:
        """What was started in this very pass holds its cores too."""
        seconds = self._around.candidate(instance_id).seconds
        ends_at = None if seconds is None else self._now + timedelta(seconds=seconds)
        return Holding(instance_id, len(allocation.cores) + allocation.virtual, allocation.memory_mb, ends_at)

    def _look_again_at(self, moment: datetime) -> None:
        self._result.look_again_at = min(self._result.look_again_at or moment, moment)
