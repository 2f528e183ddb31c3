"""Why an instance waits, in one sentence with numbers, and when it is expected to start: made when somebody looks.

The sentence is computed from what runs and waits at that moment. Of what the engine stores, only for whom a node keeps
its cores is used, and that only while the rest agrees: it is as old as the engine's last pass.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import Q

from jobs import models
from jobs.core.cores import CoreManager
from jobs.core.prediction import Holding, NodeRoom, Prediction, Room, Waiting, expected_end, queue_starts
from jobs.core.records import Allocation, Demand, Job
from jobs.core.states import WAITING, Status
from jobs.nodes import draining, state_of
from jobs.pauses import who_paused
from jobs.store import read

# Predictions further down the queue than this would be guesses upon guesses.
LOOKED_THROUGH = 200
UNTIL_RESUMED = "it waits until the job is resumed"
UNTIL_UNDRAINED = "it waits until a node that can run it takes work again"
UNTIL_STARTED = "it waits until the scheduler is started"
SOON = "starts in a moment"


@dataclass(frozen=True, slots=True)
class HoldView:
    """`predicted_start` None: nobody knows, and `unknown_because` says why."""

    code: str
    sentence: str
    predicted_start: datetime | None
    unknown_because: str = ""


@dataclass(frozen=True, slots=True)
class _Live:
    """A node that is at work, with its room."""

    node: models.Node
    room: NodeRoom

    @property
    def stopped(self) -> str:
        """Why nothing starts there; empty where it does."""
        return self.node.admission_stopped or draining(self.node)


@dataclass(frozen=True, slots=True)
class _Scene:
    """What waits and what runs at one moment. `queue`: what each of the first in it demands, in their order."""

    now: datetime
    live: Sequence[_Live]
    last_seen: models.Node | None
    queue: Mapping[int, Demand]
    starts: Mapping[int, Prediction]

    def ahead_of(self, instance_id: int) -> list[int]:
        ids = list(self.queue)
        return ids[: ids.index(instance_id)]


def explain(instances: Iterable[models.Instance], now: datetime) -> dict[int, HoldView]:
    """A view for each of `instances` that waits, by id; give them with their job. A fixed number of queries."""
    waiting = [instance for instance in instances if instance.status in WAITING]
    scene = _scene(now) if any(_is_due(instance, now) for instance in waiting) else None
    return {i.pk: _later(i, now) if scene is None or not _is_due(i, now) else _due(i, scene) for i in waiting}


def _is_due(instance: models.Instance, now: datetime) -> bool:
    return instance.status == Status.QUEUED or _moment(instance) <= now


def _moment(instance: models.Instance) -> datetime:
    return (instance.retry_at if instance.status == Status.RETRYING else None) or instance.due_at


def _later(instance: models.Instance, now: datetime) -> HoldView:
    moment = _moment(instance)
    code, sentence = "not_due", f"is due at {_clock(moment, now)}"
    if instance.status == Status.RETRYING:
        failed = f"attempt {instance.attempt_count} failed"
        code, sentence = "retry_wait", f"{failed}; the next is at about {_clock(moment, now)}"
    if instance.job.paused:
        return HoldView(code, f"{sentence}, but {_paused(instance.job)}", None, UNTIL_RESUMED)
    return HoldView(code, sentence, moment)


def _due(instance: models.Instance, scene: _Scene) -> HoldView:
    """What is true of all nodes and all the queue comes before what is true of this one's place in it."""
    demand = _demand(instance.job)
    if instance.job.paused:
        return HoldView("paused", _paused(instance.job), None, UNTIL_RESUMED)
    if not scene.live:
        return HoldView("no_node", _nobody_runs(scene), None, UNTIL_STARTED)
    able = [live for live in scene.live if live.room.whole.meets(demand)]
    if not able:
        because = "it waits until a node runs that is large enough"
        return HoldView("node_too_small", _too_small(demand, scene.live), None, because)
    starting = [live for live in able if not live.stopped]
    if not starting and not any(live.node.admission_stopped for live in able):
        return HoldView("draining", _stopped(able), None, UNTIL_UNDRAINED)
    if not starting:
        return HoldView("admission_stopped", _stopped(able), None, "it waits until starts are allowed again")
    if instance.pk in scene.queue:
        return _in_its_place(instance.pk, demand, starting, scene)
    return _in_no_place(instance, scene)


