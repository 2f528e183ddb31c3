"""Queued instances in the order in which they may start, grouped by what they need.

Those with the same needs may or may not start together, so a pass looks at the first of each group: it costs by kinds
of needs, never by the length of the queue. One that waits for another instance of its own job is parked until that has
ended: were it a kind of its own, a pass would cost by the number of jobs.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from jobs.core.records import Demand
from jobs.core.timetable import SMALL

Place = tuple[int, int]  # (order key, instance id)


@dataclass(frozen=True, slots=True)
class Needs:
    """All that a start is decided by, but for the order.

    `limits` and `rates` are those that a limit exists for. `alone`: the job of which nothing else may run beside it,
    which makes no kind of its own. `environment`: the key of the one that it runs in.
    """

    demand: Demand
    limits: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    environment: str = ""
    alone: int | None = field(default=None, compare=False)


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
            self.heap, self.dead = sorted(set(self.heap) - self.dead), set()

    def first(self) -> Place:
        """Of a group that has somebody."""
        while self.heap[0] in self.dead:
            self.dead.remove(heapq.heappop(self.heap))
        return self.heap[0]

    def in_order(self) -> Iterator[Place]:
        """One after another, for as many as are asked for. Nobody may be added meanwhile; who came may be removed."""
        heap, dead = self.heap, self.dead  # which belong together: a removal may begin both anew
        ahead = [(heap[0], 0)]
        while ahead:
            place, at = heapq.heappop(ahead)
            if place not in dead:
                yield place
            for below in range(2 * at + 1, min(2 * at + 3, len(heap))):
                heapq.heappush(ahead, (heap[below], below))


class ReadySet:
    """Each instance once. Removal marks; a held first does not keep the dead behind it for ever (see `_Group`)."""

    def __init__(self) -> None:
        self._groups: dict[Needs, _Group] = {}
        self._places: dict[int, tuple[Needs, Place]] = {}
        self._alone: dict[int, int] = {}
        self._parked: dict[int, dict[int, tuple[Needs, Place]]] = {}
        self.environments: Counter[str] = Counter()  # how many wait for which, without those that are parked

    def __len__(self) -> int:
        """Without those that are parked."""
        return len(self._places)

    def __contains__(self, instance_id: int) -> bool:
        return instance_id in self._places or instance_id in self._parked.get(self._alone.get(instance_id, 0), ())

    def add(self, instance_id: int, order_key: int, needs: Needs) -> None:
        """Put it in its place; an instance that is here already moves."""
        alone = needs.alone
        new = (needs, (order_key, instance_id))
        if self._places.get(instance_id) == new and self._alone.get(instance_id) == alone:
            return
        self.discard(instance_id)
        if alone is not None:
            self._alone[instance_id] = alone
        self._put(instance_id, new)

    def discard(self, instance_id: int) -> None:
        alone = self._alone.pop(instance_id, None)
        if alone is not None and instance_id in self._parked.get(alone, ()):
            del self._parked[alone][instance_id]
            return
        self._take_out(instance_id)

    def alone(self, instance_id: int) -> int | None:
        """The job of which nothing else may run beside this one, if that is so."""
        return self._alone.get(instance_id)

    def park(self, instance_id: int) -> bool:
        """It waits for another of its job. False if one of that job does already: the first in order is told first."""
        parked = self._parked.setdefault(self._alone[instance_id], {})
        is_first = not parked
        parked[instance_id] = self._places[instance_id]
        self._take_out(instance_id)
        return is_first

    def unpark(self, job_id: int) -> None:
        """Nothing of the job runs any more, or something else of it: they are looked at again."""
        freed = self._parked.pop(job_id, {})
        for instance_id, at in freed.items():
            self._put(instance_id, at)

    def _put(self, instance_id: int, at: tuple[Needs, Place]) -> None:
        self._places[instance_id] = at
        self.environments[at[0].environment] += 1
        self._groups.setdefault(at[0], _Group()).add(at[1])

    def _take_out(self, instance_id: int) -> None:
        if instance_id not in self._places:
            return
        needs, place = self._places.pop(instance_id)
        self.environments[needs.environment] -= 1
        if not self.environments[needs.environment]:
            del self.environments[needs.environment]
        group = self._groups[needs]
        group.remove(place)
        if not len(group):
            del self._groups[needs]

    def first(self, needs: Needs) -> Place | None:
        """The next in order of those with these needs."""
        group = self._groups.get(needs)
        return None if group is None else group.first()

    def count(self, needs: Needs) -> int:
        """How many there are with these needs, without those that are parked."""
        group = self._groups.get(needs)
        return 0 if group is None else len(group)

    def in_order(self, needs: Needs) -> Iterator[Place]:
        """Those with these needs, lazily. Nobody may be added meanwhile; who has come may be taken out or parked."""
        return self._groups[needs].in_order()

    def kinds(self) -> list[Needs]:
        """All kinds of needs that have somebody waiting, in the order of their first."""
        return sorted(self._groups, key=lambda needs: self._groups[needs].first())
