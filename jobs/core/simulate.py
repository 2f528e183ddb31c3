"""The engine under a hand-moved clock: what will fire, start, wait and end, if every run succeeds and takes its time.

The same engine as in the service decides; only the clock, the ends and the store (`jobs.core.ledger`) are made up.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count

from jobs.core.course import Course, Recorder
from jobs.core.decisions import Decision, Dismiss, Fire, Queue, Skip, Start, Stop, Wait
from jobs.core.engine import Engine
from jobs.core.inputs import Ended, Input, InstanceSeen, JobChanged
from jobs.core.known import Run
from jobs.core.ledger import Ledger
from jobs.core.order import make_order
from jobs.core.prediction import expected_end
from jobs.core.present import Durations, Pool, Present
from jobs.core.records import Instance, Outcome
from jobs.core.states import OutcomeKind, Status
from jobs.core.values import made_often

MayGoOn = Callable[[], bool]

_TAKEN = "this date has an instance already, or as many of the job as may be have not ended"


@made_often
@dataclass(frozen=True, slots=True)
class _End:
    """An attempt of the engine's own ends, or (without a token) one that runs elsewhere."""

    instance: Instance
    token: str
    began: datetime


def always() -> bool:
    """As long as it takes."""
    return True


def simulate(
    present: Present, *, days: float, durations: Durations | None = None, may_go_on: MayGoOn = always
) -> Course:
    """What happens in the next `days`, or up to the moment (`reached`) at which `may_go_on` says no."""
    simulation = Simulation(present, present.now + timedelta(days=days), durations or Durations())
    return simulation.course(run_together([simulation], may_go_on))


def run_together(simulations: Sequence[Simulation], may_go_on: MayGoOn) -> datetime:
    """Moves the one that is behind, so that all have seen the same time wherever it stops; returns up to when.

    `may_go_on` is asked before each moment at which something happens. Nothing from the returned one on has happened.
    """
    while True:
        moment = min(one.now for one in simulations)
        behind = [one for one in simulations if one.now == moment and not one.finished]
        if not behind or not may_go_on():
            return moment
        for one in behind:
            while one.now == moment and not one.finished:
                one.advance()


class Simulation:
    """One run from a present to `until`. `now`: everything before it has happened, and something is due then."""

    def __init__(self, present: Present, until: datetime, durations: Durations) -> None:
        self.present = present
        self.until = until
        self.now = present.now
        self.finished = False
        self.pool = Pool(present.machines)
        self._durations = durations
        self._seconds = {job.id: durations.of(job)[0] for job in present.jobs}
        live = [*present.waiting, *(one.instance for one in present.running)]
        self._ledger = Ledger([*live, *present.ended], present.last_instance_id)
        self._ends: list[tuple[datetime, int, _End]] = []
        self._sequence = count()
        self._recorder = Recorder(present, until, self.pool, durations)
        self._engine = self._make_engine()
        self._told: list[Input] | None = self._beginning()

    def advance(self) -> None:
        """One pass at `now`, and on to the next moment."""
        inputs: Sequence[Input] = self._told if self._told is not None else self._due_ends()
        self._told = None
        moment = self._pass(inputs)
        if self._ends and (moment is None or self._ends[0][0] < moment):
            moment = self._ends[0][0]
        if moment is None or moment > self.until:
            self.now, self.finished = self.until, True
        else:
            self.now = max(moment, self.now)

    def course(self, reached: datetime) -> Course:
        return self._recorder.course(reached, self._engine.known)

    # --- before the first step ---

    def _make_engine(self) -> Engine:
        numbers = count(1)
        return Engine(
            self.pool,
            order=make_order(self.present.order, self.present.weights),
            new_token=lambda: str(next(numbers)),
            uniform=lambda low, high: (low + high) / 2,
        )

    def _beginning(self) -> list[Input]:
        # How long an environment takes to be made nobody knows; most are there.
        jobs = {job.id: replace(job, environment="") for job in self.present.jobs}
        present, engine = self.present, self._engine
        counted = [one for one in present.running if one.counted]
        allocations = self.pool.restore_all(counted)
        engine.step(self.now, [present.limits, *map(JobChanged, jobs.values())])
        for one in present.running:
            job, token = jobs[one.instance.job_id], ""
            if one.counted:
                token = f"present-{one.instance.id}"
                run = Run(token, one.instance.attempts, allocations[one.instance.id], one.since)
                engine.adopt(job, one.instance, run)
            ends_at = expected_end(one.since, self._seconds[job.id], self.now) or self.now
            self._ends_at(ends_at, _End(one.instance, token, one.since))
        elsewhere = [one.instance for one in present.running if not one.counted]
        seen = [InstanceSeen(instance) for instance in (*present.ended, *elsewhere, *present.waiting)]
        return [*seen, *present.schedules]

    # --- the loop ---

    def _pass(self, inputs: Iterable[Input]) -> datetime | None:
        """Step, write, and step again for what was born: as the service does. Returns when to wake."""
        engine = self._engine
        while True:
            plan = engine.step(self.now, inputs)
            if not plan.decisions:
                break
            written = self._ledger.commit(plan.decisions)
            for decision in plan.decisions:
                self._follow(decision)
            for fire in written.refused:
                self._recorder.skipped(fire.job_id, Skip("overlap", _TAKEN, fire.logical_at))
            if not written.born:
                break
            inputs = [InstanceSeen(instance) for instance in written.born]
        self._recorder.used(self.pool.slots - self.pool.free_slots, self.now)
        return plan.wake_at

    def _follow(self, decision: Decision) -> None:
        """Note it, and let the world do what follows from it."""
        recorder, now = self._recorder, self.now
        match decision:
            case Start():
                instance = self._engine.known.instances[decision.instance_id]
                seconds = self._seconds[decision.job_id]
                recorder.started(instance, decision.allocation, now)
                self._ends_at(now + timedelta(seconds=seconds), _End(instance, decision.token, now))
            case Fire():
                recorder.fired(decision, now)
            case Queue():
                recorder.queued(decision.instance_id, decision.job_id, now)
            case Wait():
                recorder.held(decision.instance_id, decision.hold.code)
            case Dismiss():
                recorder.dismissed(decision, now)
            case Stop():
                self._stop(decision)

    def _stop(self, stop: Stop) -> None:
        """One that is replaced ends at once: how long it takes to stop, nobody knows."""
        run = self._engine.known.running.get(stop.instance_id)
        if run is not None and run.token == stop.token:
            instance = self._engine.known.instances[stop.instance_id]
            self._ends_at(self.now, _End(replace(instance, cancel_requested=True), stop.token, run.since))

    def _ends_at(self, moment: datetime, end: _End) -> None:
        heapq.heappush(self._ends, (moment, next(self._sequence), end))

    def _due_ends(self) -> list[Input]:
        ends, now = self._ends, self.now
        told: list[Input] = []
        while ends and ends[0][0] <= now:
            end = heapq.heappop(ends)[2]
            instance = end.instance
            if not end.token:
                told.append(InstanceSeen(replace(instance, status=Status.SUCCESS)))
                continue
            run = self._engine.known.running.get(instance.id)
            if run is None or run.token != end.token:
                continue  # it was replaced, and has ended already
            kind = OutcomeKind.CANCELLED if instance.cancel_requested else OutcomeKind.SUCCESS
            seconds = (now - end.began).total_seconds()
            told.append(Ended(instance.id, end.token, Outcome(kind, now, end.began, duration_seconds=seconds)))
            self._recorder.ended(instance, now, kind)
        return told
