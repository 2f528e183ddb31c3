"""Who holds cores and memory: attempts that have not ended, and those that have, but whose abandoned threads go on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from django.db.models import Q, QuerySet

from jobs.models import Attempt, Node

Row = TypeVar("Row")


def that_hold(rows: QuerySet[Attempt, Row], nodes: Iterable[Node], most: int | None = None) -> list[Row]:
    """Of `rows` those that have not ended, `most` of them, then those of the threads that `nodes` tell of as abandoned.

    One query, and one more where there are such threads: no index serves both questions at once. Read `nodes` before,
    so that none is found twice.
    """
    tokens = [token for node in nodes for token in node.abandoned]
    threads = rows.filter(token__in=tokens) if tokens else ()
    return [*rows.filter(~Q(status="ended"))[:most], *threads]
