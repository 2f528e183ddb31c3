"""What the nodes have and what is given out of it, and taking one out of work. If they live, `jobs.nodes` tells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router

from jobs import actions
from jobs.api import answers
from jobs.api.auth import actor_of
from jobs.api.moments import iso
from jobs.api.strict import identifier
from jobs.core.states import AttemptStatus, Status
from jobs.holding import that_hold
from jobs.models import Attempt, Instance, Node
from jobs.nodes import slots_of, state_of

router = Router(tags=["nodes"])

_HELD = ("instance_id", "number", "status", "node_id", "cores", "virtual_cores", "memory_mb", "abandoned_at")


@dataclass(frozen=True, slots=True)
class Resources:
    """Cores and memory (MB) that there are and that are given out. `max_virtual`: slots beyond the physical cores.

    `abandoned`: of what is given out, what threads hold that go on though their instances have ended.
    """

    total_physical: int = 0
    used_physical: int = 0
    virtual_allocations: int = 0
    max_virtual: int = 0
    total_memory_mb: int = 0
    used_memory_mb: int = 0
    abandoned: tuple[Attempt, ...] = ()

    def __add__(self, other: Resources) -> Resources:
        return Resources(
            self.total_physical + other.total_physical,
            self.used_physical + other.used_physical,
            self.virtual_allocations + other.virtual_allocations,
            self.max_virtual + other.max_virtual,
            self.total_memory_mb + other.total_memory_mb,
            self.used_memory_mb + other.used_memory_mb,
            self.abandoned + other.abandoned,
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


def resources_by_node(nodes: Iterable[Node], now: datetime) -> dict[int, Resources]:
    """Two queries at most."""
    nodes = list(nodes)
    held: defaultdict[int, list[Attempt]] = defaultdict(list)
    for attempt in that_hold(Attempt.objects.order_by("id").only(*_HELD), nodes, now):
        held[attempt.node_id].append(attempt)
    return {node.pk: _resources(node, held[node.pk]) for node in nodes}


def _resources(node: Node, held: Sequence[Attempt]) -> Resources:
    return Resources(
        total_physical=len(node.cores),
        used_physical=len({core for attempt in held for core in attempt.cores} & set(node.cores)),
        virtual_allocations=sum(attempt.virtual_cores for attempt in held),
        max_virtual=slots_of(node) - len(node.cores),
        total_memory_mb=node.memory_mb,
        used_memory_mb=sum(attempt.memory_mb for attempt in held),
        abandoned=tuple(attempt for attempt in held if attempt.status == AttemptStatus.ENDED),
    )
