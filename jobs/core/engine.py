"""One pass of the scheduler: facts in, decisions out.

The engine holds the near part of what the store knows: schedules, what is due soon, what is ready, what runs here. It
decides as if every decision will be committed; what the store refused is told to `settle`, and it forgets it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from jobs.core import retry
from jobs.core.admission import Candidate, admit
from jobs.core.cores import NO_LOAD, CoreManager
from jobs.core.decisions import Begin, Decision, Finish, Plan, Queue, Start, Stop, Wait
from jobs.core.firing import Schedules
from jobs.core.inputs import (
    AdmissionChanged,
    Began,
    Ended,
    Input,
    InstanceGone,
    InstanceSeen,
    JobChanged,
    JobGone,
    ScheduleChanged,
    ScheduleGone,
)
from jobs.core.known import KnownInstances, Run
from jobs.core.order import OrderKey
from jobs.core.port import Committed
from jobs.core.prediction import Holding, expected_end
from jobs.core.ready import ReadySet
from jobs.core.records import Allocation, Hold, Instance, Job, Outcome
from jobs.core.states import ENDED_BY, OutcomeKind, Status
from jobs.core.timetable import Timetable


class Engine:
    """One node's engine. Not thread-safe: its thread owns it.

    `new_token` gives an attempt's token, `uniform(a, b)` a random number: arguments, so that a test or a simulation can
    repeat a pass exactly.
    """

    def __init__(
        self,
        manager: CoreManager,
        *,
        order: OrderKey,
        new_token: Callable[[], str],
        uniform: Callable[[float, float], float],
    ) -> None:
        self.manager = manager
        self.ready = ReadySet()
        self.known = KnownInstances()
        self.schedules = Schedules()
        self.kept_for: int | None = None
        self._order = order
        self._new_token = new_token
        self._uniform = uniform
        self._due: Timetable[int] = Timetable()
        self._patience_at: datetime | None = None
        self._stopped = ""
        self._held: dict[int, Hold] = {}

    # --- what the service calls ---

    def step(self, now: datetime, inputs: Iterable[Input], load: Mapping[int, float] = NO_LOAD) -> Plan:
        """Take in what happened and decide. `load`: busy share of each core, to choose the idlest."""
        decisions: list[Decision] = []
        for told in inputs:
            decisions.extend(self._take(told, now))
        decisions.extend(self._fire(now))
        decisions.extend(self._queue_due(now))
        decisions.extend(self._admit(now, load))
        return Plan(tuple(_without_superseded(decisions)), self.wake_at())

    def wake_at(self) -> datetime | None:
        """When to step next if nothing happens before; None: only when something does."""
        moments = (self.schedules.next_moment(), self._due.next_moment(), self._patience_at)
        return min((moment for moment in moments if moment is not None), default=None)

    def adopt(self, job: Job, instance: Instance, run: Run) -> None:
        """Before the first pass: an attempt from before a restart that is still this node's to look after."""
        self.known.put_job(job)
        self.known.put(instance)
        self.known.running[instance.id] = run
        self.manager.restore(instance.id, run.allocation)

    def settle(self, committed: Committed) -> list[Input]:
        """After a commit: what to tell the next step. Where somebody else was first: forget, and give cores back.

        The caller adds how the refused ones are now in the store.
        """
        for instance_id in committed.refused_instances:
            self._forget(instance_id)
        for schedule_id in committed.refused_schedules:
            self.schedules.remove(schedule_id)
        return [InstanceSeen(instance) for instance in committed.born]

    def holdings(self, now: datetime) -> list[Holding]:
        """What runs here holds, with the moment at which each is expected to give it back."""
        return [self._holding(instance_id, run, now) for instance_id, run in self.known.running.items()]

    # --- facts ---

    def _take(self, told: Input, now: datetime) -> Sequence[Decision]:
        match told:
            case Ended():
                return self._ended(told, now)
            case Began():
                return self._began(told)
            case InstanceSeen(instance):
                return self._seen(instance)
            case InstanceGone(instance_id):
                return self._instance_gone(instance_id)
            case JobChanged(job):
                return self._job_changed(job)
            case JobGone(job_id):
                self._job_gone(job_id)
            case ScheduleChanged():
                return self.schedules.put(told)
            case ScheduleGone(job_id):
                self.schedules.remove_job(job_id)
            case AdmissionChanged(stopped):
                self._stopped = stopped
        return ()

    def _began(self, told: Began) -> Sequence[Decision]:
        run = self.known.running.get(told.instance_id)
        if run is None or run.token != told.token:
            return ()
        job_id = self.known.instances[told.instance_id].job_id
        return [Begin(told.instance_id, job_id, told.token, run.attempt, told.at)]

    def _ended(self, told: Ended, now: datetime) -> Sequence[Decision]:
        run = self.known.running.get(told.instance_id)
        if run is None or run.token != told.token:
            return ()
        instance = self.known.instances[told.instance_id]
        self.manager.release(instance.id)
        self.known.stopped(instance.id)
        return [self._finish(instance, run, told.outcome, now)]

    def _finish(self, instance: Instance, run: Run, outcome: Outcome, now: datetime) -> Finish:
        usual = None
        if outcome.kind is OutcomeKind.SUCCESS and outcome.duration_seconds is not None:
            usual = self.known.note_duration(instance.job_id, outcome.duration_seconds)
        status, retry_at = self._what_follows(instance, outcome, now)
        self._follow(instance, status, retry_at, outcome)
        return Finish(instance.id, instance.job_id, run.token, run.attempt, outcome, status, retry_at, usual)

    def _what_follows(self, instance: Instance, outcome: Outcome, now: datetime) -> tuple[Status, datetime | None]:
        policy = self.known.job(instance.job_id).retry
        lost = outcome.kind is OutcomeKind.LOST
        if instance.cancel_requested:
            return Status.CANCELLED if lost else ENDED_BY[outcome.kind], None
        if lost and retry.may_be_taken_over(instance):
            return Status.RETRYING, now + timedelta(seconds=retry.lost_wait_seconds(instance))
        if retry.may_retry(policy, instance, outcome):
            seconds = retry.backoff_seconds(policy, instance.attempts - instance.lost_attempts, self._uniform)
            return Status.RETRYING, now + timedelta(seconds=seconds)
        return ENDED_BY[outcome.kind], None

    def _follow(self, instance: Instance, status: Status, retry_at: datetime | None, outcome: Outcome) -> None:
        lost = instance.lost_attempts + (outcome.kind is OutcomeKind.LOST)
        self.known.move(instance.id, status, retry_at=retry_at, lost_attempts=lost)
        if status is Status.RETRYING and retry_at is not None:
            self._due.set(instance.id, retry_at)

    def _seen(self, instance: Instance) -> Sequence[Decision]:
        run = self.known.running.get(instance.id)
        if run is not None:
            return self._seen_while_running(instance, run)
        if instance.id in self.known.instances:
            self._forget(instance.id)
        self.known.put(instance)
        match instance.status:
            case Status.PENDING:
                self._due.set(instance.id, instance.due_at)
            case Status.RETRYING if instance.retry_at is not None:
                self._due.set(instance.id, instance.retry_at)
            case Status.QUEUED:
                self._make_ready(instance)
        return ()

    def _seen_while_running(self, instance: Instance, run: Run) -> Sequence[Decision]:
        """Whatever became of its row, the process is this node's until it has ended, and so are its cores."""
        if instance.status is Status.RUNNING and not instance.cancel_requested:
            return ()
        if instance.status is Status.RUNNING:
            self.known.put(instance)
        return [Stop(instance.id, run.attempt, run.token)]

    def _instance_gone(self, instance_id: int) -> Sequence[Decision]:
        """Its row was deleted. A process without an owner must not stay: its cores come back when it has ended."""
        run = self.known.running.get(instance_id)
        if run is not None:
            return [Stop(instance_id, run.attempt, run.token)]
        self._forget(instance_id)
        return ()

    def _job_changed(self, job: Job) -> Sequence[Decision]:
        before = self.known.find_job(job.id)
        self.known.put_job(job)
        decisions: list[Decision] = []
        if before is not None and (before.demand, before.paused) == (job.demand, job.paused):
            return decisions
        for instance in self.known.queued_of(job.id):
            self.ready.discard(instance.id)
            self._make_ready(instance)
            if job.paused:
                decisions.extend(self._hold(instance.id, Hold("paused")))
        return decisions

    def _job_gone(self, job_id: int) -> None:
        self.schedules.remove_job(job_id)
        for instance in self.known.waiting_of(job_id):
            self._forget(instance.id)
        self.known.drop_job(job_id)

    def _make_ready(self, instance: Instance) -> None:
        """A paused job's instances keep their place but are not looked at."""
        job = self.known.job(instance.job_id)
        if instance.order_key is None:
            raise ValueError(
                f"instance {instance.id} is queued without a place in the order; the store never does that"
            )
        if not job.paused:
            self.ready.add(instance.id, instance.order_key, job.demand)

    def _forget(self, instance_id: int) -> None:
        self._due.cancel(instance_id)
        self.ready.discard(instance_id)
        self._held.pop(instance_id, None)
        self.manager.release(instance_id)
        self.known.forget(instance_id)

    # --- time ---

    def _fire(self, now: datetime) -> Sequence[Decision]:
        fires = self.schedules.fire(now, self.known, self._order)
        return [*self.schedules.take_flags(), *fires]

    def _queue_due(self, now: datetime) -> list[Decision]:
        decisions: list[Decision] = []
        for instance_id in self._due.take_due(now):
            instance = self.known.instances[instance_id]
            job = self.known.job(instance.job_id)
            queued_at = instance.queued_at or now
            key = instance.order_key if instance.order_key is not None else self._order(job.priority, now)
            decisions.append(Queue(instance.id, instance.job_id, instance.status, queued_at, key))
            self._make_ready(self.known.move(instance.id, Status.QUEUED, queued_at=queued_at, order_key=key))
        return decisions

    # --- cores ---

    def _admit(self, now: datetime, load: Mapping[int, float]) -> list[Decision]:
        self._patience_at = None
        if self._stopped or not len(self.ready):
            self.kept_for = None
            return []
        admission = admit(self.ready, self.manager, self._candidate, lambda: self.holdings(now), now, load)
        self.kept_for = admission.kept_for
        self._patience_at = admission.look_again_at
        decisions: list[Decision] = [self._start(instance_id, held, now) for instance_id, held in admission.starts]
        for instance_id, hold in admission.holds.items():
            decisions.extend(self._hold(instance_id, hold))
        return decisions

    def _candidate(self, instance_id: int) -> Candidate:
        instance = self.known.instances[instance_id]
        job = self.known.job(instance.job_id)
        return Candidate(instance.queued_at or instance.due_at, job.expected_seconds)

    def _start(self, instance_id: int, allocation: Allocation, now: datetime) -> Start:
        instance = self.known.instances[instance_id]
        job = self.known.job(instance.job_id)
        self._held.pop(instance_id, None)
        attempt = instance.attempts + 1
        run = Run(self._new_token(), attempt, allocation, now)
        self.known.started(instance_id, run)
        return Start(instance_id, job.id, job.revision, attempt, run.token, allocation)

    def _hold(self, instance_id: int, hold: Hold) -> list[Decision]:
        """Only a reason that changed is written: a queue that stands still costs no rows."""
        if self._held.get(instance_id) == hold:
            return []
        self._held[instance_id] = hold
        return [Wait(instance_id, self.known.instances[instance_id].job_id, hold)]

    def _holding(self, instance_id: int, run: Run, now: datetime) -> Holding:
        job = self.known.job(self.known.instances[instance_id].job_id)
        slots = len(run.allocation.cores) + run.allocation.virtual
        ends_at = expected_end(run.since, job.expected_seconds, now)
        return Holding(instance_id, slots, run.allocation.memory_mb, ends_at)


def _without_superseded(decisions: list[Decision]) -> list[Decision]:
    """A short attempt that began and ended in one pass is written once, as ended."""
    finished = {decision.token for decision in decisions if isinstance(decision, Finish)}
    if not finished:
        return decisions
    return [d for d in decisions if not (isinstance(d, Begin) and d.token in finished)]
