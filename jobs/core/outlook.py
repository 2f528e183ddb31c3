"""When each in the queue should start: admission itself, run ahead of time on what is expected to end when.

Nothing that is not known yet is made up: fires to come and what people will submit are left out, and a run without a
usual duration or time limit never ends here, which makes what needs its place unknown.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobs.core.admission import PATIENCE, Surroundings, admit
from jobs.core.cores import NO_LOAD, CoreManager
from jobs.core.limits import Limits
from jobs.core.prediction import Holding, Prediction, Room, by_end, gives_what_lacks, how_long, room_of
from jobs.core.ready import Needs, ReadySet
from jobs.core.records import Allocation


@dataclass(frozen=True, slots=True)
class Queued:
    """One in the queue, or one that will be tried again at `ready_at`. `seconds`: how long it is expected to run.

    `key`: its place in the order, ties by id. `queued_at` None: its patience with smaller ones is over.
    """

    instance_id: int
    needs: Needs
    seconds: float | None
    job_id: int = 0
    key: int = 0
    queued_at: datetime | None = None
    ready_at: datetime | None = None


@dataclass(slots=True)
class NodeOutlook:
    """One node that starts what it can. `manager` and `running` are as they are now, and are used up."""

    node_id: int
    manager: CoreManager
    running: list[Holding]
    # What ended since the last start here, each with the room that was free before; and whose end the last one got.
    ended: list[tuple[Holding, Room]] = field(default_factory=list)
    freed_by: tuple[int, ...] = ()

    def holdings(self) -> list[Holding]:
        return sorted(self.running, key=by_end)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What else counts. `limits` has all that holds a place of one, and is used up.

    `under_way`: by job, what runs anywhere or waits for another attempt. `holdings`: what runs where nothing starts.
    """

    limits: Limits = field(default_factory=Limits)
    under_way: Mapping[int, Iterable[int]] = field(default_factory=dict)
    holdings: Sequence[Holding] = ()


def queue_starts(
    queue: Sequence[Queued],
    nodes: Sequence[NodeOutlook],
    now: datetime,
    elsewhere: Elsewhere | None = None,
    patience: timedelta = PATIENCE,
    wanted: Collection[int] | None = None,
) -> dict[int, Prediction]:
    """The predicted start of each in the queue, or of those `wanted`, by its id."""
    outlook = _Outlook(queue, nodes, now, elsewhere or Elsewhere(), patience)
    return outlook.run(wanted)


