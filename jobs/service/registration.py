"""This node's row: who it is, that it has started, and that it is alive."""

from __future__ import annotations

import json
import os
import platform
import uuid
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import F

from jobs.models import Attempt, Node
from jobs.service.capacity import Capacity
from jobs.store.events import NewEvent, record

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class NodeNameTakenError(Exception):
    """Another data folder registered a node of this name in the same database."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"A node called {name!r} is registered already, from another data folder; a name stands for one machine. "
            "Start this one with --node and a name of its own."
        )


def identity(data_dir: Path) -> uuid.UUID:
    """The UUID kept in the data folder, made at the first start: a host may change its name, or share it."""
    file = data_dir / "node.json"
    if file.exists():
        return uuid.UUID(json.loads(file.read_text())["uuid"])
    made = uuid.uuid4()
    temporary = file.with_suffix(".new")
    temporary.write_text(json.dumps({"uuid": str(made)}) + "\n")
    temporary.replace(file)
    return made


@transaction.atomic
def register(data_dir: Path, name: str, capacity: Capacity, version: str, now: datetime) -> Node:
    """Write that this node has started, in its next incarnation. Raises NodeNameTakenError."""
    identifier = identity(data_dir)
    if Node.objects.filter(name=name).exclude(uuid=identifier).exists():
        raise NodeNameTakenError(name)
    node, _ = Node.objects.get_or_create(uuid=identifier, defaults={"name": name})
    Node.objects.filter(pk=node.pk).update(
        name=name,
        incarnation=F("incarnation") + 1,
        host_name=platform.node(),
        boot_id=BOOT_ID.read_text().strip(),
        pid=os.getpid(),
        version=version,
        cores=list(capacity.cores),
        overcommit=capacity.overcommit,
        memory_mb=capacity.memory_mb,
        notices=list(capacity.notices),
        admission_stopped="",
        kept_for=None,
        abandoned=[],
        started_at=now,
        stopped_at=None,
        heartbeat_at=now,
    )
    record([NewEvent(now, "node.started", actor=f"node:{name}", data={"node": node.pk})])
    node.refresh_from_db()
    return node


def beat(node_id: int, now: datetime) -> None:
    """Say that the engine is stepping. Written by its own thread, so that a thread that hangs cannot look alive."""
    Node.objects.filter(pk=node_id).update(heartbeat_at=now)


def stop_admission(node: Node, sentence: str, now: datetime) -> None:
    """Write why nothing new starts here; empty when it does again."""
    _change(node, now, {"admission_stopped": sentence})


def keep_cores(node: Node, instance_id: int | None, now: datetime) -> None:
    """Write for which big instance this node keeps its free cores, None for no one."""
    _change(node, now, {"kept_for": instance_id})


@transaction.atomic
def tell_abandoned(node: Node, tokens: Iterable[str], now: datetime) -> None:
    """Write which attempts hold what they were given though they have ended: their threads run on."""
    told = sorted(tokens)
    instances = Attempt.objects.filter(token__in=told).order_by("instance_id").values_list("instance_id", flat=True)
    _change(node, now, {"abandoned": told}, {"abandoned": list(instances)})


@transaction.atomic
def _change(node: Node, now: datetime, fields: dict[str, Any], told: dict[str, Any] | None = None) -> None:
    """Write these of its row, and tell of them as they are or as `told`."""
    Node.objects.filter(pk=node.pk).update(**fields)
    data = {"node": node.pk, **(fields if told is None else told)}
    record([NewEvent(now, "node.changed", actor=f"node:{node.name}", data=data)])


@transaction.atomic
def sign_off(node: Node, now: datetime) -> None:
    """Write that the service stopped on purpose."""
    Node.objects.filter(pk=node.pk).update(stopped_at=now, pid=None, kept_for=None, abandoned=[])
    record([NewEvent(now, "node.stopped", actor=f"node:{node.name}", data={"node": node.pk})])