def _in_no_place(instance: models.Instance, scene: _Scene) -> HoldView:
    """Too far back, or about to enter the queue, or it left while we looked."""
    if len(scene.queue) < LOOKED_THROUGH and (not scene.queue or instance.status == Status.QUEUED):
        return HoldView("turn", SOON, scene.now)
    if instance.status != Status.QUEUED:
        return HoldView("turn", "its moment has come; it joins the queue in a moment", None, "it is not queued yet")
    because = f"at least {LOOKED_THROUGH} are ahead of it"
    return HoldView("turn", f"waits for its turn: {because}", None, because)


def _in_its_place(instance_id: int, demand: Demand, able: Sequence[_Live], scene: _Scene) -> HoldView:
    prediction = scene.starts[instance_id]
    fitting = [live for live in able if live.room.free.meets(demand)]
    if fitting:
        code, sentence = _though_it_fits(instance_id, demand, fitting, scene, prediction)
    else:
        roomiest = max(able, key=lambda live: live.room.free.slots)
        live = next((live for live in able if live.node.pk == prediction.node_id), roomiest)
        code, sentence = _lacks(demand, live, scene)
        sentence += _freed_by(prediction, scene.now)
    return HoldView(code, sentence, prediction.at, prediction.unknown_because)


def _though_it_fits(
    instance_id: int, demand: Demand, fitting: Sequence[_Live], scene: _Scene, prediction: Prediction
) -> tuple[str, str]:
    ahead, when = scene.ahead_of(instance_id), _expected(prediction, scene.now)
    kept = [(live, big) for live in fitting if (big := _kept_for(live, ahead, scene)) is not None]
    if len(kept) == len(fitting):
        return "behind", _kept(demand, *kept[0], scene) + when
    # Those that no such node can ever give enough are in nobody's way.
    rivals = [other for other in ahead if any(live.room.whole.meets(scene.queue[other]) for live in fitting)]
    if prediction.at == scene.now or not rivals:
        return "turn", SOON
    return "turn", f"{_are(len(rivals))} ahead of it{when}"


def _kept_for(live: _Live, ahead: Sequence[int], scene: _Scene) -> int | None:
    """What the engine wrote may be over: then the one that it was kept for has left the queue, or fits by now."""
    big = live.node.kept_for
    return big if big is not None and big in ahead and not live.room.free.meets(scene.queue[big]) else None


def _kept(demand: Demand, live: _Live, big: int, scene: _Scene) -> str:
    free = f"{_are(live.room.free.slots)} free{_on(live, scene)}"
    needs = _needs(scene.queue[big])
    return f"needs {_cores(demand.cores)}, {free}, but kept for instance {big}, which is ahead of it and needs {needs}"


def _lacks(demand: Demand, live: _Live, scene: _Scene) -> tuple[str, str]:
    free, where = live.room.free, _on(live, scene)
    if demand.cores > free.slots:
        return "cores", f"needs {_cores(demand.cores)}, {_are(free.slots)} free{where}"
    left = max(0, free.memory_mb or 0)
    return "memory", f"needs {demand.memory_mb} MB of memory, {left} MB {'is' if left == 1 else 'are'} free{where}"


def _freed_by(prediction: Prediction, now: datetime) -> str:
    if prediction.at is None or not prediction.freed_by:
        return ""
    *before, last = prediction.freed_by
    who, has = f"instance {last} frees", "it has"
    if before:
        others = str(before[0]) if len(before) == 1 else f"{len(before)} others"
        who, has = f"instances {last} and {others} free", "they have"
    if prediction.at <= now:
        return f"; {who} enough any moment: {has} run longer than expected"
    return f"; {who} enough at about {_clock(prediction.at, now)}"


def _expected(prediction: Prediction, now: datetime) -> str:
    return "" if prediction.at is None else f"; it should start at about {_clock(prediction.at, now)}"


def _paused(job: models.Job) -> str:
    who = who_paused(job)
    return "the job is paused" + (f" by {who}" if who else "")


def _nobody_runs(scene: _Scene) -> str:
    node = scene.last_seen
    if node is None or node.heartbeat_at is None:
        return "no node runs the scheduler"
    return f"no node runs the scheduler; {node.name} was last seen at {_clock(node.heartbeat_at, scene.now)}"


def _too_small(demand: Demand, live: Sequence[_Live]) -> str:
    cores = max(node.room.whole.slots for node in live)
    memory = [node.room.whole.memory_mb for node in live if node.room.whole.memory_mb is not None]
    if demand.cores > cores:
        return f"needs {_cores(demand.cores)}, and no node that runs now can give more than {cores}"
    if len(memory) == len(live) and demand.memory_mb > max(memory):
        return f"needs {demand.memory_mb} MB of memory, and no node that runs now can give more than {max(memory)} MB"
    return f"needs {_needs(demand)}, and no node that runs now can give both"


