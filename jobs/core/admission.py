"""Who of the ready may start now, on which cores, and why the first of the others may not.

Big and small: when the first in order does not fit, smaller ones may go ahead if they are expected to end before it
could start anyway, or for as long as its patience lasts; after that the cores that come free are kept for it. So it
never starves, and cores are not idle for its sake longer than they must be. Who is held back by a limit, and not by
room, keeps nobody else waiting.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobs.core.cores import CoreManager
from jobs.core.limits import Limits
from jobs.core.packages import Preparations
from jobs.core.prediction import Holding, Room, by_end, earliest_start
from jobs.core.ready import Group, Needs, ReadySet
from jobs.core.records import Allocation, Demand, Hold
from jobs.core.values import made_often

PATIENCE = timedelta(seconds=60)

# Of those with the same needs that would take too long to go ahead of a big one: a pass must not cost by the queue.
MOST_LOOKED_BEHIND = 10


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


@made_often
@dataclass(frozen=True, slots=True)
class Surroundings:
    """What admission decides by. `busy_with(job, instance)`: another instance of the job that is under way.

    `seconds(instance)`: how long it is expected to run, None if nobody knows; `queued_at(instance)`: since when its
    patience counts. `holdings`: of what runs, in the order `by_end`.
    """

    ready: ReadySet
    manager: CoreManager
    limits: Limits
    seconds: Callable[[int], float | None]
    queued_at: Callable[[int], datetime]
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


class _Kind:
    """Those with the same needs, one after another. `plain`: nothing but room and their own job can hold them back.

    `behind`: how many of them were looked at that take too long to go ahead of a big one.
    """

    __slots__ = ("behind", "group", "needs", "plain", "queue")

    def __init__(self, group: Group, around: Surroundings) -> None:
        needs = group.needs
        self.group = group
        self.needs = needs
        self.queue = group.in_order()
        self.behind = 0
        unlimited = not needs.limits and not needs.rates and around.preparations.is_settled(needs.environment)
        self.plain = unlimited and around.manager.can_ever(needs.demand)


class _Pass:
    def __init__(self, around: Surroundings, now: datetime) -> None:
        self._around = around
        self._now = now
        self._result = Admission()
        self._big: _Big | None = None
        self._big_in_seconds: float | None = None
        self._foreseen = False
        self._alone: dict[int, int] = {}
        self._lacks: dict[Demand, str] = {}
        self._stuck = 0

    def run(self) -> Admission:
        ready = self._around.ready
        kinds = [_Kind(group, self._around) for group in ready.groups()]
        firsts = [(next(kind.queue), at) for at, kind in enumerate(kinds)]  # in order, as the kinds are: a heap
        while firsts:
            (_, instance_id), at = firsts[0]
            kind = kinds[at]
            following = next(kind.queue, None) if self._look_at(instance_id, kind) else None
            if following is None:
                heapq.heappop(firsts)
            else:
                heapq.heapreplace(firsts, (following, at))
        for kind in kinds:
            kind.queue.close()
        self._result.startable = len(ready) - self._stuck - len(self._result.starts)
        if self._big is not None and self._result.holds:
            # Only a big one whose patience has run out keeps cores from others; until then nothing is reserved.
            patient = self._now < self._big.patient_until
            self._result.kept_for = None if patient else self._big.instance_id
            if patient:
                self._look_again_at(self._big.patient_until)
        return self._result

    def _look_at(self, instance_id: int, kind: _Kind) -> bool:
        """Whether another with the same needs, the first by now, is worth a look."""
        needs = kind.needs
        hold = None if kind.plain or self._around.manager.can_ever(needs.demand) else Hold("node_too_small")
        if hold is None and self._waits_for_its_own(instance_id):
            return True
        if hold is None and not kind.plain:
            hold = self._unprepared(instance_id, needs.environment) or self._limit(needs)
        if hold is not None:
            self._stuck += len(kind.group)
        else:
            hold = self._no_room(instance_id, needs)
        if hold is None:
            self._result.starts.append((instance_id, self._start(instance_id, needs)))
            return True
        if hold.code != "behind":
            self._result.holds[instance_id] = hold
            return False
        # It is held for the time that it takes, so one with the same needs may go ahead; only the first is told why.
        kind.behind += 1
        if kind.behind == 1:
            self._result.holds[instance_id] = hold
        return kind.behind <= MOST_LOOKED_BEHIND

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
        """Whether it is expected to end before the big one could start anyway."""
        seconds = self._around.seconds(instance_id)
        if seconds is None:
            return False
        if not self._foreseen:
            self._big_in_seconds, self._foreseen = self._seconds_to(big), True
        return self._big_in_seconds is not None and seconds <= self._big_in_seconds

    def _seconds_to(self, big: _Big) -> float | None:
        """Until it could start: asked for once its patience has run out, and once in a pass. None: nobody knows."""
        manager = self._around.manager
        free = Room(manager.free_slots, manager.free_memory_mb if manager.memory_total_mb else None)
        started = sorted((self._holding_of(one, held) for one, held in self._result.starts), key=by_end)
        holdings = heapq.merge(self._around.holdings(), started, key=by_end) if started else self._around.holdings()
        at = earliest_start(big.demand, free, holdings, self._now).at
        return None if at is None else (at - self._now).total_seconds()

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
        return _Big(instance_id, needs.demand, self._around.queued_at(instance_id) + self._around.patience)

    def _holding_of(self, instance_id: int, allocation: Allocation) -> Holding:
        """What was started in this very pass holds its cores too."""
        seconds = self._around.seconds(instance_id)
        ends_at = None if seconds is None else self._now + timedelta(seconds=seconds)
        return Holding(instance_id, len(allocation.cores) + allocation.virtual, allocation.memory_mb, ends_at)

    def _look_again_at(self, moment: datetime) -> None:
        self._result.look_again_at = min(self._result.look_again_at or moment, moment)
