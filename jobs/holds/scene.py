"""What waits and what runs at one moment, read for the sentences about those that wait."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from jobs import models
from jobs.core.cores import CoreManager
from jobs.core.inputs import LimitsChanged
from jobs.core.limits import Limits
from jobs.core.outlook import Elsewhere, NodeOutlook, Queued, queue_starts
from jobs.core.prediction import Holding, Prediction, Room, expected_end, room_of
from jobs.core.ready import Needs
from jobs.core.records import Allocation, Demand, Hold, Job
from jobs.core.states import Status
from jobs.holding import that_hold
from jobs.holds.environments import Installing, installing
from jobs.nodes import draining, state_of
from jobs.store import limits, read

# Predictions further down the queue than this would be guesses upon guesses.
LOOKED_THROUGH = 200


@dataclass(frozen=True, slots=True)
class Live:
    """A node that is at work, with its room when it is empty and what is free of it; `threads`: of its abandoned ones,
    what each holds.
    """

    node: models.Node
    whole: Room
    free: Room
    free_virtual: int = 0  # of the free slots, those without a core of their own
    threads: Sequence[Holding] = ()

    @property
    def stopped(self) -> str:
        """Why nothing starts there; empty where it does."""
        return self.node.admission_stopped or draining(self.node)


@dataclass(frozen=True, slots=True)
class Scene:
    """`queue`: what each of the first in it needs, in their order; `tenants`: whose they are.

    `limiting`: what holds one back whatever room there is. `ends_at`: when each that runs should end, None if nobody
    knows; `next_try_at`: when one that failed is tried again. `holders`: who holds a place of a limit. `abandoned`:
    those of them all that have ended, but for their threads. `installing`: the environment that one waits for.
    """

    now: datetime
    live: Sequence[Live]
    last_seen: models.Node | None
    queue: Mapping[int, Needs]
    tenants: Mapping[int, str]
    starts: Mapping[int, Prediction]
    limiting: Mapping[int, Hold]
    rates: Mapping[str, float]
    ends_at: Mapping[int, datetime | None]
    next_try_at: Mapping[int, datetime]
    holders: Mapping[str, Sequence[int]]
    abandoned: AbstractSet[int]
    installing: Mapping[int, Installing]

    def ahead_of(self, instance_id: int) -> list[int]:
        ids = list(self.queue)
        return ids[: ids.index(instance_id)]


@dataclass(slots=True)
class _Flight:
    """Attempts that have not ended. By node: what they hold; by job: who; and the keys of limits of each."""

    holdings: defaultdict[int, list[Holding]] = field(default_factory=lambda: defaultdict(list))
    given: defaultdict[int, dict[int, Allocation]] = field(default_factory=lambda: defaultdict(dict))
    of_job: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    keys: dict[int, tuple[str, ...]] = field(default_factory=dict)
    abandoned: set[int] = field(default_factory=set)


def look(now: datetime, wanted: Collection[int]) -> Scene:
    """Five queries, without what is long: a script may have a megabyte. Starts are predicted for those `wanted`."""
    nodes = list(models.Node.objects.order_by("name"))
    attempts = _attempts(nodes, now)
    queued = list(_rows(Status.QUEUED).order_by("order_key", "id")[:LOOKED_THROUGH])
    retrying = list(_rows(Status.RETRYING).order_by("retry_at", "id")[:LOOKED_THROUGH])
    # Between two queries an attempt fails, or begins and fails: where one was found twice, the later is true.
    again = {row.pk for row in retrying}
    rows = [row for row in queued if row.pk not in again]
    flight = _in_flight(attempts, again.union(row.pk for row in rows), now)
    managers = {node.pk: _manager(node, flight) for node in nodes if node.cores and state_of(node, now) == "live"}
    live = [_live(node, managers[node.pk], flight) for node in nodes if node.pk in managers]
    rules = limits.load()
    kept = {node.kept_for for node in nodes}
    jobs = {row.job_id: read.job(row.job) for row in [*rows, *retrying]}
    taken = _limits(rules, jobs.values(), flight)
    queue = [_queued(row, jobs[row.job_id], taken, kept) for row in rows]
    for row in retrying:
        flight.of_job[row.job_id].add(row.pk)
    limiting = {one.instance_id: hold for one in queue if (hold := _limiting(one, taken, flight, now)) is not None}
    holders = {key: taken.holders(key) for one in queue for key in one.needs.limits}
    starts = _starts(
        queue, [_queued(row, jobs[row.job_id], taken, kept) for row in retrying], live, flight, taken, now, wanted
    )
    silent = [node for node in nodes if node.heartbeat_at and state_of(node, now) == "stale"]
    return Scene(
        now=now,
        live=live,
        last_seen=max(silent, key=lambda node: node.heartbeat_at or now, default=None),
        queue={one.instance_id: one.needs for one in queue},
        tenants={row.pk: row.job.tenant for row in rows},
        starts=starts,
        limiting=limiting,
        rates={name: rate.bucket.rate_per_second for name, rate in rules.rates.items()},
        ends_at={h.instance_id: h.ends_at for holdings in flight.holdings.values() for h in holdings},
        next_try_at={row.pk: row.retry_at for row in retrying if row.retry_at is not None},
        holders=holders,
        abandoned=flight.abandoned,
        installing=installing(rows, {node.node.name for node in live}),
    )


def demand_of(job: models.Job) -> Demand:
    return Demand(job.cores, job.memory_mb)


def _rows(status: Status) -> QuerySet[models.Instance]:
    rows = models.Instance.objects.filter(status=status, job__paused_at=None).select_related("job")
    return rows.defer(*models.LARGE_OF_JOB, "job__description")


def _attempts(nodes: Iterable[models.Node], now: datetime) -> list[tuple[Any, ...]]:
    """Those that hold something, as `_in_flight` takes them."""
    rows = models.Attempt.objects.values_list(
        "status", "node_id", "instance_id", "cores", "virtual_cores", "memory_mb", "started_at", "created_at",
        "instance__job_id", "instance__job__tags", "instance__job__execution_model",
        "instance__job__usual_seconds", "instance__job__timeout_seconds",
    ).order_by("id")  # fmt: skip
    return that_hold(rows, nodes, now)


def _in_flight(attempts: Sequence[tuple[Any, ...]], waiting: Collection[int], now: datetime) -> _Flight:
    """Of `attempts` those of instances that are not `waiting`. An attempt is expected to end by its own beginning, not
    by the first one's.
    """
    flight = _Flight()
    for (
        status,
        node_id,
        instance_id,
        cores,
        virtual,
        memory_mb,
        started_at,
        created_at,
        job_id,
        tags,
        model,
        *times,
    ) in attempts:
        if instance_id in waiting:
            continue
        usual, limit = times
        expected = Job(0, usual_seconds=usual, timeout_seconds=limit).expected_seconds
        if status == "ended":
            expected = None
            flight.abandoned.add(instance_id)
        ends_at = expected_end(started_at or created_at, expected, now)
        flight.holdings[node_id].append(Holding(instance_id, len(cores) + virtual, memory_mb, ends_at))
        flight.given[node_id][instance_id] = Allocation(tuple(cores), virtual, memory_mb)
        flight.of_job[job_id].add(instance_id)
        flight.keys[instance_id] = limits.keys_of(models.Job(pk=job_id, tags=tags, execution_model=model))
    return flight


def _manager(node: models.Node, flight: _Flight) -> CoreManager:
    """As the engine counts it: by the same core manager."""
    manager = CoreManager(node.cores, overcommit=node.overcommit, memory_mb=node.memory_mb)
    for instance_id, allocation in flight.given[node.pk].items():
        manager.restore(instance_id, allocation)
    return manager


def _live(node: models.Node, manager: CoreManager, flight: _Flight) -> Live:
    virtual = min(manager.free_slots, max(0, manager.free_virtual))
    threads = [holding for holding in flight.holdings[node.pk] if holding.instance_id in flight.abandoned]
    return Live(node, Room(manager.slots, node.memory_mb or None), room_of(manager), virtual, threads)


def _limits(rules: LimitsChanged, jobs: Iterable[Job], flight: _Flight) -> Limits:
    """With what runs, and what it holds."""
    found = Limits()
    found.set(rules.maxima, rules.rates)
    for job in jobs:
        found.set_job(job.id, job.max_running)
    for instance_id, keys in flight.keys.items():
        found.hold(instance_id, keys)
    return found


def _queued(row: models.Instance, job: Job, taken: Limits, kept: set[int | None]) -> Queued:
    """One for which a node keeps cores has waited long enough, whatever we think."""
    keys, rates = taken.that_bind(job.limits, job.rates)
    needs = Needs(job.demand, keys, rates, alone=row.job_id if row.serial else None)
    queued_at = None if row.pk in kept else row.queued_at
    ready_at = row.retry_at if row.status == Status.RETRYING else None
    return Queued(row.pk, needs, job.expected_seconds, row.job_id, row.order_key or 0, queued_at, ready_at)


def _limiting(one: Queued, taken: Limits, flight: _Flight, now: datetime) -> Hold | None:
    """In the order in which admission asks."""
    if one.needs.alone is not None:
        others = flight.of_job[one.needs.alone] - {one.instance_id}
        if others:
            return Hold("overlap", {"instance": min(others)})
    lacking = taken.lacks(one.needs.limits, one.needs.rates, now)
    return None if lacking is None else lacking[0]


def _starts(
    queue: Sequence[Queued],
    retrying: Sequence[Queued],
    live: Sequence[Live],
    flight: _Flight,
    taken: Limits,
    now: datetime,
    wanted: Collection[int],
) -> dict[int, Prediction]:
    starting = {one.node.pk: one for one in live if not one.stopped}
    nodes = [NodeOutlook(pk, _manager(one.node, flight), list(flight.holdings[pk])) for pk, one in starting.items()]
    going_on = {one.node.pk for one in live if one.stopped}
    others = [h for pk, held in flight.holdings.items() if pk in going_on for h in held]
    # What runs on a node that does not answer may run for ever.
    answering = starting.keys() | going_on
    others += [
        Holding(h.instance_id, h.slots, h.memory_mb, None)
        for pk, held in flight.holdings.items()
        if pk not in answering
        for h in held
    ]
    elsewhere = Elsewhere(taken, flight.of_job, others)
    patience = timedelta(seconds=settings.PATIENCE_SECONDS)
    return queue_starts([*queue, *retrying], nodes, now, elsewhere, patience, wanted)
