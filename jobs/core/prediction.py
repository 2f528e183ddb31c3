"""When something that waits could start, judged from what runs and from what is ahead of it."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from jobs.core.cores import CoreManager
from jobs.core.records import Demand
from jobs.core.values import made_often

NEVER = datetime.max.replace(tzinfo=UTC)


@made_often
@dataclass(frozen=True, slots=True)
class Room:
    """Slots and memory, free or held. `memory_mb` None: memory is not counted."""

    slots: int
    memory_mb: int | None

    def meets(self, demand: Demand) -> bool:
        return demand.cores <= self.slots and (self.memory_mb is None or demand.memory_mb <= max(0, self.memory_mb))

    def plus(self, slots: int, memory_mb: int) -> Room:
        return Room(self.slots + slots, None if self.memory_mb is None else self.memory_mb + memory_mb)


class Holding(NamedTuple):
    """What a running instance holds, and when it is expected to give it back (None: nobody knows)."""

    instance_id: int
    slots: int
    memory_mb: int
    ends_at: datetime | None


@made_often
@dataclass(frozen=True, slots=True)
class Prediction:
    """`at` None: unknown, and `unknown_because` says why. `freed_by`: the instances whose end makes the room.

    `node_id` is the node that `at` is for.
    """

    at: datetime | None
    freed_by: tuple[int, ...] = ()
    unknown_because: str = ""
    node_id: int | None = None


def by_end(holding: Holding) -> tuple[datetime, int]:
    """The order in which they are expected to end, unknown ones last."""
    return (holding.ends_at or NEVER, holding.instance_id)


class ExpectedEnds:
    """What runs on a node, in the order `by_end`; kept so, as to sort it at each pass costs by all that runs."""

    def __init__(self) -> None:
        self._order: list[tuple[datetime, int]] = []
        self._holdings: dict[int, Holding] = {}

    def __iter__(self) -> Iterator[Holding]:
        return (self._holdings[instance_id] for _, instance_id in self._order)

    def put(self, holding: Holding) -> None:
        """It runs, or is expected to end at another moment than was thought."""
        self.drop(holding.instance_id)
        self._holdings[holding.instance_id] = holding
        insort(self._order, by_end(holding))

    def drop(self, instance_id: int) -> None:
        holding = self._holdings.pop(instance_id, None)
        if holding is not None:
            del self._order[bisect_left(self._order, by_end(holding))]


def expected_end(since: datetime, expected_seconds: float | None, now: datetime) -> datetime | None:
    """When a run that began at `since` should end; one that is over its time already may end any moment."""
    return None if expected_seconds is None else max(now, since + timedelta(seconds=expected_seconds))


def earliest_start(demand: Demand, free: Room, holdings: Iterable[Holding], now: datetime) -> Prediction:
    """The first moment at which `demand` has room, if everything ends when it is expected to.

    `holdings` come in the order `by_end`; no more of them are asked for than make the room.
    """
    if free.meets(demand):
        return Prediction(now)
    freed: list[int] = []
    unknown: list[int] = []
    for holding in holdings:
        if holding.ends_at is None:
            if gives_what_lacks(holding, demand, free):
                unknown.append(holding.instance_id)
            continue
        if gives_what_lacks(holding, demand, free):
            freed.append(holding.instance_id)
        free = free.plus(holding.slots, holding.memory_mb)
        if free.meets(demand):
            return Prediction(max(now, holding.ends_at), tuple(freed))
    if unknown:
        return Prediction(None, (), how_long(unknown))
    return Prediction(None, (), "nothing that runs here gives back enough")


def room_of(manager: CoreManager) -> Room:
    """What is free of a node."""
    return Room(manager.free_slots, manager.free_memory_mb if manager.memory_total_mb else None)


def how_long(ids: Sequence[int]) -> str:
    """Why nobody knows when these end."""
    return f"nothing tells how long {_instances(ids)} will take (no time limit, no earlier run)"


def gives_what_lacks(holding: Holding, demand: Demand, free: Room) -> bool:
    """Whether its end brings some of what is not free now."""
    lacks_memory = free.memory_mb is not None and free.memory_mb < demand.memory_mb
    return (holding.slots > 0 and free.slots < demand.cores) or (holding.memory_mb > 0 and lacks_memory)


def _instances(ids: Sequence[int]) -> str:
    """Such as "instance 5", "instances 5 and 6", "instances 5, 6, 7 and others"."""
    if len(ids) == 1:
        return f"instance {ids[0]}"
    named = [str(instance_id) for instance_id in ids[:3]]
    last = "others" if len(ids) > 3 else named.pop()
    return f"instances {', '.join(named)} and {last}"
