"""Who holds cores and memory: attempts that have not ended, and those that have, but whose abandoned threads go on."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TypeVar

from django.db.models import Q, QuerySet

from jobs.models import Attempt, Node
from jobs.nodes import state_of

Row = TypeVar("Row")


def that_hold(rows: QuerySet[Attempt, Row], nodes: Iterable[Node], now: datetime, most: int | None = None) -> list[Row]:
    """Of `rows` those that have not ended, `most` of them, then those of the abandoned threads of `nodes`.

    One query, and one more where there are such threads: no index serves both questions at once. A node tells of a
    thread before its attempt ends, so that none is missed; and none is found twice.
    """
    nodes = list(nodes)
    running = rows.filter(~Q(status="ended")).exclude(token__in=threads_of(nodes, now))
    return [*running[:most], *of_threads(rows, nodes, now)]


def of_threads(rows: QuerySet[Attempt, Row], nodes: Iterable[Node], now: datetime) -> list[Row]:
    """Of `rows` those of abandoned threads alone."""
    tokens = threads_of(nodes, now)
    return list(rows.filter(token__in=tokens)) if tokens else []


def threads_of(nodes: Iterable[Node], now: datetime) -> list[str]:
    """Tokens of the attempts whose abandoned threads go on. One that was killed still tells of those that it had: they
    have gone with it.
    """
    return [token for node in nodes if state_of(node, now) == "live" for token in node.abandoned]
