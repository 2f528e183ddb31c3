"""What the nodes have and what is given out of it; whether they live, `jobs.nodes` tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jobs.core.states import Status
from jobs.models import Instance, Node
from jobs.nodes import slots_of


@dataclass(frozen=True, slots=True)
class Resources:
    """Cores and memory (MB) that there are and that are given out. `max_virtual`: slots beyond the physical cores."""

    total_physical: int = 0
    used_physical: int = 0
    virtual_allocations: int = 0
    max_virtual: int = 0
    total_memory_mb: int = 0
    used_memory_mb: int = 0

    def __add__(self, other: Resources) -> Resources:
        return Resources(
            self.total_physical + other.total_physical,
            self.used_physical + other.used_physical,
            self.virtual_allocations + other.virtual_allocations,
            self.max_virtual + other.max_virtual,
            self.total_memory_mb + other.total_memory_mb,
            self.used_memory_mb + other.used_memory_mb,
        )

    @property
    def free_physical(self) -> int:
        return self.total_physical - self.used_physical

    @property
    def utilization_percent(self) -> float:
        """Physical cores given out, of those that there are."""
        return round(100 * self.used_physical / self.total_physical, 1) if self.total_physical else 0.0


def resources_by_node(nodes: Iterable[Node]) -> dict[int, Resources]:
    """One query."""
    running: dict[int | None, list[Instance]] = {}
    held = Instance.objects.filter(status=Status.RUNNING).only("node", "cores", "virtual_cores", "memory_mb")
    for instance in held:
        running.setdefault(instance.node_id, []).append(instance)
    return {node.pk: _resources(node, running.get(node.pk, ())) for node in nodes}


def _resources(node: Node, running: Sequence[Instance]) -> Resources:
    return Resources(
        total_physical=len(node.cores),
        used_physical=len({core for instance in running for core in instance.cores} & set(node.cores)),
        virtual_allocations=sum(instance.virtual_cores for instance in running),
        max_virtual=slots_of(node) - len(node.cores),
        total_memory_mb=node.memory_mb,
        used_memory_mb=sum(instance.memory_mb for instance in running),
    )
