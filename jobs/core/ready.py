"""Queued instances in the order in which they may start, grouped by what they need.

Those with the same needs may or may not start together, so a pass looks at the first of each group: it costs by kinds
of needs, never by the length of the queue. One that waits for another instance of its own job is parked until that has
ended: were it a kind of its own, a pass would cost by the number of jobs.
"""

from __future__ import annotations

import heapq
from collections.abc import Generator
from dataclasses import dataclass, field

from jobs.core.records import Demand
from jobs.core.timetable import SMALL
from jobs.core.values import made_often

Place = tuple[int, int]  # (order key, instance id)


@made_often
@dataclass(frozen=True, slots=True)
class Needs:
    """All that a start is decided by, but for the order.

    `limits` and `rates` are those that a limit exists for. `alone`: the job of which nothing else may run beside it,
    which makes no kind of its own. `environment`: the key of the one that it runs in. One for each kind is best kept:
    it is hashed at every coming and going.
    """

    demand: Demand
    limits: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    environment: str = ""
    alone: int | None = field(default=None, compare=False)


class Group:
    """The places of those with the same `needs`. A dead one stays until it comes to the top or more than half are dead.

    One that comes back while it is still in the heap is no longer dead, and is not put there a second time.
    """

    def __init__(self, needs: Needs) -> None:
        self.needs = needs
        self.heap: list[Place] = []
        self.dead: set[Place] = set()
        self._looked_at: list[Place] = []

    def __len__(self) -> int:
        return len(self.heap) + len(self._looked_at) - len(self.dead)

    def add(self, place: Place) -> None:
        if place in self.dead:
            self.dead.remove(place)
        else:
            heapq.heappush(self.heap, place)

    def remove(self, place: Place) -> None:
        self.dead.add(place)
        if len(self.heap) > SMALL and len(self.dead) > len(self):
            self.heap = sorted(set(self.heap) - self.dead)
            self._looked_at = [one for one in self._looked_at if one not in self.dead]
            self.dead = set()

    def first(self) -> Place:
        """Of a group that has somebody."""
        while self.heap[0] in self.dead:
            self.dead.remove(heapq.heappop(self.heap))
        return self.heap[0]

    def in_order(self) -> Generator[Place, None, None]:
        """One after another, for as many as are asked for; who has come may be removed. Close it before the next.

        They leave the heap and come back at the end, all but the dead: in it, the dead between those that are looked at
        would be passed over at each pass anew.
        """
        try:
            while self.heap:
                place = heapq.heappop(self.heap)
                if place in self.dead:
                    self.dead.remove(place)
                else:
                    self._looked_at.append(place)
                    yield place
        finally:
            looked_at, self._looked_at = self._looked_at, []
            for place in looked_at:
                if place in self.dead:
                    self.dead.remove(place)
                else:
                    heapq.heappush(self.heap, place)


class ReadySet:
    """Each instance once. Removal marks; a held first does not keep the dead behind it for ever (see `Group`)."""

    def __init__(self) -> None:
        self._groups: dict[Needs, Group] = {}
        self._places: dict[int, tuple[Group, Place]] = {}
        self._alone: dict[int, int] = {}
        self._parked: dict[int, tuple[Needs, Place]] = {}
        self._parked_of: dict[int, Group] = {}

    def __len__(self) -> int:
        """Without those that are parked."""
        return len(self._places)

    def __contains__(self, instance_id: int) -> bool:
        return instance_id in self._places or instance_id in self._parked

    def add(self, instance_id: int, order_key: int, needs: Needs) -> None:
        """Put it in its place; an instance that is here already moves."""
        place, alone = (order_key, instance_id), needs.alone
        known = self._places.get(instance_id)
        if known and known[0].needs == needs and known[1] == place and self._alone.get(instance_id) == alone:
            return
        self.discard(instance_id)
        if alone is not None:
            self._alone[instance_id] = alone
        self._put(needs, place)

    def discard(self, instance_id: int) -> None:
        """What is parked behind it is looked at in its stead."""
        alone = self._alone.pop(instance_id, None)
        if alone is not None and instance_id in self._parked:
            self._take_parked(alone, instance_id)
            return
        if alone is not None:
            self.unpark(alone)  # before it is taken out, or a pass would lose its group
        self._take_out(instance_id)

    def alone(self, instance_id: int) -> int | None:
        """The job of which nothing else may run beside this one, if that is so."""
        return self._alone.get(instance_id)

    def park(self, instance_id: int) -> bool:
        """It waits for another of its job. False if one before it does already: only the first in order is told."""
        group, place = self._places[instance_id]
        parked = self._parked_of.setdefault(self._alone[instance_id], Group(group.needs))
        is_first = not len(parked) or place < parked.first()
        parked.add(place)
        self._parked[instance_id] = (group.needs, place)
        self._take_out(instance_id)
        return is_first

    def unpark(self, job_id: int) -> None:
        """The first parked of the job is looked at again: nothing of it runs any more, or something else of it.

        Those behind stay: only one can start, and when it goes the next comes.
        """
        parked = self._parked_of.get(job_id)
        if parked is not None:
            _, instance_id = parked.first()
            self._put(*self._take_parked(job_id, instance_id))

    def _take_parked(self, job_id: int, instance_id: int) -> tuple[Needs, Place]:
        needs, place = self._parked.pop(instance_id)
        parked = self._parked_of[job_id]
        parked.remove(place)
        if not len(parked):
            del self._parked_of[job_id]
        return needs, place

    def _put(self, needs: Needs, place: Place) -> None:
        group = self._groups.get(needs)
        if group is None:
            group = self._groups[needs] = Group(needs)
        self._places[place[1]] = (group, place)
        group.add(place)

    def _take_out(self, instance_id: int) -> None:
        if instance_id not in self._places:
            return
        group, place = self._places.pop(instance_id)
        group.remove(place)
        if not len(group):
            del self._groups[group.needs]

    def environments(self) -> set[str]:
        """Those that somebody waits for, without who is parked."""
        return {needs.environment for needs in self._groups}

    def groups(self) -> list[Group]:
        """All that have somebody waiting, in the order of their first; who is parked does not count."""
        groups = list(self._groups.values())
        return groups if len(groups) == 1 else sorted(groups, key=Group.first)