class _Outlook:
    def __init__(
        self,
        queue: Sequence[Queued],
        nodes: Sequence[NodeOutlook],
        now: datetime,
        elsewhere: Elsewhere,
        patience: timedelta,
    ) -> None:
        self._queue = {one.instance_id: one for one in queue}
        self._nodes = nodes
        self._now = now
        self._impatient_since = now - patience
        self._patience = patience
        self._limits = elsewhere.limits
        self._under_way = defaultdict(set, {job_id: set(ids) for job_id, ids in elsewhere.under_way.items()})
        self._job_of = {instance_id: job_id for job_id, ids in self._under_way.items() for instance_id in ids}
        self._ready = ReadySet()
        self._found: dict[int, Prediction] = {}
        self._arrivals: list[tuple[datetime, int]] = []
        self._ends: list[tuple[datetime, int, int]] = []
        self._endless: set[int] = set()
        for place, node in enumerate(nodes):
            for holding in node.running:
                self._runs(holding, place)
        for holding in elsewhere.holdings:
            self._runs(holding, -1)

    def run(self, only: Collection[int] | None) -> dict[int, Prediction]:
        """Goes on until all that is wanted is found, or nothing more is to come."""
        queued = [one for one in self._queue.values() if one.ready_at is None]
        wanted = [one for one in queued if only is None or one.instance_id in only]
        for one in self._queue.values():
            if one.ready_at is None:
                self._ready.add(one.instance_id, one.key, one.needs)
            else:
                heapq.heappush(self._arrivals, (one.ready_at, one.instance_id))
        waiting = {one.instance_id for one in wanted}
        while True:
            look_again_at = self._start_all()
            if waiting <= self._found.keys():
                break
            moment = self._next_moment(look_again_at)
            if moment is None:
                break
            self._go_on(moment)
        return {one.instance_id: self._found.get(one.instance_id) or self._unknown(one) for one in wanted}

    # --- time ---

    def _start_all(self) -> datetime | None:
        moments: list[datetime] = []
        for place, node in enumerate(self._nodes):
            around = Surroundings(
                self._ready,
                node.manager,
                self._limits,
                lambda instance_id: self._queue[instance_id].seconds,
                lambda instance_id: self._queue[instance_id].queued_at or self._impatient_since,
                self._busy_with,
                node.holdings,
                NO_LOAD,
                self._patience,
            )
            admission = admit(around, self._now)
            for instance_id, allocation in admission.starts:
                self._start(self._queue[instance_id], allocation, place)
            moments += [admission.look_again_at] if admission.look_again_at is not None else []
        return min(moments, default=None)

    def _next_moment(self, look_again_at: datetime | None) -> datetime | None:
        moments = [heap[0][0] for heap in (self._ends, self._arrivals) if heap]
        moments += [look_again_at] if look_again_at is not None else []
        return min(moments, default=None)

    def _go_on(self, moment: datetime) -> None:
        self._now = max(self._now, moment)
        while self._ends and self._ends[0][0] <= self._now:
            _, instance_id, place = heapq.heappop(self._ends)
            self._end(instance_id, self._nodes[place] if place >= 0 else None)
        while self._arrivals and self._arrivals[0][0] <= self._now:
            _, instance_id = heapq.heappop(self._arrivals)
            one = self._queue[instance_id]
            self._ready.add(instance_id, one.key, one.needs)

    # --- starts and ends ---

    def _start(self, one: Queued, allocation: Allocation, place: int) -> None:
        node = self._nodes[place]
        freed_by = tuple(h.instance_id for h, free in node.ended if gives_what_lacks(h, one.needs.demand, free))
        # Its room may come from the same end as that of the one before it.
        node.freed_by, node.ended = freed_by or node.freed_by, []
        self._found[one.instance_id] = Prediction(self._now, node.freed_by, node_id=node.node_id)
        ends_at = None if one.seconds is None else self._now + timedelta(seconds=one.seconds)
        slots = len(allocation.cores) + allocation.virtual
        holding = Holding(one.instance_id, slots, allocation.memory_mb, ends_at)
        node.running.append(holding)
        self._under_way[one.job_id].add(one.instance_id)
        self._job_of[one.instance_id] = one.job_id
        self._runs(holding, place)

    def _runs(self, holding: Holding, place: int) -> None:
        if holding.ends_at is None:
            self._endless.add(holding.instance_id)
        else:
            heapq.heappush(self._ends, (holding.ends_at, holding.instance_id, place))

    def _end(self, instance_id: int, node: NodeOutlook | None) -> None:
        self._limits.release(instance_id)
        job_id = self._job_of.get(instance_id, 0)
        self._under_way[job_id].discard(instance_id)
        self._ready.unpark(job_id)
        if node is not None:
            holding = next(h for h in node.running if h.instance_id == instance_id)
            node.ended.append((holding, room_of(node.manager)))
            node.running.remove(holding)
            node.manager.release(instance_id)

    def _busy_with(self, job_id: int, but: int) -> int | None:
        return next((i for i in sorted(self._under_way[job_id]) if i != but), None)

    # --- what cannot be told ---

    def _unknown(self, one: Queued) -> Prediction:
        able = [node for node in self._nodes if node.manager.can_ever(one.needs.demand)]
        if not able:
            return _because("no node could ever give what it needs")
        return self._held_by_another(one) or self._held_by_a_limit(one) or self._held_by_room(one, able)

    def _held_by_another(self, one: Queued) -> Prediction | None:
        other = None if one.needs.alone is None else self._busy_with(one.needs.alone, one.instance_id)
        if other is None:
            return None
        return _because(how_long([other]) if other in self._endless else _after(other))

    def _held_by_a_limit(self, one: Queued) -> Prediction | None:
        lacking = self._limits.lacks(one.needs.limits, (), self._now)
        if lacking is None:
            return None
        subject = lacking[0].subject
        endless = sorted(self._endless & set(self._limits.holders(str(subject["limit"])))) if subject["maximum"] else []
        return _because(how_long(endless) if endless else "the limit lets none of them run")

    def _held_by_room(self, one: Queued, able: Sequence[NodeOutlook]) -> Prediction:
        first = min((o for o in self._left() if self._shares(o, able)), key=lambda o: (o.key, o.instance_id))
        if first.instance_id != one.instance_id:
            return _because(_after(first.instance_id))
        endless = [
            h.instance_id
            for node in able
            for h in node.running
            if h.ends_at is None and gives_what_lacks(h, one.needs.demand, room_of(node.manager))
        ]
        return _because(how_long(endless) if endless else "nothing that runs here gives back enough")

    def _left(self) -> Iterable[Queued]:
        return (one for one in self._queue.values() if one.instance_id not in self._found)

    def _shares(self, one: Queued, nodes: Sequence[NodeOutlook]) -> bool:
        """Whether it waits for room on one of these nodes, and for nothing else."""
        held = self._held_by_another(one) or self._held_by_a_limit(one)
        return held is None and any(node.manager.can_ever(one.needs.demand) for node in nodes)


def _because(sentence: str) -> Prediction:
    return Prediction(None, (), sentence)


def _after(instance_id: int) -> str:
    return f"it comes after instance {instance_id}, whose start is unknown"
