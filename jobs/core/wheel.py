"""A timetable for very many rough timers, most of which are cancelled before they are due: a hashed timing wheel.

Time is cut into ticks; an entry lies in slot (its tick modulo the number of slots) until the hand comes to its tick
(Varghese and Lauck, 1987, scheme 6). To set and to cancel are a dictionary's work, and nothing dead stays behind. Only
the entries of the tick under the hand are in a heap, so they come out exactly as from `jobs.core.timetable`. What is
rough is `next_moment`: it may be the beginning of the tick. benchmarks/timetable.py tells when this wins.
"""

from __future__ import annotations

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
        # Bit n: slot n may have somebody. A cancel does not clear it: whoever looks there and finds nobody does.
        self._occupied = 0
        # All in slots have later ticks than the hand's. In the heap may be any tick.
        self._hand: int | None = None
        self._near: Timetable[Key] = Timetable()

    def __len__(self) -> int:
        return len(self._slot_of) + len(self._near)

    def __contains__(self, key: Key) -> bool:
        return key in self._slot_of or key in self._near

    def set(self, key: Key, moment: datetime) -> None:
        """`key` is due at `moment`, instead of at any earlier given one."""
        tick = self._tick(moment)
        if self._hand is None:
            self._hand = tick - 1
        self.cancel(key)
        if tick <= self._hand:
            self._near.set(key, moment)
            return
        number = tick % len(self._slots)
        slot = self._slots[number]
        if not slot:
            self._occupied |= 1 << number
        slot[key] = moment
        self._slot_of[key] = slot

    def cancel(self, key: Key) -> bool:
        """False when it was not there (any more)."""
        slot = self._slot_of.pop(key, None)
        if slot is None:
            return self._near.cancel(key)
        del slot[key]
        return True

    def next_moment(self) -> datetime | None:
        """When to look again, never later than the earliest moment; None when nothing is waited for."""
        ahead = self._ticks_to_first_slot()
        near = self._near.next_moment()
        if ahead is None or self._hand is None:
            return near
        begins = EPOCH + (self._hand + ahead) * self._resolution
        return begins if near is None else min(near, begins)

    def take_due(self, now: datetime) -> Iterator[Key]:
        """Remove and yield, in order, what is due at `now` or before."""
        self._move_hand(self._tick(now))
        yield from self._near.take_due(now)

    def _tick(self, moment: datetime) -> int:
        return (moment - EPOCH) // self._resolution

    def _move_hand(self, tick: int) -> None:
        """Into the heap with all up to `tick`, at most once round: a slot gives all of its turns at once.

        Back is allowed too: the clock was set, or the very first entry lay far ahead.
        """
        last = tick if self._hand is None else min(tick, self._hand + len(self._slots))
        while self._hand is not None and (ahead := self._ticks_to_first_slot()) and self._hand + ahead <= last:
            self._hand += ahead
            self._pour(self._hand % len(self._slots), EPOCH + (tick + 1) * self._resolution)
        self._hand = tick

    def _pour(self, number: int, end: datetime) -> None:
        slot = self._slots[number]
        due = [(key, moment) for key, moment in slot.items() if moment < end]
        for key, moment in due:
            del slot[key], self._slot_of[key]
            self._near.set(key, moment)

    def _ticks_to_first_slot(self) -> int | None:
        """How far from the hand the first slot with somebody is, at least 1 and at most once round; None: nobody."""
        if self._hand is None or not self._slot_of:
            return None
        size = len(self._slots)
        begin = (self._hand + 1) % size
        while True:
            after = self._occupied >> begin
            bits, base = (after, begin) if after else (self._occupied, 0)
            number = base + (bits & -bits).bit_length() - 1
            if self._slots[number]:
                return (number - begin) % size + 1
            self._occupied &= ~(1 << number)
