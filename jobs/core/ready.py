"""Queued instances in the order in which they may start, grouped by what they demand.

Those with the same demand fit or do not fit together, so a pass looks at the first of each group: it costs by demand
classes, never by the length of the queue.
"""

from __future__ import annotations

import heapq

from jobs.core.records import Demand
from jobs.core.timetable import SMALL

Place = tuple[int, int]  # (order key, instance id)


class _Group:
    """The places of one demand. A dead one stays until it comes to the top or more than half are dead.

    One that comes back while it is still in the heap is no longer dead, and is not put there a second time.
    """

    def __init__(self) -> None:
        self.heap: list[Place] = []
        self.dead: set[Place] = set()

    def __len__(self) -> int:
        return len(self.heap) - len(self.dead)

    def add(self, place: Place) -> None:
        if place in self.dead:
            self.dead.remove(place)
        else:
            heapq.heappush(self.heap, place)

    def remove(self, place: Place) -> None:
        self.dead.add(place)
        if len(self.heap) > SMALL and len(self.dead) > len(self):
            self.heap = sorted(set(self.heap) - self.dead)
            self.dead.clear()

    def first(self) -> Place:
        """Of a group that has somebody."""
        while self.heap[0] in self.dead:
            self.dead.remove(heapq.heappop(self.heap))
        return self.heap[0]


class ReadySet:
    """Each instance once. Removal marks; a held first does not keep the dead behind it for ever (see `_Group`)."""

    def __init__(self) -> None:
        self._groups: dict[Demand, _Group] = {}
        self._places: dict[int, tuple[Demand, Place]] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, instance_id: int) -> bool:
        return instance_id in self._places

    def add(self, instance_id: int, order_key: int, demand: Demand) -> None:
        """Put it in its place; an instance that is here already moves."""
        new = (demand, (order_key, instance_id))
        if self._places.get(instance_id) == new:
            return
        self.discard(instance_id)
        self._places[instance_id] = new
        self._groups.setdefault(demand, _Group()).add(new[1])

    def discard(self, instance_id: int) -> None:
        if instance_id not in self._places:
            return
        demand, place = self._places.pop(instance_id)
        group = self._groups[demand]
        group.remove(place)
        if not len(group):
            del self._groups[demand]

    def first(self, demand: Demand) -> Place | None:
        """The next in order of this demand."""
        group = self._groups.get(demand)
        return None if group is None else group.first()

    def demands(self) -> list[Demand]:
        """All demand classes that have somebody waiting, in the order of their first."""
        return sorted(self._groups, key=lambda demand: self._groups[demand].first())
