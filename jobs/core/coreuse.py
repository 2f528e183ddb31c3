"""How many slots are in use over a stretch of time, and how much is due: by equal parts of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Part:
    """`mean`: slots in use, by time; `most`: at any moment of it. `demanded`: the mean if nothing had to wait.

    `fires`: of schedules, whatever became of them.
    """

    begins: datetime
    mean: float
    most: int
    demanded: float
    fires: int


class CoreUse:
    """Told of every change in order. The last part may reach beyond the end; its mean is of what lies before it."""

    def __init__(self, begins: datetime, ends: datetime, part: timedelta) -> None:
        self.part = part
        self._begins = begins
        self._whole = (ends - begins).total_seconds()
        self._seconds = part.total_seconds()
        count = max(1, -(-(ends - begins) // part))
        self._used_seconds = [0.0] * count
        self._most = [0] * count
        self._demanded_seconds = [0.0] * count
        self._fires = [0] * count
        self._used = 0
        self._since = 0.0
        self.peak = 0
        self.peak_at = begins

    def set(self, used: int, at: datetime) -> None:
        """So many slots are in use from now on."""
        if used == self._used:
            return
        offset = (at - self._begins).total_seconds()
        self._add(self._used_seconds, self._used, self._since, offset)
        self._used, self._since = used, offset
        index = self._index(offset)
        self._most[index] = max(self._most[index], used)
        if used > self.peak:
            self.peak, self.peak_at = used, at

    def demand(self, slots: int, seconds: float, at: datetime) -> None:
        """Something that needs so many slots for so long could start."""
        offset = (at - self._begins).total_seconds()
        self._add(self._demanded_seconds, slots, offset, offset + seconds)

    def fired(self, at: datetime) -> None:
        """A schedule came due."""
        self._fires[self._index((at - self._begins).total_seconds())] += 1

    def _index(self, offset: float) -> int:
        return min(int(offset / self._seconds), len(self._most) - 1)

    def parts(self, until: datetime) -> list[Part]:
        """Those that began before `until`, up to which everything was told."""
        reached = (until - self._begins).total_seconds()
        self._add(self._used_seconds, self._used, self._since, reached)
        self._since = reached
        count = min(len(self._most), max(1, -(-int(reached * 1000) // int(self._seconds * 1000))))
        return [self._part(index, reached) for index in range(count)]

    def mean(self, until: datetime) -> float:
        """Slots in use on average over all of it."""
        seconds = (until - self._begins).total_seconds()
        self.parts(until)
        return sum(self._used_seconds) / seconds if seconds else float(self._used)

    def _part(self, index: int, reached: float) -> Part:
        begins = index * self._seconds
        length = min(self._seconds, reached - begins) or self._seconds
        whole = min(self._seconds, self._whole - begins) or self._seconds
        mean = self._used_seconds[index] / length
        demanded = self._demanded_seconds[index] / whole
        return Part(self._begins + index * self.part, mean, self._most[index], demanded, self._fires[index])

    def _add(self, parts: list[float], slots: int, since: float, until: float) -> None:
        """Spread what is used from `since` to `until` over the parts; what reaches beyond the last is left out."""
        if not slots:
            return
        size = self._seconds
        index, last = int(since / size), len(parts) - 1
        # What goes on into a part is in use in it from its first moment.
        while since < until and index <= last:
            edge = (index + 1) * size
            parts[index] += slots * (min(edge, until) - since)
            if parts is self._used_seconds and slots > self._most[index]:
                self._most[index] = slots
            since, index = edge, index + 1
