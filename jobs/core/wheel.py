"""A timetable for very many rough timers, most of which are cancelled before they are due: a hashed timing wheel.

Time is cut into ticks; an entry lies in slot (its tick modulo the number of slots) until the hand comes to its tick
(Varghese and Lauck, 1987, scheme 6). To set and to cancel are a dictionary's work, and nothing dead stays behind. Only
the entries of the tick under the hand are in a heap, so they come out exactly as from `jobs.core.timetable`. What is
rough is `next_moment`: it may be the beginning of the tick. benchmarks/timetable.py tells when this wins: from
some tens of thousands of timers in an hour, by up to a factor of two.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from jobs.core.timetable import Timetable

Key = TypeVar("Key", bound=Hashable)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Wheel(Generic[Key]):
    """One moment per key; the same contract as `Timetable`. Never hands out a key before its moment.

    Whoever waits for `next_moment` wakes at most twice in a tick in which something is due, and once in a turn of the
    wheel for each slot with later entries only. So `resolution` x `slots` should be about as long as most timers.
    """

    def __init__(self, resolution: timedelta = timedelta(seconds=1), slots: int = 4096) -> None:
        if resolution <= timedelta(0) or slots < 1:
            raise ValueError(
                f"a wheel of {slots} slots of {resolution} was asked for; it needs a slot at least, and ticks above 0"
            )
        self._resolution = resolution
        self._slots: list[dict[Key, datetime]] = [{} for _ in range(slots)]
        self._slot_of: dict[Key, dict[Key, datetime]] = {}
        # For each slot with somebody the tick at which the hand comes by next, as a heap. A cancel takes none away:
        # whoever comes by and finds nobody does.
        self._stops: list[int] = []
        self._has_stop = bytearray(slots)
        # All in slots have later ticks than the hand's. In the heap may be any tick.
        self._hand: int | None = None
        self._near: Timetable[Key] = Timetable()

    def __len__(self) -> int:
        return len(self._slot_of) + len(self._near)

    def __contains__(self, key: Key) -> bool:
        return key in self._slot_of or key in self._near

    def set(self, key: Key, moment: datetime) -> None:
        """`key` is due at `moment`, instead of at any earlier given one."""
        tick = (moment - EPOCH) // self._resolution
        hand = self._hand
        if hand is None:
            hand = self._hand = tick - 1
        self.cancel(key)
        if tick <= hand:
            self._near.set(key, moment)
            return
        number = tick % len(self._slots)
        slot = self._slots[number]
        slot[key] = moment
        self._slot_of[key] = slot
        if not self._has_stop[number]:
            self._stop_at(number, hand)

    def cancel(self, key: Key) -> bool:
        """False when it was not there (any more)."""
        slot = self._slot_of.pop(key, None)
        if slot is None:
            return self._near.cancel(key)
        del slot[key]
        return True

    def next_moment(self) -> datetime | None:
        """When to look again, never later than the earliest moment; None when nothing is waited for."""
        near = self._near.next_moment()
        stop = self._next_stop()
        if stop is None:
            return near
        begins = EPOCH + stop * self._resolution
        return begins if near is None else min(near, begins)

    def take_due(self, now: datetime) -> Iterator[Key]:
        """Remove and yield, in order, what is due at `now` or before."""
        self._move_hand((now - EPOCH) // self._resolution)
        yield from self._near.take_due(now)

    def _move_hand(self, tick: int) -> None:
        """Into the heap with all up to `tick`; a slot is come by once, however long that was."""
        back = self._hand is not None and tick < self._hand
        self._hand = tick
        if back:  # the clock was set, or the very first entry lay far ahead
            self._plan_stops(tick)
        end = EPOCH + (tick + 1) * self._resolution
        while (stop := self._next_stop()) is not None and stop <= tick:
            number = stop % len(self._slots)
            self._pour(self._slots[number], end)
            self._remove_stop()
            if self._slots[number]:
                self._stop_at(number, tick)

    def _pour(self, slot: dict[Key, datetime], end: datetime) -> None:
        due = [(key, moment) for key, moment in slot.items() if moment < end]
        for key, moment in due:
            del slot[key], self._slot_of[key]
            self._near.set(key, moment)

    def _next_stop(self) -> int | None:
        while self._stops and not self._slots[self._stops[0] % len(self._slots)]:
            self._remove_stop()
        return self._stops[0] if self._stops else None

    def _stop_at(self, number: int, hand: int) -> None:
        heapq.heappush(self._stops, hand + 1 + (number - hand - 1) % len(self._slots))
        self._has_stop[number] = True

    def _remove_stop(self) -> None:
        self._has_stop[heapq.heappop(self._stops) % len(self._slots)] = False

    def _plan_stops(self, hand: int) -> None:
        self._stops.clear()
        for number, slot in enumerate(self._slots):
            self._has_stop[number] = False
            if slot:
                self._stop_at(number, hand)
