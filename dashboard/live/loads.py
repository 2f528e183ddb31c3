"""The latest sample of this machine. Samples are no events: whoever is late gets the newest only."""

from __future__ import annotations

import json
from collections.abc import Mapping


class Loads:
    """One topic, `load`; a cursor is the number of the sample that a socket has."""

    topic = "load"

    def __init__(self) -> None:
        self._number = 0
        self._frame = ""

    def put(self, node: str, cores: Mapping[int, tuple[float, str]], memory: tuple[int, int]) -> None:
        """Load (0.0 to 1.0) and look of each core of `node` (its UUID), and megabytes of memory used of how many."""
        self._number += 1
        shown = {str(core): [round(load, 2), look] for core, (load, look) in cores.items()}
        self._frame = json.dumps(
            {"kind": "load", "topic": self.topic, "node": node, "cores": shown, "memory": memory},
            separators=(",", ":"),
        )

    def after(self, cursor: int) -> tuple[str, int] | None:
        """The latest sample and its cursor, None if the socket has it."""
        return (self._frame, self._number) if self._number > cursor else None
