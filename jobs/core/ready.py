"""Queued instances in the order in which they may start, grouped by what they need.

Those with the same needs may or may not start together, so a pass looks at the first of each group: it costs by kinds
of needs, never by the length of the queue.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from jobs.core.records import Demand
from jobs.core.timetable import SMALL

Place = tuple[int, int]  # (order key, instance id)


@dataclass(frozen=True, slots=True)
class Needs:
    """All that a start is decided by, but for the order.

    `limits` and `rates` are those that a limit exists for. `alone`: the job of which nothing else may run beside it.
    """

    demand: Demand
    limits: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    alone: int | None = None


class _Group:
    """The places of one kind of needs. A dead one stays until it comes to the top or more than half are dead.

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
        self._groups: dict[Needs, _Group] = {}
        self._places: dict[int, tuple[Needs, Place]] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, instance_id: int) -> bool:
        return instance_id in self._places

    def add(self, instance_id: int, order_key: int, needs: Needs) -> None:
        """Put it in its place; an instance that is here already moves."""
        new = (needs, (order_key, instance_id))
        if self._places.get(instance_id) == new:
            return
        self.discard(instance_id)
        self._places[instance_id] = new
        self._groups.setdefault(needs, _Group()).add(new[1])

    def discard(self, instance_id: int) -> None:
        if instance_id not in self._places:
            return
        needs, place = self._places.pop(instance_id)
        group = self._groups[needs]
        group.remove(place)
        if not len(group):
            del self._groups[needs]

    def first(self, needs: Needs) -> Place | None:
        """The next in order of those with these needs."""
        group = self._groups.get(needs)
        return None if group is None else group.first()

    def kinds(self) -> list[Needs]:
        """All kinds of needs that have somebody waiting, in the order of their first."""
        return sorted(self._groups, key=lambda needs: self._groups[needs].first())
