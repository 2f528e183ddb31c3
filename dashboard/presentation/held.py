"""The attempts that hold cores and memory, as cards, cells and rows are made of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.holding import that_hold
from jobs.models import Attempt, Node

MOST_READ = 2000

Held = dict[str, Any]  # an attempt that holds something, as `read_held` reads it

_FIELDS = (
    "instance_id", "number", "token", "status", "node_id", "node__name", "cores", "virtual_cores", "memory_mb",
    "created_at", "started_at", "abandoned_at", "instance__job_id", "instance__job__name",
    "instance__job__timeout_seconds", "instance__job__usual_seconds", "instance__cancel_requested_at",
)  # fmt: skip


def read_held(nodes: Iterable[Node], now: datetime, only: Node | None = None) -> list[Held]:
    """Of all of `nodes` or of one, oldest first, abandoned threads last. Columns only: a script may have a megabyte."""
    attempts = Attempt.objects.filter(node=only) if only else Attempt.objects.all()
    return that_hold(attempts.order_by("id").values(*_FIELDS), nodes, now, MOST_READ)


def is_abandoned(attempt: Held) -> bool:
    """Whether its instance has ended without its thread."""
    return bool(attempt["status"] == "ended")


def running_among(attempts: Iterable[Held]) -> list[Held]:
    return [attempt for attempt in attempts if not is_abandoned(attempt)]


@dataclass(frozen=True, slots=True)
class Sum:
    """What some of them hold together, and how many they are: `running`, and `abandoned` threads."""

    cores: int
    virtual: int
    memory_mb: int
    running: int
    abandoned: int


def sum_of(attempts: Sequence[Held]) -> Sum:
    running = len(running_among(attempts))
    return Sum(
        cores=sum(len(attempt["cores"]) for attempt in attempts),
        virtual=sum(attempt["virtual_cores"] for attempt in attempts),
        memory_mb=sum(attempt["memory_mb"] for attempt in attempts),
        running=running,
        abandoned=len(attempts) - running,
    )


def by_node(attempts: Iterable[Held]) -> dict[int, list[Held]]:
    on_node: dict[int, list[Held]] = defaultdict(list)
    for attempt in attempts:
        on_node[attempt["node_id"]].append(attempt)
    return on_node
