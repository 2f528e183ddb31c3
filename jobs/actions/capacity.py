"""The most that any one node can ever give to an attempt. Who asks for more would wait for ever."""

from __future__ import annotations

import os
from dataclasses import dataclass

from jobs.models import Node
from jobs.nodes import slots_of
from jobs.telemetry.memory import memory_use


@dataclass(frozen=True, slots=True)
class Capacity:
    """`memory_mb` None: some node does not count memory. The texts say whose they are."""

    cores: int
    cores_of: str
    memory_mb: int | None
    memory_of: str


def largest_capacity() -> Capacity:
    """Over all nodes that have ever registered; of this machine, with the default overcommit, before the first has."""
    nodes = [node for node in Node.objects.order_by("pk") if node.cores]
    if not nodes:
        nodes = [Node(name="this machine", cores=sorted(os.sched_getaffinity(0)), memory_mb=memory_use().total_mb)]
    roomiest = max(nodes, key=slots_of)
    memory = max(nodes, key=lambda node: node.memory_mb)
    counted = all(node.memory_mb for node in nodes)
    return Capacity(
        slots_of(roomiest),
        f"{roomiest.name}: {len(roomiest.cores)} cores at overcommit {roomiest.overcommit:g}",
        memory.memory_mb if counted else None,
        memory.name,
    )
