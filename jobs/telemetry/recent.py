"""The last five minutes of this machine's cores, in memory of whatever process samples them anyway."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock

STEP_SECONDS = 5
STEPS = 60


@dataclass(frozen=True, slots=True)
class Past:
    """`cores`: by core id its mean load of each step in per cent, None where nothing was sampled; all equally long.

    The newest is the last one, of step number `last`. Only steps that are over: what is here stays as it is.
    """

    last: int
    cores: Mapping[int, tuple[int | None, ...]]


@dataclass(slots=True)
class _Step:
    number: int
    sums: dict[int, tuple[float, int]] = field(default_factory=dict)

    def mean(self, core: int) -> int | None:
        total, count = self.sums.get(core, (0.0, 0))
        return round(100 * total / count) if count else None


class RecentLoads:
    """Safe for threads: an engine or a sampler notes, pages read. Steps are numbered by the machine's monotonic clock,
    so that processes of one machine agree on them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._steps: deque[_Step] = deque(maxlen=STEPS + 1)

    def note(self, loads: Mapping[int, float]) -> None:
        """Load from 0.0 to 1.0 of each core just now."""
        with self._lock:
            number = self._now()  # here: who waited for the lock would add to a step that is over, or begin it again
            if not self._steps or self._steps[-1].number != number:
                self._steps.append(_Step(number))
            sums = self._steps[-1].sums
            for core, load in loads.items():
                total, count = sums.get(core, (0.0, 0))
                sums[core] = (total + load, count + 1)

    def noting(self, sample: Callable[[], dict[int, float]]) -> Callable[[], dict[int, float]]:
        """The same sampler, but what it gives is noted here too."""

        def sample_and_note() -> dict[int, float]:
            loads = sample()
            self.note(loads)
            return loads

        return sample_and_note

    def past(self, steps: int = STEPS) -> Past:
        """The newest `steps` of them."""
        with self._lock:
            last = self._now() - 1
            by_number = {step.number: step for step in self._steps if last - steps < step.number <= last}
            cores = sorted({core for step in by_number.values() for core in step.sums})
            numbers = range(last - steps + 1, last + 1)
            means = {core: tuple(_mean(by_number.get(number), core) for number in numbers) for core in cores}
        return Past(last, means)

    def _now(self) -> int:
        return int(self._clock() // STEP_SECONDS)


def _mean(step: _Step | None, core: int) -> int | None:
    return step.mean(core) if step else None


here = RecentLoads()
