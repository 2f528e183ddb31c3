"""Why nothing starts, or never could, on the nodes that there are."""

from __future__ import annotations

from collections.abc import Sequence

from jobs.core.records import Demand
from jobs.holds.phrases import clock, cores, needs
from jobs.holds.scene import Live, Scene


def nobody_runs(scene: Scene) -> str:
    node = scene.last_seen
    if node is None or node.heartbeat_at is None:
        return "no node runs the scheduler"
    return f"no node runs the scheduler; {node.name} was last seen at {clock(node.heartbeat_at, scene.now)}"


def too_small(demand: Demand, live: Sequence[Live]) -> str:
    most = max(node.whole.slots for node in live)
    memory = [node.whole.memory_mb for node in live if node.whole.memory_mb is not None]
    if demand.cores > most:
        return f"needs {cores(demand.cores)}, and no node that runs now can give more than {most}"
    if len(memory) == len(live) and demand.memory_mb > max(memory):
        return f"needs {demand.memory_mb} MB of memory, and no node that runs now can give more than {max(memory)} MB"
    return f"needs {needs(demand)}, and no node that runs now can give both"


def stopped(able: Sequence[Live]) -> str:
    if len(able) == 1:
        return able[0].stopped
    return "; ".join(_stopped_there(live) for live in able)


def _stopped_there(live: Live) -> str:
    said = live.node.admission_stopped
    return f"on {live.node.name}: {said.rstrip('.')}" if said else live.stopped
