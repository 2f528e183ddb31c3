"""The order in which due instances start: a key fixed once, that never depends on now.

A key that changed with time would have to be sorted again at every pass, and two nodes would disagree about it. It is
one signed 64-bit number, smaller is sooner; ties go by instance id. docs/order.md tells when to take which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from jobs.core.fairshare import StartTags
from jobs.core.records import Priority
from jobs.core.values import made_often

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

# Microseconds since 1970 stay below 2**52 until the year 2112, and four bands of that fit a signed 64-bit column.
BAND = 2**52
LEVELS = len(Priority)

# With aging, one level of priority is worth having been queued this much earlier.
HEAD_START = timedelta(minutes=15)


@made_often
@dataclass(frozen=True, slots=True)
class Entry:
    """What a place is made from, the first time that an instance is queued.

    priority          0 (low) to 3 (critical)
    queued_at         when it was first queued; a retry keeps this, and its place
    due_at            when it was due; `deadline_seconds` count from here, None if it has no deadline
    tenant            whose share it takes; "" is a tenant like any other
    """

    priority: int
    queued_at: datetime
    due_at: datetime
    deadline_seconds: float | None = None
    tenant: str = ""


class Order(Protocol):
    """Gives places. What is told besides matters to fair share only, which remembers who was served."""

    def key(self, entry: Entry) -> int:
        """The place of one more instance. Ask once for each, and keep it."""
        ...

    def seen(self, key: int, tenant: str) -> None:
        """One that waits, or will be tried again, with a place that it got elsewhere or before this order was made."""
        ...

    def started(self, key: int, tenant: str) -> None:
        """One began to run, here or on another node."""
        ...

    def dropped(self, key: int, tenant: str) -> None:
        """One left the queue without ever having started."""
        ...


class _Stateless:
    """An order whose keys come from the entry alone."""

    def seen(self, key: int, tenant: str) -> None:
        """Nothing to remember; so for the two below."""

    def started(self, key: int, tenant: str) -> None: ...

    def dropped(self, key: int, tenant: str) -> None: ...


class Fifo(_Stateless):
    """First come, first served."""

    def key(self, entry: Entry) -> int:
        return _arrival(entry)


class ByPriority(_Stateless):
    """The higher priority first; first come, first served inside one. A stream of high ones can starve a low one."""

    def key(self, entry: Entry) -> int:
        return _by_priority(entry)


class Aging(_Stateless):
    """Priority that grows with waiting: -(priority - rate x queued_at), with rate = 1 / head start.

    What counts is priority + rate x (now - queued_at); rate x now is the same for all, so it is left out, and the rest
    never changes. Nobody is overtaken by one that was queued more than three head starts later.
    """

    def __init__(self, head_start: timedelta = HEAD_START) -> None:
        self._head_start = head_start // MICROSECOND

    def key(self, entry: Entry) -> int:
        return _arrival(entry) - entry.priority * self._head_start


class EarliestDeadline(_Stateless):
    """The earliest deadline first (Liu and Layland, 1973), then the higher priority.

    Those without a deadline come after all that have one, by priority, then first come, first served.
    """

    def key(self, entry: Entry) -> int:
        if entry.deadline_seconds is None:
            return LEVELS * BAND + _by_priority(entry)
        # A deadline of a million years is legal and must not reach into the band of those without one.
        seconds = min(entry.deadline_seconds, BAND / 1e6)
        deadline = (entry.due_at - EPOCH) // MICROSECOND + round(seconds * 1e6)
        return LEVELS * min(max(deadline, 0), BAND - 1) + (Priority.CRITICAL - entry.priority)


class FairShare(StartTags):
    """Tenants in turn, in proportion to weights; first come, first served inside one: see `jobs.core.fairshare`."""

    def key(self, entry: Entry) -> int:
        return self.place(entry.tenant, origin=_arrival(entry))


def _arrival(entry: Entry) -> int:
    """Microseconds since 1970 at which it was first queued."""
    return (entry.queued_at - EPOCH) // MICROSECOND


def _by_priority(entry: Entry) -> int:
    return (Priority.CRITICAL - entry.priority) * BAND + _arrival(entry)


_MAKERS: dict[str, Callable[[Mapping[str, float]], Order]] = {
    "priority": lambda _: ByPriority(),
    "fifo": lambda _: Fifo(),
    "aging": lambda _: Aging(),
    "edf": lambda _: EarliestDeadline(),
    "fair": FairShare,
}
ORDER_NAMES = tuple(_MAKERS)


class UnknownOrder(ValueError):
    """A name that no order has."""

    def __init__(self, given: str) -> None:
        super().__init__(f"there is no order {given!r}; the possible ones are {', '.join(ORDER_NAMES)}")


def make_order(name: str, weights: Mapping[str, float]) -> Order:
    """`weights` of tenants are for "fair"; one that is not named has weight 1. Raises UnknownOrder, InvalidWeight."""
    if name not in _MAKERS:
        raise UnknownOrder(name)
    return _MAKERS[name](weights)
