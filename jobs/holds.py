"""Why an instance waits, in one sentence with numbers, and when it is expected to start: made when somebody looks.

Stored is only a code. What is said is computed from what runs and what waits now, so it is never out of date.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from jobs import models
from jobs.core.prediction import Holding, NodeRoom, Prediction, Room, Waiting, expected_end, queue_starts
from jobs.core.records import Demand, Job
from jobs.core.states import WAITING, Status
from jobs.nodes import slots_of, state_of
from jobs.store import read

# Predictions further down the queue than this would be guesses upon guesses.
LOOKED_THROUGH = 200


@dataclass(frozen=True, slots=True)
class HoldView:
    """`predicted_start` None: nobody knows, and `unknown_because` says why."""

    code: str
    sentence: str
    predicted_start: datetime | None
    unknown_because: str = ""


@dataclass(frozen=True, slots=True)
class _Scene:
    """What waits and what runs at one moment, on the node that has the most room."""

    node: models.Node | None
    free: Room
    holdings: Sequence[Holding]
    queue: Sequence[models.Instance]
    starts: dict[int, Prediction]

    def ahead_of(self, instance: models.Instance) -> int | None:
        for position, other in enumerate(self.queue):
            if other.pk == instance.pk:
                return position
        return None


def explain(instances: Iterable[models.Instance], now: datetime) -> dict[int, HoldView]:
    """A view for each of `instances` that waits, by id; give them with their job. A fixed number of queries."""
    waiting = [instance for instance in instances if instance.status in WAITING]
    if not waiting:
        return {}
    scene = _scene(now) if any(i.status == Status.QUEUED for i in waiting) else None
    return {instance.pk: _view(instance, scene, now) for instance in waiting}


def _view(instance: models.Instance, scene: _Scene | None, now: datetime) -> HoldView:
    if instance.status == Status.PENDING:
        return HoldView("not_due", f"is due at {_clock(instance.due_at)}", max(instance.due_at, now))
    if instance.status == Status.RETRYING:
        again = instance.retry_at or now
        failed = f"attempt {instance.attempt_count} failed; the next is at {_clock(again)}"
        return HoldView("retry_wait", failed, max(again, now))
    if scene is None:
        raise AssertionError("a queued instance is explained with the queue at hand")
    return _queued(instance, scene)


def _queued(instance: models.Instance, scene: _Scene) -> HoldView:
    job = instance.job
    if job.paused:
        return HoldView("paused", f"the job is paused{_by(job.paused_by)}", None, "it waits until the job is resumed")
    node = scene.node
    if node is None:
        return HoldView("no_node", "no node runs the scheduler", None, "it waits until the scheduler is started")
    if node.admission_stopped:
        return HoldView("admission_stopped", node.admission_stopped, None, "it waits until starts are allowed again")
    prediction = scene.starts.get(instance.pk)
    if prediction is None:
        because = f"more than {LOOKED_THROUGH} are ahead of it"
        return HoldView("turn", f"waits for its turn: {because}", None, because)
    sentence = _sentence(instance, scene, prediction)
    return HoldView(_code(instance, scene), sentence, prediction.at, prediction.unknown_because)


def _code(instance: models.Instance, scene: _Scene) -> str:
    demand = _demand(instance.job)
    if instance.hold_code in ("behind", "node_too_small"):
        return instance.hold_code
    if demand.cores > scene.free.slots:
        return "cores"
    return "turn" if scene.free.meets(demand) else "memory"


def _sentence(instance: models.Instance, scene: _Scene, prediction: Prediction) -> str:
    demand = _demand(instance.job)
    ahead = scene.ahead_of(instance) or 0
    code = _code(instance, scene)
    if code == "node_too_small":
        return f"needs {_cores(demand.cores)} and {demand.memory_mb} MB, more than any node that runs now can give"
    if code == "behind":
        big = instance.hold_subject.get("instance")
        return f"cores are kept for instance {big}, which is ahead of it and needs more than are free"
    if code == "memory":
        text = f"needs {demand.memory_mb} MB of memory, {scene.free.memory_mb} MB are free"
    elif code == "cores":
        text = f"needs {_cores(demand.cores)}, {scene.free.slots} {'is' if scene.free.slots == 1 else 'are'} free"
    else:
        text = "starts in a moment" if not ahead else f"{ahead} {'is' if ahead == 1 else 'are'} ahead of it"
    return text + _freed_by(prediction)


def _freed_by(prediction: Prediction) -> str:
    if prediction.at is None:
        return ""
    names = [str(instance_id) for instance_id in prediction.freed_by]
    if not names:
        return ""
    who = f"instance {names[0]} frees" if len(names) == 1 else f"instances {' and '.join(names[-2:])} free"
    return f"; {who} enough at about {_clock(prediction.at)}"


def _scene(now: datetime) -> _Scene:
    nodes = [node for node in models.Node.objects.all() if node.cores and state_of(node, now) == "live"]
    running = list(models.Instance.objects.filter(status=Status.RUNNING).select_related("job"))
    queue = list(
        models.Instance.objects.filter(status=Status.QUEUED, job__paused_at=None)
        .select_related("job")
        .order_by("order_key", "id")[:LOOKED_THROUGH]
    )
    jobs = {row.job_id: row.job for row in [*running, *queue]}
    known = {job_id: read.job(job) for job_id, job in jobs.items()}
    rooms = {node.pk: _room(node, [row for row in running if row.node_id == node.pk]) for node in nodes}
    node = max(nodes, key=lambda n: rooms[n.pk].slots, default=None)
    if node is None:
        return _Scene(None, Room(0, None), (), queue, {})
    holdings = [_holding(row, known[row.job_id], now) for row in running if row.node_id == node.pk]
    waiting = [Waiting(row.pk, _demand(row.job), known[row.job_id].expected_seconds) for row in queue]
    whole = Room(slots_of(node), node.memory_mb or None)
    starts = queue_starts(waiting, [NodeRoom(node.pk, whole, rooms[node.pk], tuple(holdings))], now)
    return _Scene(node, rooms[node.pk], holdings, queue, starts)


def _room(node: models.Node, running: Sequence[models.Instance]) -> Room:
    used = sum(len(row.cores) + row.virtual_cores for row in running)
    memory = node.memory_mb - sum(row.memory_mb for row in running) if node.memory_mb else None
    return Room(max(0, slots_of(node) - used), memory)


def _holding(row: models.Instance, job: Job, now: datetime) -> Holding:
    ends_at = expected_end(row.started_at or now, job.expected_seconds, now)
    return Holding(row.pk, len(row.cores) + row.virtual_cores, row.memory_mb, ends_at)


def _demand(job: models.Job) -> Demand:
    return Demand(job.cores, job.memory_mb)


def _cores(count: int) -> str:
    return "1 core" if count == 1 else f"{count} cores"


def _by(name: str) -> str:
    return f" by {name}" if name else ""


def _clock(moment: datetime) -> str:
    return timezone.localtime(moment).strftime("%H:%M:%S")
