"""Who of the ready may start now, on which cores, and why the first of the others may not.

Big and small: when the first in order does not fit, smaller ones may go ahead if they are expected to end before it
could start anyway, or for as long as its patience lasts; after that the cores that come free are kept for it. So it
never starves, and cores are not idle for its sake longer than they must be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobs.core.cores import CoreManager
from jobs.core.prediction import Holding, Room, earliest_start
from jobs.core.ready import ReadySet
from jobs.core.records import Allocation, Demand, Hold

PATIENCE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Candidate:
    """What admission asks about a ready instance. `seconds`: how long it is expected to run, None if nobody knows."""

    queued_at: datetime
    seconds: float | None


@dataclass(slots=True)
class Admission:
    """`starts` in order. `holds`: for the first of each demand class that waits. `kept_for`: the big one, if any."""

    starts: list[tuple[int, Allocation]] = field(default_factory=list)
    holds: dict[int, Hold] = field(default_factory=dict)
    kept_for: int | None = None
    look_again_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Big:
    """The first in order that does not fit."""

    instance_id: int
    could_start_at: datetime | None
    patient_until: datetime


def admit(
    ready: ReadySet,
    manager: CoreManager,
    candidate: Callable[[int], Candidate],
    holdings: Callable[[], Iterable[Holding]],
    now: datetime,
    load: Mapping[int, float],
) -> Admission:
    """Start all that may start; allocates from `manager` and takes from `ready` what starts."""
    result = Admission()
    big: _Big | None = None
    waiting = {demand: place for demand in ready.demands() if (place := ready.first(demand)) is not None}
    while waiting:
        demand = min(waiting, key=waiting.__getitem__)
        _, instance_id = waiting[demand]
        hold = _reason_to_hold(demand, instance_id, candidate, manager, big, now)
        if hold is None:
            result.starts.append((instance_id, _start(ready, manager, instance_id, demand, load)))
            place = ready.first(demand)
            if place is None:
                del waiting[demand]
            else:
                waiting[demand] = place
            continue
        del waiting[demand]
        result.holds[instance_id] = hold
        if big is None and manager.can_ever(demand):
            started = [_holding_of(started_id, held, candidate, now) for started_id, held in result.starts]
            big = _as_big(demand, instance_id, candidate, manager, [*holdings(), *started], now)
    if big is not None and result.holds:
        # Only a big one whose patience has run out keeps cores from others; until then nothing is reserved.
        result.kept_for = big.instance_id if now >= big.patient_until else None
        result.look_again_at = big.patient_until if now < big.patient_until else None
    return result


def _reason_to_hold(
    demand: Demand,
    instance_id: int,
    candidate: Callable[[int], Candidate],
    manager: CoreManager,
    big: _Big | None,
    now: datetime,
) -> Hold | None:
    if not manager.can_ever(demand):
        return Hold("node_too_small")
    lacking = manager.lacks(demand)
    if lacking:
        return Hold(lacking)
    if big is None or now < big.patient_until or _ends_before(candidate(instance_id), big, now):
        return None
    return Hold("behind", {"instance": big.instance_id})


def _ends_before(candidate: Candidate, big: _Big, now: datetime) -> bool:
    if candidate.seconds is None or big.could_start_at is None:
        return False
    return now + timedelta(seconds=candidate.seconds) <= big.could_start_at


def _start(
    ready: ReadySet, manager: CoreManager, instance_id: int, demand: Demand, load: Mapping[int, float]
) -> Allocation:
    allocation = manager.allocate(instance_id, demand, load)
    if allocation is None:
        raise AssertionError(f"instance {instance_id} was found to fit and then did not")
    ready.discard(instance_id)
    return allocation


def _as_big(
    demand: Demand,
    instance_id: int,
    candidate: Callable[[int], Candidate],
    manager: CoreManager,
    holdings: Iterable[Holding],
    now: datetime,
) -> _Big:
    free = Room(manager.free_slots, manager.free_memory_mb if manager.memory_total_mb else None)
    prediction = earliest_start(demand, free, holdings, now)
    return _Big(instance_id, prediction.at, candidate(instance_id).queued_at + PATIENCE)


def _holding_of(
    instance_id: int, allocation: Allocation, candidate: Callable[[int], Candidate], now: datetime
) -> Holding:
    """What was started in this very pass holds its cores too."""
    seconds = candidate(instance_id).seconds
    ends_at = None if seconds is None else now + timedelta(seconds=seconds)
    return Holding(instance_id, len(allocation.cores) + allocation.virtual, allocation.memory_mb, ends_at)
