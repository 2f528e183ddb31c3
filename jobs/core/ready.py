"""Queued instances in the order in which they may start, grouped by what they demand.

Those with the same demand fit or do not fit together, so a pass looks at the first of each group: it costs by demand
classes, never by the length of the queue.
"""

from __future__ import annotations

import heapq

from jobs.core.records import Demand

Place = tuple[int, int]  # (order key, instance id)


class ReadySet:
    """Each instance once. Removal marks; a group's dead entries are dropped when they reach its top."""

    def __init__(self) -> None:
        self._groups: dict[Demand, list[Place]] = {}
        self._places: dict[int, tuple[Demand, int]] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, instance_id: int) -> bool:
        return instance_id in self._places

    def add(self, instance_id: int, order_key: int, demand: Demand) -> None:
        """Put it in its place; an instance that is here already moves."""
        self._places[instance_id] = (demand, order_key)
        heapq.heappush(self._groups.setdefault(demand, []), (order_key, instance_id))

    def discard(self, instance_id: int) -> None:
        self._places.pop(instance_id, None)

    def first(self, demand: Demand) -> Place | None:
        """The next in order of this demand."""
        group = self._groups.get(demand, [])
        while group and self._places.get(group[0][1]) != (demand, group[0][0]):
            heapq.heappop(group)
        if not group:
            self._groups.pop(demand, None)
            return None
        return group[0]

    def demands(self) -> list[Demand]:
        """All demand classes that have somebody waiting, in the order of their first."""
        firsts = [(place, demand) for demand in list(self._groups) if (place := self.first(demand)) is not None]
        return [demand for _, demand in sorted(firsts, key=lambda pair: pair[0])]
