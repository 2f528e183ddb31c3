"""The order in which due instances start: a key fixed once, that never depends on now.

A key that changed with time would have to be sorted again at every pass, and two nodes would disagree about it. Ties
go by instance id. Smaller is sooner.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from jobs.core.records import Priority

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Microseconds since 1970 stay below 2**52 until the year 2112, and four bands of that fit a signed 64-bit column.
BAND = 2**52

OrderKey = Callable[[int, datetime], int]


def fifo(priority: int, queued_at: datetime) -> int:  # noqa: ARG001 - one signature for every order
    """Microseconds since 1970 at which it was first queued."""
    return (queued_at - EPOCH) // timedelta(microseconds=1)


def by_priority(priority: int, queued_at: datetime) -> int:
    """Priority first (critical before low), first come first served inside one priority."""
    return (Priority.CRITICAL - priority) * BAND + fifo(priority, queued_at)


ORDERS: dict[str, OrderKey] = {"fifo": fifo, "priority": by_priority}
