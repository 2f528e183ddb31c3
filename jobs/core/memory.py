"""A store in memory: the reference that the contract tests hold the ORM store against, and the ground of simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from jobs.core.decisions import Begin, Decision, Finish, Fire, Flag, Queue, Start, Wait
from jobs.core.order import OrderKey, by_priority
from jobs.core.port import Committed
from jobs.core.records import Hold, Instance, Job, Outcome
from jobs.core.states import LIVE, UNFINISHED, WAITING, AttemptStatus, OutcomeKind, Status


@dataclass(frozen=True, slots=True)
class StoredAttempt:
    instance_id: int
    number: int
    token: str
    status: AttemptStatus
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class StoredEvent:
    kind: str
    instance_id: int | None
    from_status: str
    to_status: str


class MemoryStore:
    """Keeps the `Store` contract with dictionaries. One transaction at a time: a commit either happens or raises."""

    def __init__(self, order: OrderKey = by_priority) -> None:
        self.jobs: dict[int, Job] = {}
        self.instances: dict[int, Instance] = {}
        self.attempts: dict[str, StoredAttempt] = {}
        self.holds: dict[int, Hold] = {}
        self.last_logical_at: dict[int, datetime] = {}
        self.faults: dict[int, str] = {}
        self.events: list[StoredEvent] = []
        self._order = order
        self._ids = count(1)

    # --- what people wish for ---

    def submit(self, job_id: int, now: datetime, due_at: datetime | None = None) -> Instance:
        due = due_at or now
        status = Status.QUEUED if due <= now else Status.PENDING
        instance = Instance(next(self._ids), job_id, status, logical_at=due, due_at=due)
        if status is Status.QUEUED:
            key = self._order(self.jobs[job_id].priority, now)
            instance = replace(instance, queued_at=now, order_key=key)
        self.instances[instance.id] = instance
        self._note(f"instance.{status}", instance.id, "", status)
        return instance

    def cancel(self, instance_id: int) -> Instance:
        """Cancel what waits, ask what runs to stop; no change after the end."""
        instance = self.instances[instance_id]
        if instance.status in WAITING:
            self._move(instance, Status.CANCELLED, "instance.ended")
        elif instance.status is Status.RUNNING and not instance.cancel_requested:
            self.instances[instance_id] = replace(instance, cancel_requested=True)
            self._note("instance.cancel_requested", instance_id, instance.status, instance.status)
        return self.instances[instance_id]

    # --- the Store contract ---

    def commit(self, decisions: Sequence[Decision], at: datetime) -> Committed:  # noqa: ARG002 - the port's signature
        """See `jobs.core.port.Store`. Moves are made in the ORM store's order: ends, fires, queueing, starts."""
        instances: set[int] = set()
        schedules: set[int] = set()
        born: list[Instance] = []
        for decision in sorted(decisions, key=_turn):
            match decision:
                case Finish() if not self._finish(decision):
                    instances.add(decision.instance_id)
                case Fire():
                    self._fire(decision, schedules, born)
                case Flag():
                    self.faults[decision.schedule_id] = decision.fault
                    self._note("schedule.flagged", None, "", "")
                case Queue() if not self._queue(decision):
                    instances.add(decision.instance_id)
                case Start() if not self._start(decision):
                    instances.add(decision.instance_id)
                case Begin():
                    self._begin(decision)
                case Wait() if self._status(decision.instance_id) is Status.QUEUED:
                    self.holds[decision.instance_id] = decision.hold
        return Committed(frozenset(instances), frozenset(schedules), tuple(born))

    def set_aside(self, decision: Decision, fault: str, at: datetime) -> None:
        """See `jobs.core.port.Store`."""
        match decision:
            case Start() | Queue() if self._status(decision.instance_id) in WAITING:
                self._move(self.instances[decision.instance_id], Status.FAILED, "instance.ended")
            case Finish():
                bare = Outcome(decision.outcome.kind, at, error=fault)
                self.commit([replace(decision, outcome=bare, usual_seconds=None)], at)
            case Fire():
                self.commit([Flag(decision.schedule_id, decision.job_id, fault)], at)

    def _fire(self, fire: Fire, schedules: set[int], born: list[Instance]) -> None:
        last = self.last_logical_at.get(fire.schedule_id)
        job = self.jobs.get(fire.job_id)
        stale = job is None or job.revision != fire.job_revision or job.paused
        if stale or (last is not None and last >= fire.logical_at):
            schedules.add(fire.schedule_id)
            return
        self.last_logical_at[fire.schedule_id] = fire.logical_at
        if fire.reason or self._taken(fire):
            self._note("schedule.skipped", None, "", "")
            return
        instance = Instance(
            next(self._ids),
            fire.job_id,
            Status.QUEUED,
            fire.logical_at,
            fire.logical_at,
            schedule_id=fire.schedule_id,
            queued_at=fire.queued_at,
            order_key=fire.order_key,
        )
        self.instances[instance.id] = instance
        born.append(instance)
        self._note("instance.queued", instance.id, "", instance.status)

    def _taken(self, fire: Fire) -> bool:
        """An instance of that date exists, or one of the job has not ended."""
        of_job = [i for i in self.instances.values() if i.job_id == fire.job_id]
        return any(i.status in UNFINISHED or i.logical_at == fire.logical_at for i in of_job)

    def _queue(self, queue: Queue) -> bool:
        instance = self.instances.get(queue.instance_id)
        if instance is None or instance.status is not queue.from_status:
            return False
        self._move(
            instance,
            Status.QUEUED,
            "instance.queued",
            queued_at=instance.queued_at or queue.queued_at,
            order_key=instance.order_key if instance.order_key is not None else queue.order_key,
        )
        return True

    def _start(self, start: Start) -> bool:
        instance = self.instances.get(start.instance_id)
        job = self.jobs.get(start.job_id)
        if instance is None or job is None or job.revision != start.job_revision or job.paused:
            return False
        if instance.status is not Status.QUEUED or instance.attempts != start.attempt - 1:
            return False
        self.attempts[start.token] = StoredAttempt(instance.id, start.attempt, start.token, AttemptStatus.STARTING)
        self._move(instance, Status.RUNNING, "instance.started", attempts=start.attempt, retry_at=None)
        return True

    def _begin(self, begin: Begin) -> None:
        attempt = self.attempts.get(begin.token)
        if attempt is not None and attempt.status is AttemptStatus.STARTING:
            self.attempts[begin.token] = replace(attempt, status=AttemptStatus.RUNNING)
            self._note("attempt.began", begin.instance_id, Status.RUNNING, Status.RUNNING)

    def _finish(self, finish: Finish) -> bool:
        instance = self.instances.get(finish.instance_id)
        attempt = self.attempts.get(finish.token)
        if instance is None or attempt is None or attempt.status is AttemptStatus.ENDED:
            return False
        self.attempts[finish.token] = replace(attempt, status=AttemptStatus.ENDED, outcome=finish.outcome)
        cancelled = finish.status in LIVE and instance.cancel_requested
        status = Status.CANCELLED if cancelled else finish.status
        kind = {Status.RETRYING: "instance.retrying", Status.QUEUED: "instance.requeued"}.get(status, "instance.ended")
        self._move(
            instance,
            status,
            kind,
            retry_at=finish.retry_at if status is Status.RETRYING else None,
            lost_attempts=instance.lost_attempts + (finish.outcome.kind is OutcomeKind.LOST),
        )
        return True

    def _move(self, instance: Instance, status: Status, kind: str, **changes: object) -> None:
        self.instances[instance.id] = replace(instance, status=status, **changes)  # type: ignore[arg-type]  # by name
        self._note(kind, instance.id, instance.status, status)

    def _status(self, instance_id: int) -> Status | None:
        instance = self.instances.get(instance_id)
        return instance.status if instance else None

    def _note(self, kind: str, instance_id: int | None, from_status: str, to_status: str) -> None:
        self.events.append(StoredEvent(kind, instance_id, from_status, to_status))


_TURNS = (Finish, Fire, Flag, Queue, Start, Begin, Wait)


def _turn(decision: Decision) -> int:
    return _TURNS.index(type(decision)) if type(decision) in _TURNS else len(_TURNS)
