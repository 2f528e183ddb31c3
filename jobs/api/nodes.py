"""What the nodes have and what is given out of it, and taking one out of work. If they live, `jobs.nodes` tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router

from jobs import actions
from jobs.api import answers
from jobs.api.auth import actor_of
from jobs.api.moments import iso
from jobs.api.strict import identifier
from jobs.core.states import Status
from jobs.models import Instance, Node
from jobs.nodes import slots_of, state_of

router = Router(tags=["nodes"])


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


@router.post("/nodes/{node_id}/drain", response={200: answers.DrainAnswer, **answers.REFUSALS})
def drain_node(request: HttpRequest, node_id: str) -> Any:
    """It starts nothing new and lets what runs end, also after a restart, until it is undrained."""
    number = identifier("node", node_id)
    return _drained(actions.drain_node(number, actor=actor_of(request), now=timezone.now()))


@router.post("/nodes/{node_id}/undrain", response={200: answers.DrainAnswer, **answers.REFUSALS})
def undrain_node(request: HttpRequest, node_id: str) -> Any:
    """It takes work again."""
    number = identifier("node", node_id)
    return _drained(actions.undrain_node(number, actor=actor_of(request), now=timezone.now()))


def _drained(done: actions.NodeChanged) -> dict[str, Any]:
    node = Node.objects.get(pk=done.node_id)
    return {
        "node_id": node.pk,
        "node": node.name,
        "state": state_of(node, timezone.now()),
        "drained_at": iso(node.drained_at),
        "drained_by": node.drained_by,
        "running": Instance.objects.filter(status=Status.RUNNING, node=node).count(),
        "changed": done.changed,
    }


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
