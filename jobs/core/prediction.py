"""When something that waits could start, judged from what runs and from what is ahead of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from jobs.core.records import Demand


@dataclass(frozen=True, slots=True)
class Room:
    """Slots and memory, free or held. `memory_mb` None: memory is not counted."""

    slots: int
    memory_mb: int | None

    def meets(self, demand: Demand) -> bool:
        return demand.cores <= self.slots and (self.memory_mb is None or demand.memory_mb <= self.memory_mb)

    def plus(self, slots: int, memory_mb: int) -> Room:
        return Room(self.slots + slots, None if self.memory_mb is None else self.memory_mb + memory_mb)


@dataclass(frozen=True, slots=True)
class Holding:
    """What a running instance holds, and when it is expected to give it back (None: nobody knows)."""

    instance_id: int
    slots: int
    memory_mb: int
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class Prediction:
    """`at` None: unknown, and `unknown_because` says why. `freed_by`: the instances whose end makes the room.

    `node_id` is the node that `at` is for.
    """

    at: datetime | None
    freed_by: tuple[int, ...] = ()
    unknown_because: str = ""
    node_id: int | None = None


@dataclass(frozen=True, slots=True)
class NodeRoom:
    """One node: the room that it has when it is empty, what is free of it, and what runs there."""

    node_id: int
    whole: Room
    free: Room
    holdings: tuple[Holding, ...] = ()


@dataclass(frozen=True, slots=True)
class Waiting:
    """One in the queue, with how long it is expected to hold what it demands (None: nobody knows)."""

    instance_id: int
    demand: Demand
    seconds: float | None


def expected_end(since: datetime, expected_seconds: float | None, now: datetime) -> datetime | None:
    """When a run that began at `since` should end; one that is over its time already may end any moment."""
    return None if expected_seconds is None else max(now, since + timedelta(seconds=expected_seconds))


def earliest_start(demand: Demand, free: Room, holdings: Iterable[Holding], now: datetime) -> Prediction:
    """The first moment at which `demand` has room, if everything ends when it is expected to."""
    if free.meets(demand):
        return Prediction(now)
    listed = list(holdings)
    known = [(holding.ends_at, holding.instance_id, holding) for holding in listed if holding.ends_at is not None]
    freed: list[int] = []
    for ends_at, instance_id, holding in sorted(known, key=lambda item: item[:2]):
        if _gives_what_lacks(holding, demand, free):
            freed.append(instance_id)
        free = free.plus(holding.slots, holding.memory_mb)
        if free.meets(demand):
            return Prediction(ends_at, tuple(freed))
    unknown = [holding.instance_id for holding in listed if holding.ends_at is None]
    if unknown:
        because = f"nothing tells how long {_instances(unknown)} will take (no time limit, no earlier run)"
        return Prediction(None, (), because)
    return Prediction(None, (), "nothing that runs here gives back enough")


def queue_starts(queue: Sequence[Waiting], nodes: Iterable[NodeRoom], now: datetime) -> dict[int, Prediction]:
    """Predicted start of each in the queue, in its order, on the node that has room for it first.

    Each takes its room before the next is looked at, and nobody overtakes. As in admission, one that a node could never
    meet keeps nobody waiting there.
    """
    courses = [_Course(node, now) for node in nodes]
    return {waiting.instance_id: _place(waiting, courses) for waiting in queue}


class _Course:
    """What becomes of one node as the queue is gone through: all that ends by `moment` has ended."""

    def __init__(self, node: NodeRoom, now: datetime) -> None:
        self.node_id = node.node_id
        self.whole = node.whole
        self.moment = now
        self.stuck_at: int | None = None
        self._free = node.free
        self._held = list(node.holdings)
        self._freed_by: tuple[int, ...] = ()

    def earliest(self, demand: Demand) -> Prediction:
        found = earliest_start(demand, self._free, self._held, self.moment)
        # Its room may come from the same end as that of the one before it.
        freed_by = found.freed_by or (self._freed_by if found.at is not None else ())
        return replace(found, freed_by=freed_by, node_id=self.node_id)

    def go_on(self, moment: datetime) -> None:
        self.moment = moment
        ended = [h for h in self._held if h.ends_at is not None and h.ends_at <= moment]
        self._held = [h for h in self._held if h.ends_at is None or h.ends_at > moment]
        for holding in ended:
            self._free = self._free.plus(holding.slots, holding.memory_mb)
        if ended:
            self._freed_by = tuple(holding.instance_id for holding in ended)

    def take(self, waiting: Waiting) -> None:
        cores, memory_mb = waiting.demand.cores, waiting.demand.memory_mb
        ends_at = None if waiting.seconds is None else self.moment + timedelta(seconds=waiting.seconds)
        self._free = self._free.plus(-cores, -memory_mb)
        self._held.append(Holding(waiting.instance_id, cores, memory_mb, ends_at))


def _place(waiting: Waiting, courses: Iterable[_Course]) -> Prediction:
    able = [course for course in courses if course.whole.meets(waiting.demand)]
    if not able:
        return Prediction(None, (), "no node could ever give what it needs")
    going = [course for course in able if course.stuck_at is None]
    if not going:
        return Prediction(None, (), f"it comes after instance {able[0].stuck_at}, whose start is unknown")
    found = [(course, course.earliest(waiting.demand)) for course in going]
    known = [(prediction.at, n) for n, (_, prediction) in enumerate(found) if prediction.at is not None]
    if not known:
        for course in going:
            course.stuck_at = waiting.instance_id
        return found[0][1]
    moment, first = min(known)
    chosen, prediction = found[first]
    for course in going:  # each keeps its room for it until one has started it
        course.go_on(max(course.moment, moment))
    chosen.take(waiting)
    return prediction


def _gives_what_lacks(holding: Holding, demand: Demand, free: Room) -> bool:
    lacks_memory = free.memory_mb is not None and free.memory_mb < demand.memory_mb
    return (holding.slots > 0 and free.slots < demand.cores) or (holding.memory_mb > 0 and lacks_memory)


def _instances(ids: Sequence[int]) -> str:
    """Such as "instance 5", "instances 5 and 6", "instances 5, 6, 7 and others"."""
    if len(ids) == 1:
        return f"instance {ids[0]}"
    named = [str(instance_id) for instance_id in ids[:3]]
    last = "others" if len(ids) > 3 else named.pop()
    return f"instances {', '.join(named)} and {last}"
