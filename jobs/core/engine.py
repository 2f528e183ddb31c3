"""One pass of the scheduler: facts in, decisions out.

The engine holds the near part of what the store knows: schedules, what is due soon, what is ready, what runs here. It
decides as if every decision will be committed; what the store refused is told to `settle`, and it forgets it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from jobs.core.admission import PATIENCE
from jobs.core.births import Births
from jobs.core.cores import NO_LOAD, CoreManager
from jobs.core.decisions import Begin, Decision, Dismiss, Fire, Plan, Stop, Withdraw, without_superseded
from jobs.core.definitions import Definitions
from jobs.core.ending import REPLACED, Endings
from jobs.core.firing import Schedules
from jobs.core.graph import Graph
from jobs.core.inputs import (
    Abandoned,
    AbandonedElsewhere,
    AdmissionChanged,
    Began,
    CancelAsked,
    Ended,
    Input,
    InstanceGone,
    InstanceSeen,
    JobChanged,
    JobGone,
    LimitsChanged,
    Prepared,
    ScheduleChanged,
    ScheduleGone,
)
from jobs.core.known import KnownInstances, Run
from jobs.core.limits import Limits
from jobs.core.order import Order
from jobs.core.places import Places
from jobs.core.port import Committed
from jobs.core.records import Instance, Job
from jobs.core.starting import Starts
from jobs.core.states import LIVE, TERMINAL, WAITING, Status
from jobs.core.waiting import Waiting


class Engine:
    """One node's engine. Not thread-safe: its thread owns it.

    `new_token` gives an attempt's token, `uniform(a, b)` a random number: arguments, so that a test or a simulation can
    repeat a pass exactly. `patience`: how long smaller ones may overtake a big one. `node`: its name.
    """

    def __init__(
        self,
        manager: CoreManager,
        *,
        order: Order,
        new_token: Callable[[], str],
        uniform: Callable[[float, float], float],
        patience: timedelta = PATIENCE,
        node: str = "",
    ) -> None:
        self.manager = manager
        self.known = KnownInstances()
        self.graph = Graph()
        self.limits = Limits()
        self.places = Places(order, self.known)
        self.waiting = Waiting(self.known, self.graph, self.limits, self.places)
        self.schedules = Schedules(self.known, Births(self.known, self.graph, self.places))
        self.starts = Starts(manager, self.known, self.waiting, self.limits, self.places, new_token, patience, node)
        self.jobs = Definitions(self.known, self.graph, self.limits, self.waiting, self.starts, self.schedules)
        self._endings = Endings(self.known, uniform)

    # --- what the service calls ---

    def step(self, now: datetime, inputs: Iterable[Input], load: Mapping[int, float] = NO_LOAD) -> Plan:
        """Take in what happened and decide. `load`: busy share of each core, to choose the idlest."""
        decisions: list[Decision] = []
        for told in inputs:
            decisions.extend(self._take(told, now))
        fired = self._fire(now)
        dismissed = [*self.waiting.dismiss_late(now), *self.waiting.dismiss_impossible(), *self.waiting.judge()]
        queued = self.waiting.queue_due(now)
        # What waited for one that can never run ends with it.
        if queued:
            dismissed += [*(one for one in queued if isinstance(one, Dismiss)), *self.waiting.judge()]
        decisions.extend(fired)
        if dismissed:
            decisions.extend(self._dismissed(dismissed, fired, now))
        decisions.extend(one for one in queued if not isinstance(one, Dismiss))
        decisions.extend(self.starts.admit(now, load))
        return Plan(tuple(without_superseded(decisions)), self.wake_at(), self.starts.take_preparations())

    def _dismissed(self, dismissed: Sequence[Dismiss], fired: Sequence[Decision], now: datetime) -> Iterable[Decision]:
        """What ended in this pass without a run, and what follows from that."""
        for one in dismissed:
            self.starts.forget(one.instance_id)
            yield from self._endings.dismissed(one)
        born = {one.job_id for one in fired if isinstance(one, Fire) and one.births}  # they tell by their own end
        for job_id in dict.fromkeys(one.job_id for one in dismissed if one.job_id not in born):
            yield from self.schedules.ended(job_id, now)

    def wake_at(self) -> datetime | None:
        """When to step next if nothing happens before; None: only when something does."""
        moments = (self.schedules.next_moment(), self.waiting.next_moment(), self.starts.look_again_at)
        return min(filter(None, moments), default=None)

    def adopt(self, job: Job, instance: Instance, run: Run) -> None:
        """Before the first pass: an attempt from before a restart that is still this node's to look after."""
        self.jobs.put(job)
        self.known.put(instance)
        self.known.runs(instance.id, run)
        self.manager.restore(instance.id, run.allocation)
        self.limits.hold(instance.id, job.limits)
        self.places.started(instance)

    def forget_idle_jobs(self) -> None:
        """Give back the memory of jobs that nothing is to be decided of. Only for who tells a job again, each time,
        before an instance or a schedule of it.
        """
        self.jobs.forget_idle()

    def settle(self, committed: Committed) -> list[Input]:
        """After a commit: what to tell the next step. Where somebody else was first: forget, and give cores back.

        The caller adds how the refused ones are now in the store.
        """
        self.places.settle(committed)
        for instance_id in committed.refused_instances:
            self._forget(instance_id)
        for schedule_id in committed.refused_schedules:
            self.schedules.remove(schedule_id)
        return [InstanceSeen(instance) for instance in committed.born]

    # --- facts ---

    def _take(self, told: Input, now: datetime) -> Sequence[Decision]:
        match told:
            case Ended():
                return self._ended(told, now)
            case Began():
                return self._began(told)
            case Abandoned():
                return self._abandoned(told)
            case AbandonedElsewhere(instances):
                return self._abandoned_elsewhere(instances, now)
            case CancelAsked(instance_id, code, reason):
                return self._withdraw(instance_id, code, reason, now)
            case InstanceSeen(instance):
                return self._seen(instance, now)
            case InstanceGone(instance_id):
                return self._instance_gone(instance_id)
            case JobChanged(job):
                return self.jobs.change(job)
            case ScheduleChanged():
                return self.schedules.put(told, now)
            case _:
                self._take_quietly(told)
                return ()

    def _take_quietly(self, told: JobGone | ScheduleGone | AdmissionChanged | LimitsChanged | Prepared) -> None:
        """Facts that nothing is decided by at once."""
        match told:
            case JobGone(job_id):
                self.jobs.drop(job_id, self._forget)
            case ScheduleGone(job_id):
                self.schedules.remove_job(job_id)
            case AdmissionChanged(stopped):
                self.starts.stopped = stopped
            case Prepared(key):
                self.starts.preparations.settle(key)
            case LimitsChanged(maxima, rates):
                self.limits.set(maxima, rates)
                self.waiting.needs_changed()
                self.waiting.put_again(self.known.all_queued())

    def _began(self, told: Began) -> Sequence[Decision]:
        if (run := self.known.run_of(told.instance_id, told.token)) is None:
            return ()
        job_id = self.known.instances[told.instance_id].job_id
        return [Begin(told.instance_id, job_id, told.token, run.attempt, told.at)]

    def _ended(self, told: Ended, now: datetime) -> Sequence[Decision]:
        if (run := self.known.run_of(told.instance_id, told.token)) is None:
            return ()
        instance = self.known.instances[told.instance_id]
        if run.abandoned:
            self._forget(instance.id)
            return self.schedules.ended(instance.job_id, min(told.outcome.ended_at, now))
        self.manager.release(instance.id)
        self.limits.release(instance.id)
        self.known.stopped(instance.id)
        finish, *pauses = self._endings.of(instance, run, told.outcome, now)
        if finish.status in LIVE:
            self.waiting.put(self.known.instances[instance.id])
            return [finish]
        if instance.job_id in self.graph:
            self.waiting.noted(replace(instance, status=finish.status))
        # By a clock that was set back since, it ends in the future: nothing is to be counted from there.
        return [finish, *pauses, *self.schedules.ended(instance.job_id, min(told.outcome.ended_at, now))]

    def _abandoned(self, told: Abandoned) -> Sequence[Decision]:
        run = self.known.run_of(told.instance_id, told.token)
        if run is None or run.abandoned:
            return ()
        instance = self.known.instances[told.instance_id]
        finish, *pauses = self._endings.abandon(instance, run, told.outcome)
        self.waiting.noted(replace(instance, status=finish.status))
        return [finish, *pauses]

    def _abandoned_elsewhere(self, instances: Sequence[Instance], now: datetime) -> Sequence[Decision]:
        """Those that are known here end, to be kept, when that is seen."""
        self.known.abandoned_elsewhere = {instance.id for instance in instances}
        for instance in instances:
            if instance.status in TERMINAL and instance.id not in self.known.instances:
                self._outlived(instance)
        decisions: list[Decision] = []
        for instance_id in sorted(self.known.outlived - self.known.abandoned_elsewhere):
            job_id = self.known.instances[instance_id].job_id
            self._forget(instance_id)
            decisions.extend(self.schedules.ended(job_id, now))
        return decisions

    def _outlived(self, instance: Instance) -> None:
        self.known.outlive(instance)
        self.limits.hold(instance.id, self.known.job(instance.job_id).limits)

    def _seen(self, instance: Instance, now: datetime) -> Sequence[Decision]:
        if instance.id in self.known.outlived:
            self.waiting.noted(instance)  # for who has come since to wait for it
            return ()
        run = self.known.running.get(instance.id)
        if run is not None:
            self.waiting.noted(instance)
            return self._seen_while_running(instance, run)
        before = self.known.instances.get(instance.id)
        if before is not None:
            self._forget(instance.id)
        self.known.put(instance)
        if instance.status in WAITING:
            self.waiting.put(instance)
        elif instance.status is Status.RUNNING:
            self.limits.hold(instance.id, self.known.job(instance.job_id).limits)
            self.places.started(instance)
        elif before is not None or instance.job_id not in self.graph:  # a workflow's are read again for what is below
            self.places.left(instance)
        if before is not None and before.status is Status.RUNNING:
            self._endings.note(instance)
        self.waiting.noted(instance)
        if instance.status not in TERMINAL:
            return ()
        if instance.id in self.known.abandoned_elsewhere:
            self._outlived(instance)
            return ()
        return self.schedules.ended(instance.job_id, now)

    def _seen_while_running(self, instance: Instance, run: Run) -> Sequence[Decision]:
        """Whatever became of its row, the process is this node's until it has ended, and so are its cores."""
        if run.abandoned or (instance.status is Status.RUNNING and not instance.cancel_requested):
            return ()
        if instance.status is Status.RUNNING:
            self.known.put(instance)
        return [Stop(instance.id, run.attempt, run.token)]

    def _instance_gone(self, instance_id: int) -> Sequence[Decision]:
        """Its row was deleted. A process without an owner must not stay: its cores come back when it has ended."""
        run = self.known.running.get(instance_id)
        if run is not None:
            return [Stop(instance_id, run.attempt, run.token)]
        if instance_id in self.known.instances:
            self.places.left(self.known.instances[instance_id])
        self._forget(instance_id)
        return ()

    def _forget(self, instance_id: int) -> None:
        instance = self.known.instances.get(instance_id)
        if instance is not None:
            self.waiting.forget(instance)
        self.starts.forget(instance_id)
        self.manager.release(instance_id)
        self.limits.release(instance_id)
        self.known.forget(instance_id)

    # --- time ---

    def _fire(self, now: datetime) -> Sequence[Decision]:
        fired = self.schedules.fire(now)
        decisions: list[Decision] = [*self.schedules.take_flags()]
        for one in fired:
            decisions.append(one.fire)
            for instance_id in one.replaced:
                decisions.extend(self._withdraw(instance_id, "replaced", REPLACED, now))
        return decisions

    def _withdraw(self, instance_id: int, code: str, reason: str, now: datetime) -> Sequence[Decision]:
        """An instance is cancelled: because a newer one of its job is to run instead, or because it is wished."""
        instance = self.known.instances.get(instance_id)
        run = self.known.running.get(instance_id)
        if instance is None or instance.cancel_requested or (run is not None and run.abandoned):
            return ()
        if instance_id in self.known.outlived:
            return ()
        if instance.status in WAITING:
            dismiss = Dismiss(instance.id, instance.job_id, instance.status, Status.CANCELLED, code, reason)
            self.starts.forget(instance_id)
            self.waiting.dismiss(dismiss)
            return [dismiss] if code == "replaced" else [dismiss, *self.schedules.ended(instance.job_id, now)]
        self.known.wish_cancel(instance_id)
        stops = [Stop(instance_id, run.attempt, run.token)] if run is not None else []
        return [Withdraw(instance.id, instance.job_id, reason), *stops]
