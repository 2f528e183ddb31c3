"""The latest sample of this machine, with its last five minutes. Samples are no events: who is late gets the newest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jobs.telemetry.recent import STEP_SECONDS, Past, RecentLoads, here

# A page that has had a frame is at most ten seconds behind, or it is closed: these steps cover what it missed.
STEPS_AGAIN = 4

Cores = Mapping[int, tuple[float, str]]


class Loads:
    """One topic, `load`; a cursor is the number of the sample that a socket has, 0 when it has none."""

    topic = "load"

    def __init__(self, recent: RecentLoads = here) -> None:
        self._recent = recent
        self._number = 0
        self._sample: dict[str, Any] = {}
        self._frames: dict[bool, str] = {}

    def put(self, node: str, cores: Cores, memory: tuple[int, int]) -> None:
        """Load (0.0 to 1.0) and look of each core of `node` (its UUID), and megabytes of memory used of how many."""
        self._number += 1
        self._sample = sample_of(node, cores, memory)
        self._frames.clear()

    def after(self, cursor: int) -> tuple[str, int] | None:
        """The latest sample and its cursor, None if the socket has it. With all five minutes for one that has none."""
        if self._number <= cursor:
            return None
        whole = cursor == 0
        if whole not in self._frames:
            past = self._recent.past() if whole else self._recent.past(STEPS_AGAIN)
            self._frames[whole] = frame_of(self._sample, past)
        return self._frames[whole], self._number


def sample_of(node: str, cores: Cores, memory: tuple[int, int]) -> dict[str, Any]:
    shown = {str(core): [round(load, 2), look] for core, (load, look) in cores.items()}
    return {"node": node, "cores": shown, "memory": memory}


def frame_of(sample: Mapping[str, Any], past: Past) -> str:
    """As the page takes it, by the socket and in its first HTML; docs/live-updates.md tells each field."""
    steps = {"step_seconds": STEP_SECONDS, "last": past.last, "cores": past.cores}
    return json.dumps({"kind": "load", "topic": Loads.topic, **sample, "past": steps}, separators=(",", ":"))
