"""A store in memory: the reference that the contract tests hold the ORM store against, and the ground of simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from jobs.core.decisions import (
    Begin,
    Birth,
    Decision,
    Dismiss,
    Finish,
    Fire,
    Flag,
    Pause,
    Queue,
    Rearm,
    Start,
    Wait,
    Withdraw,
)
from jobs.core.order import Order, make_order
from jobs.core.places import entry
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

    def __init__(self, order: Order | None = None) -> None:
        self.jobs: dict[int, Job] = {}
        self.instances: dict[int, Instance] = {}
        self.attempts: dict[str, StoredAttempt] = {}
        self.holds: dict[int, Hold] = {}
        self.last_logical_at: dict[int, datetime] = {}
        self.next_at: dict[int, datetime | None] = {}
        self.faults: dict[int, str] = {}
        self.events: list[StoredEvent] = []
        self._order = order or make_order("priority", {})
        self._ids = count(1)

    # --- what people wish for ---

    def submit(
        self, job_id: int, now: datetime, due_at: datetime | None = None, logical_at: datetime | None = None
    ) -> Instance:
        """One that has upstreams is pending: whether they are done is the engine's to say."""
        due = due_at or now
        logical = logical_at or due
        job = self.jobs[job_id]
        status = Status.QUEUED if due <= now and not job.upstreams else Status.PENDING
        of_date = [i.generation for i in self.instances.values() if (i.job_id, i.logical_at) == (job_id, logical)]
        generation = max(of_date, default=-1) + 1
        instance = Instance(next(self._ids), job_id, status, logical_at=logical, due_at=due, generation=generation)
        if status is Status.QUEUED:
            key = self._order.key(entry(job, now, due))
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
        """See `jobs.core.port.Store`. Moves are made in the order of `_TURNS`, as the ORM store makes them."""
        guarded = {Finish: self._finish, Dismiss: self._dismiss, Queue: self._queue, Start: self._start}
        instances: set[int] = set()
        schedules: set[int] = set()
        born: list[Instance] = []
        for decision in sorted(decisions, key=_turn):
            if isinstance(decision, Finish | Dismiss | Queue | Start):
                if isinstance(decision, Start) and decision.instance_id in instances:
                    continue
                if not guarded[type(decision)](decision):  # type: ignore[operator]  # each its own kind
                    instances.add(decision.instance_id)
            elif isinstance(decision, Fire):
                self._fire(decision, schedules, born)
            elif isinstance(decision, Rearm):
                self._rearm(decision, schedules)
            else:
                self._note_down(decision)
        return Committed(frozenset(instances), frozenset(schedules), tuple(born))

    def _note_down(self, decision: Decision) -> None:
        """What nobody can be first with."""
        match decision:
            case Withdraw():
                self.cancel(decision.instance_id)
            case Pause(job_id):
                self.jobs[job_id] = replace(self.jobs[job_id], paused=True)
                self._note("job.paused", None, "", "")
            case Flag():
                self.faults[decision.schedule_id] = decision.fault
                self._note("schedule.flagged", None, "", "")
            case Begin():
                self._begin(decision)
            case Wait() if self._status(decision.instance_id) is Status.QUEUED:
                self.holds[decision.instance_id] = decision.hold

    def set_aside(self, decision: Decision, fault: str, at: datetime) -> None:
        """See `jobs.core.port.Store`."""
        match decision:
            case Start() | Queue() | Dismiss() if self._status(decision.instance_id) in WAITING:
                self._move(self.instances[decision.instance_id], Status.FAILED, "instance.ended")
            case Finish():
                bare = Outcome(decision.outcome.kind, at, error=fault)
                self.commit([replace(decision, outcome=bare, usual_seconds=None)], at)
            case Fire():
                self.commit([Flag(decision.schedule_id, decision.job_id, fault)], at)

    def _rearm(self, rearm: Rearm, schedules: set[int]) -> None:
        job = self.jobs.get(rearm.job_id)
        stale = job is None or job.revision != rearm.job_revision or job.paused
        if stale or self.next_at.get(rearm.schedule_id) is not None:
            schedules.add(rearm.schedule_id)
        else:
            self.next_at[rearm.schedule_id] = rearm.next_at

    def _fire(self, fire: Fire, schedules: set[int], born: list[Instance]) -> None:
        last = self.last_logical_at.get(fire.schedule_id)
        job = self.jobs.get(fire.job_id)
        stale = job is None or job.revision != fire.job_revision or job.paused
        if stale or (last is not None and last >= fire.logical_at):
            schedules.add(fire.schedule_id)
            return
        self.last_logical_at[fire.schedule_id] = fire.logical_at
        self.next_at[fire.schedule_id] = fire.next_at
        for _ in fire.skips:
            self._note("schedule.skipped", None, "", "")
        refused: set[datetime] = set()
        for birth in fire.births:
            if birth.logical_at in refused:
                continue
            if self._taken(birth):
                if birth.job_id == fire.job_id:
                    refused.add(birth.logical_at)
                    self._note("schedule.skipped", None, "", "")
            else:
                born.append(self._bear(birth, fire.schedule_id))

    def _bear(self, birth: Birth, schedule_id: int) -> Instance:
        instance = birth.instance(next(self._ids), schedule_id)
        self.instances[instance.id] = instance
        self._note(f"instance.{instance.status}", instance.id, "", instance.status)
        return instance

    def _taken(self, birth: Birth) -> bool:
        """An instance of that date exists, or as many of the job as may be have not ended."""
        of_job = [i for i in self.instances.values() if i.job_id == birth.job_id]
        unfinished = sum(i.status in UNFINISHED and not i.backfill for i in of_job)
        full = birth.bound is not None and unfinished >= birth.bound
        return full or any((i.logical_at, i.generation) == (birth.logical_at, 0) for i in of_job)

    def _dismiss(self, dismiss: Dismiss) -> bool:
        instance = self.instances.get(dismiss.instance_id)
        if instance is None or instance.status is not dismiss.from_status:
            return False
        self._move(instance, dismiss.status, "instance.ended", blame=dismiss.blame)
        return True

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


_TURNS = (Finish, Pause, Dismiss, Withdraw, Fire, Rearm, Flag, Queue, Start, Begin, Wait)


def _turn(decision: Decision) -> int:
    return _TURNS.index(type(decision)) if type(decision) in _TURNS else len(_TURNS)
