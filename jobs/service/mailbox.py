"""How other threads reach the engine's thread."""

from __future__ import annotations

import threading
import time

from jobs.core.inputs import Input


class Mailbox:
    """Facts from any thread, and pokes that say "look at the database". The engine's thread alone takes."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._inputs: list[Input] = []
        self._poked = False

    def put(self, told: Input) -> None:
        with self._condition:
            self._inputs.append(told)
            self._condition.notify()

    def poke(self) -> None:
        with self._condition:
            self._poked = True
            self._condition.notify()

    def wait(self, deadline: float) -> None:
        """Until something is there, or `time.monotonic()` has reached `deadline`."""
        with self._condition:
            while not self._inputs and not self._poked:
                left = deadline - time.monotonic()
                if left <= 0:
                    return
                self._condition.wait(left)

    def take(self) -> tuple[list[Input], bool]:
        """Everything that has come, and whether somebody poked."""
        with self._condition:
            inputs, self._inputs = self._inputs, []
            poked, self._poked = self._poked, False
            return inputs, poked
