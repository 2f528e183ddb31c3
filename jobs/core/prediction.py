"""When something that waits could start, judged from what runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
    """`at` None: unknown, and `unknown_because` says why. `freed_by`: the instances whose end makes the room."""

    at: datetime | None
    freed_by: tuple[int, ...] = ()
    unknown_because: str = ""


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
        free = free.plus(holding.slots, holding.memory_mb)
        freed.append(instance_id)
        if free.meets(demand):
            return Prediction(ends_at, tuple(freed))
    unknown = [str(holding.instance_id) for holding in listed if holding.ends_at is None]
    if unknown:
        names = ", ".join(unknown[:3]) + (" and others" if len(unknown) > 3 else "")
        return Prediction(
            None, (), f"nothing tells how long instance {names} will take (no time limit, no earlier run)"
        )
    return Prediction(None, (), "nothing that runs here gives back enough")


@dataclass(frozen=True, slots=True)
class Waiting:
    """One in the queue, with how long it is expected to hold what it demands (None: nobody knows)."""

    instance_id: int
    demand: Demand
    seconds: float | None


def queue_starts(
    queue: Sequence[Waiting], free: Room, holdings: Iterable[Holding], now: datetime
) -> dict[int, Prediction]:
    """Predicted start of each in the queue, in its order: each takes its room before the next is looked at."""
    held = list(holdings)
    predictions: dict[int, Prediction] = {}
    not_before = now
    for waiting in queue:
        prediction = earliest_start(waiting.demand, free, held, not_before)
        predictions[waiting.instance_id] = prediction
        if prediction.at is None:
            for later in queue[len(predictions) :]:
                predictions[later.instance_id] = Prediction(
                    None, (), f"it comes after instance {waiting.instance_id}, whose start is unknown"
                )
            break
        not_before = max(not_before, prediction.at)
        free, held = _after(not_before, free, held)
        free = free.plus(-waiting.demand.cores, -waiting.demand.memory_mb)
        ends_at = None if waiting.seconds is None else not_before + timedelta(seconds=waiting.seconds)
        held.append(Holding(waiting.instance_id, waiting.demand.cores, waiting.demand.memory_mb, ends_at))
    return predictions


def _after(moment: datetime, free: Room, holdings: list[Holding]) -> tuple[Room, list[Holding]]:
    """What is free and what is held once everything that ends by `moment` has ended."""
    still: list[Holding] = []
    for holding in holdings:
        if holding.ends_at is not None and holding.ends_at <= moment:
            free = free.plus(holding.slots, holding.memory_mb)
        else:
            still.append(holding)
    return free, still