def _stopped(able: Sequence[_Live]) -> str:
    if len(able) == 1:
        return able[0].stopped
    return "; ".join(_stopped_there(live) for live in able)


def _stopped_there(live: _Live) -> str:
    said = live.node.admission_stopped
    return f"on {live.node.name}: {said.rstrip('.')}" if said else live.stopped


def _scene(now: datetime) -> _Scene:
    """Three queries. Without what is long: a script may have a megabyte."""
    nodes = list(models.Node.objects.order_by("name"))
    holdings, allocations = _in_flight(now)
    live = [
        _Live(node, _room(node, holdings[node.pk], allocations[node.pk]))
        for node in nodes
        if node.cores and state_of(node, now) == "live"
    ]
    rows = list(
        models.Instance.objects.filter(status=Status.QUEUED, job__paused_at=None)
        .select_related("job")
        .defer("job__body", "job__environment", "job__description")
        .order_by("order_key", "id")[:LOOKED_THROUGH]
    )
    waiting = [Waiting(row.pk, _demand(row.job), read.job(row.job).expected_seconds) for row in rows]
    starts = queue_starts(waiting, [one.room for one in live if not one.stopped], now)
    silent = [node for node in nodes if node.heartbeat_at and state_of(node, now) == "stale"]
    last_seen = max(silent, key=lambda node: node.heartbeat_at or now, default=None)
    return _Scene(now, live, last_seen, {one.instance_id: one.demand for one in waiting}, starts)


Held = defaultdict[int, list[Holding]]
Given = defaultdict[int, dict[int, Allocation]]


def _in_flight(now: datetime) -> tuple[Held, Given]:
    """By node, what its attempts hold. An attempt is expected to end by its own beginning, not by the first one's."""
    holdings: Held = defaultdict(list)
    given: Given = defaultdict(dict)
    attempts = models.Attempt.objects.filter(~Q(status="ended")).values_list(
        "node_id", "instance_id", "cores", "virtual_cores", "memory_mb", "started_at", "created_at",
        "instance__job__usual_seconds", "instance__job__timeout_seconds",
    ).order_by("id")  # fmt: skip
    for node_id, instance_id, cores, virtual, memory_mb, started_at, created_at, usual, limit in attempts:
        expected = Job(0, usual_seconds=usual, timeout_seconds=limit).expected_seconds
        ends_at = expected_end(started_at or created_at, expected, now)
        holdings[node_id].append(Holding(instance_id, len(cores) + virtual, memory_mb, ends_at))
        given[node_id][instance_id] = Allocation(tuple(cores), virtual, memory_mb)
    return holdings, given


def _room(node: models.Node, holdings: Sequence[Holding], given: Mapping[int, Allocation]) -> NodeRoom:
    """As the engine counts it: by the same core manager."""
    manager = CoreManager(node.cores, overcommit=node.overcommit, memory_mb=node.memory_mb)
    for instance_id, allocation in given.items():
        manager.restore(instance_id, allocation)
    whole = Room(manager.slots, node.memory_mb or None)
    free = Room(manager.free_slots, manager.free_memory_mb if node.memory_mb else None)
    return NodeRoom(node.pk, whole, free, tuple(holdings))


def _demand(job: models.Job) -> Demand:
    return Demand(job.cores, job.memory_mb)


def _needs(demand: Demand) -> str:
    return _cores(demand.cores) + (f" and {demand.memory_mb} MB of memory" if demand.memory_mb else "")


def _cores(count: int) -> str:
    return "1 core" if count == 1 else f"{count} cores"


def _are(count: int) -> str:
    """Such as "none is", "1 is", "2 are"."""
    return f"{count or 'none'} {'are' if count > 1 else 'is'}"


def _on(live: _Live, scene: _Scene) -> str:
    """Whose numbers they are, where it is not the only node."""
    return f" on {live.node.name}" if len(scene.live) > 1 else ""


def _clock(moment: datetime, now: datetime) -> str:
    """To the second, in UTC and said so; with the date if that is not today's."""
    rounded = (moment + timedelta(milliseconds=500)).astimezone(UTC)
    return rounded.strftime("%H:%M:%S UTC" if rounded.date() == now.astimezone(UTC).date() else "%Y-%m-%d %H:%M:%S UTC")
