"""What people may do to nodes: take one out of work, and put it back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from jobs.actions.answers import NotFound
from jobs.models import Node
from jobs.store.events import NewEvent, record


@dataclass(frozen=True, slots=True)
class NodeChanged:
    """`changed` is False when it was so already; then nothing was written."""

    node_id: int
    name: str
    changed: bool


def drain_node(node_id: int, *, actor: str, now: datetime) -> NodeChanged:
    """It starts nothing new and lets what runs end, also after a restart, until it is undrained. Raises NotFound."""
    return _set_drained(node_id, now, actor=actor, now=now)


def undrain_node(node_id: int, *, actor: str, now: datetime) -> NodeChanged:
    """It takes work again. Raises NotFound."""
    return _set_drained(node_id, None, actor=actor, now=now)


@transaction.atomic
def _set_drained(node_id: int, drained_at: datetime | None, *, actor: str, now: datetime) -> NodeChanged:
    node = Node.objects.select_for_update().filter(pk=node_id).only("name", "drained_at").first()
    if node is None:
        raise NotFound("node", node_id)
    if (node.drained_at is None) == (drained_at is None):
        return NodeChanged(node_id, node.name, changed=False)
    by = actor if drained_at else ""
    Node.objects.filter(pk=node_id).update(drained_at=drained_at, drained_by=by)
    data = {"node": node_id, "draining": drained_at is not None}
    record([NewEvent(now, "node.changed", actor=actor, data=data)])
    return NodeChanged(node_id, node.name, changed=True)
