"""So much time and no more, for what is computed while somebody waits for it."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic


class Budget:
    """Begins when it is made. Called, it says whether there is time left."""

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._ends = clock() + seconds

    def __call__(self) -> bool:
        return self._clock() < self._ends
