"""The system: what it has to give, and whether it lives."""

# ruff: noqa: ARG001 - Ninja hands the request to every operation

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Status

from jobs.api import answers
from jobs.api.health import look
from jobs.api.moments import iso
from jobs.api.nodes import Resources, resources_by_node
from jobs.core.states import LIVE
from jobs.core.zones import tzdata_version
from jobs.execution.equipment import Equipment
from jobs.models import Attempt, Instance, Node
from jobs.nodes import state_of

router = Router(tags=["system"])


@router.get("/system/resources", response={200: answers.SystemResources, **answers.REFUSALS})
def system_resources(request: HttpRequest) -> Any:
    """Per node, and in sum over those that live. `max_virtual` slots come on top of the physical cores."""
    now = timezone.now()
    nodes = list(Node.objects.order_by("name"))
    by_node = resources_by_node(nodes, now)
    total = sum((by_node[node.pk] for node in nodes if state_of(node, now) == "live"), Resources())
    each = [
        _resources(by_node[node.pk])
        | {
            "node_id": node.pk,
            "node": node.name,
            "state": state_of(node, now),
            "cores": node.cores,
            "overcommit": node.overcommit,
        }
        for node in nodes
    ]
    return _resources(total) | {"nodes": each}


@router.get("/system/health", response={200: answers.SystemHealth, 503: answers.SystemHealth, **answers.REFUSALS})
def system_health(request: HttpRequest) -> Any:
    """503 when no node's engine steps: then nothing starts. `/healthz` says so without a token."""
    now = timezone.now()
    health = look(now)
    # One by one: each has an index of its rows, and a question for all at once would go through the whole table.
    live = {status.value: Instance.objects.filter(status=status).count() for status in sorted(LIVE)}
    answer = {
        "status": "ok" if health.fine else "failing",
        "detail": health.sentence,
        "tzdata_version": tzdata_version(),
        "instances": live,
        "nodes": [_node(node, now) for node in health.nodes],
    }
    return Status(200 if health.fine else 503, answer)


def _resources(resources: Resources) -> dict[str, Any]:
    return {
        "total_physical": resources.total_physical,
        "free_physical": resources.free_physical,
        "used_physical": resources.used_physical,
        "virtual_allocations": resources.virtual_allocations,
        "max_virtual": resources.max_virtual,
        "utilization_percent": resources.utilization_percent,
        "total_memory_mb": resources.total_memory_mb,
        "used_memory_mb": resources.used_memory_mb,
        "abandoned": [_abandoned(attempt) for attempt in resources.abandoned],
    }


def _abandoned(attempt: Attempt) -> dict[str, Any]:
    return {
        "instance_id": attempt.instance_id,
        "attempt": attempt.number,
        "node_id": attempt.node_id,
        "cores": attempt.cores,
        "virtual_cores": attempt.virtual_cores,
        "memory_mb_allocated": attempt.memory_mb,
        "abandoned_at": iso(attempt.abandoned_at),
    }


def _node(node: Node, now: Any) -> dict[str, Any]:
    return {
        "node_id": node.pk,
        "node": node.name,
        "state": state_of(node, now),
        "version": node.version,
        "incarnation": node.incarnation,
        "started_at": iso(node.started_at),
        "stopped_at": iso(node.stopped_at),
        "heartbeat_at": iso(node.heartbeat_at),
        "admission_stopped": node.admission_stopped,
        "drained_at": iso(node.drained_at),
        "drained_by": node.drained_by,
        "notices": node.notices,
        **_equipment(Equipment.from_json(node.equipment)),
    }


def _equipment(told: Equipment) -> dict[str, Any]:
    environments = [
        {
            "environment": one.key,
            "python_version": one.python,
            "packages": one.packages,
            "size_bytes": one.size_bytes,
            "built_at": iso(datetime.fromtimestamp(one.built_at, UTC)),
            "used_at": iso(datetime.fromtimestamp(one.used_at, UTC)),
            "in_use": one.in_use,
        }
        for one in told.environments
    ]
    return {"pythons": [*told.pythons] or None, "environments": environments, "equipment_told_at": iso(told.told_at)}
