"""Who is due when: a min-heap by (moment, sequence).

A cancel only marks its entry, so it is O(1); once more than half of the heap is marked it is rebuilt, so that a
schedule edited a million times does not hold a million dead entries. Equal moments come out in the order they went in.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterator
from datetime import datetime
from itertools import count
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)

# Below this size a rebuild costs less than counting pays back.
SMALL = 64


class Timetable(Generic[Key]):
    """One moment per key. Never hands out a key before its moment."""

    def __init__(self) -> None:
        self._heap: list[tuple[datetime, int, Key]] = []
        self._live: dict[Key, int] = {}
        self._sequence = count()

    def __len__(self) -> int:
        return len(self._live)

    def __contains__(self, key: Key) -> bool:
        return key in self._live

    def set(self, key: Key, moment: datetime) -> None:
        """`key` is due at `moment`, instead of at any earlier given one."""
        number = next(self._sequence)
        self._live[key] = number
        heapq.heappush(self._heap, (moment, number, key))
        self._rebuild_if_mostly_dead()

    def cancel(self, key: Key) -> bool:
        """False when it was not there (any more)."""
        if self._live.pop(key, None) is None:
            return False
        self._rebuild_if_mostly_dead()
        return True

    def next_moment(self) -> datetime | None:
        """When to look again; None when nothing is waited for."""
        while self._heap:
            moment, number, key = self._heap[0]
            if self._live.get(key) == number:
                return moment
            heapq.heappop(self._heap)
        return None

    def take_due(self, now: datetime) -> Iterator[Key]:
        """Remove and yield, in order, what is due at `now` or before."""
        while self._heap and self._heap[0][0] <= now:
            _, number, key = heapq.heappop(self._heap)
            if self._live.get(key) == number:
                del self._live[key]
                yield key

    def _rebuild_if_mostly_dead(self) -> None:
        if len(self._heap) > SMALL and len(self._heap) > 2 * len(self._live):
            self._heap = [entry for entry in self._heap if self._live.get(entry[2]) == entry[1]]
            heapq.heapify(self._heap)
