"""The engine at work: tells it what happens, and does what it decides, on the watcher's thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from itertools import count

from jobs.core.cores import CoreManager
from jobs.core.decisions import Decision, Dismiss, Finish, Fire, Start, Stop
from jobs.core.engine import Engine
from jobs.core.inputs import Abandoned, Ended, Input, JobGone
from jobs.core.order import Order
from jobs.core.port import Committed
from jobs.core.records import Instance, Outcome
from jobs.core.states import OutcomeKind
from jobs.core.timetable import Timetable
from jobs.embedded.attempts import Attempt, Executor, Report, sentence
from jobs.embedded.clock import Clock
from jobs.embedded.handles import Handle
from jobs.embedded.ledger import Ledger
from jobs.embedded.listeners import Listeners
from jobs.embedded.watcher import Watcher


class Driver(Watcher):
    """One engine, its clock and its watcher."""

    def __init__(
        self,
        *,
        clock: Clock,
        order: Order,
        uniform: Callable[[float, float], float],
        history: int,
        executor: Callable[[str], Executor],
    ) -> None:
        super().__init__(clock)
        tokens = count(1)
        # Jobs here demand no cores; limits bound them.
        self.engine = Engine(
            CoreManager([0], overcommit=1.0), order=order, new_token=lambda: str(next(tokens)), uniform=uniform
        )
        self.listeners = Listeners(lambda: self.post(lambda: None))
        self.ledger = Ledger(history, self.listeners.put)
        self.attempts: dict[int, Attempt] = {}
        self.peak_running = 0
        self.draining = False
        self._executor = executor
        self._time_limits: Timetable[int] = Timetable()
        self._following: list[Input] = []
        self._settled: list[int] = []

    def settled(self) -> bool:
        """A condition: nothing runs (abandoned threads apart), is due, or is still to be done or told."""
        runs = any(not attempt.abandoned for attempt in self.attempts.values())
        return not runs and not self._due() and self._inbox.empty() and self.listeners.idle

    def next_moment(self) -> datetime | None:
        moments = (self.engine.wake_at(), self._time_limits.next_moment())
        return min((moment for moment in moments if moment is not None), default=None)

    # --- a pass ---

    def tell(self, *inputs: Input) -> None:
        if self.fault:
            return
        try:
            self._pass(inputs)
        except Exception as error:
            # Half a pass is done: whatever it would be right to do now, going on as if nothing were is not.
            self.fault = sentence(error)
            raise

    def _pass(self, inputs: Iterable[Input]) -> None:
        now = self.clock.now()
        told = [*inputs, *self._overdue(now)]
        while True:
            born = [one for decision in self.engine.step(now, told).decisions for one in self._apply(decision, now)]
            self.peak_running = max(self.peak_running, len(self.engine.known.running))
            told = [*self.engine.settle(Committed(born=tuple(born))), *self._take_following(), *self._gone()]
            if not told:
                return

    def _apply(self, decision: Decision, now: datetime) -> list[Instance]:
        """Do what was decided; returns the instances that it made."""
        born = self.ledger.apply(decision, now)
        match decision:
            case Stop(instance_id):
                self.end(self.attempts[instance_id], OutcomeKind.CANCELLED)
            case Start(instance_id, token=token):
                self._start(self.ledger.get(instance_id), token, now)
            case Finish(instance_id, job_id):
                self._time_limits.cancel(instance_id)
                self._settled.append(job_id)
            case Dismiss(_, job_id):
                self._settled.append(job_id)
            case Fire(schedule_id) if schedule_id not in self.engine.schedules:
                self.ledger.series[schedule_id].active = False
                self._settled.append(schedule_id)
        return born

    def _start(self, handle: Handle, token: str, now: datetime) -> None:
        attempt = Attempt(handle, token)
        self.attempts[handle.id] = attempt
        if handle.job.timeout_seconds is not None:
            self._time_limits.set(handle.id, now + timedelta(seconds=handle.job.timeout_seconds))
        self._outbox.append(lambda: self._begin(attempt))

    def _begin(self, attempt: Attempt) -> None:
        if attempt.ending is not None:  # asked to end before it began, and so over
            return
        attempt.begun = True
        try:
            self._executor(attempt.handle.job.model).start(attempt, self._report)
        except Exception as error:  # noqa: BLE001 - no thread, no process, no loop: the outcome of that job
            self._report(attempt, Report(OutcomeKind.REJECTED, error=f"could not be started: {sentence(error)}"))

    def _report(self, attempt: Attempt, report: Report) -> None:
        """An attempt is over: from whatever thread that is noticed on."""
        self.post(lambda: self.tell(self._closed(attempt, report)))

    def _overdue(self, now: datetime) -> list[Input]:
        """Time limits that have come."""
        for instance_id in list(self._time_limits.take_due(now)):
            self.end(self.attempts[instance_id], OutcomeKind.TIMEOUT)
        return self._take_following()

    def end(self, attempt: Attempt, kind: OutcomeKind) -> None:
        """Ask it to end as `kind`. One that cannot be ended is abandoned, as part of the pass that goes on."""
        if attempt.ending is not None:
            return
        attempt.ending = kind
        if not attempt.begun:
            self._following.append(self._closed(attempt, Report(kind)))
            return
        self._outbox.append(lambda: self._ask_to_end(attempt))
        if not attempt.handle.job.can_be_ended:
            self.abandon(attempt)

    def _ask_to_end(self, attempt: Attempt) -> None:
        attempt.cancellation.cancel()
        try:
            self._executor(attempt.handle.job.model).end(attempt)
        except RuntimeError as error:  # its loop is closed: nobody will ever report how it ended
            self._report(attempt, Report(OutcomeKind.LOST, error=sentence(error)))

    def abandon(self, attempt: Attempt) -> None:
        """Its job has ended, whatever it still does; told with the next pass, or as part of the one that goes on."""
        attempt.abandoned = attempt.handle.abandoned = True
        outcome = Outcome(attempt.ending or OutcomeKind.CANCELLED, self.clock.now(), error=_abandoned(attempt))
        self._following.append(Abandoned(attempt.handle.id, attempt.token, outcome))

    def _closed(self, attempt: Attempt, report: Report) -> Ended:
        """The attempt is over; what its report says counts only if it was not asked to end before."""
        handle, now, error = attempt.handle, self.clock.now(), report.error
        if attempt.ending is None:
            handle.value, handle.exception = report.value, report.exception
        else:
            error = _why_ended(attempt)
        del self.attempts[handle.id]
        self._time_limits.cancel(handle.id)
        self._settled.append(handle.instance.job_id)
        seconds = (now - handle.started_at).total_seconds() if handle.started_at else None
        kind, final = attempt.ending or report.kind, report.final or self.draining
        outcome = Outcome(kind, now, handle.started_at, error=error, duration_seconds=seconds, final=final)
        return Ended(handle.id, attempt.token, outcome)

    def _take_following(self) -> list[Input]:
        following, self._following = self._following, []
        return following

    # --- what is over ---

    def over(self, series_id: int) -> None:
        """It makes no more runs: to be forgotten with the last of those it has made."""
        self._settled.append(series_id)

    def _gone(self) -> list[Input]:
        """Jobs that are over and that nobody waits for any more: the engine may forget them."""
        gone = [job_id for job_id in dict.fromkeys(self._settled) if self._is_over(job_id)]
        self._settled = [upstream for job_id in gone for upstream in self.engine.graph.upstreams(job_id)]
        for job_id in gone:
            self.ledger.series.pop(job_id, None)
        return [JobGone(job_id) for job_id in gone]

    def _is_over(self, job_id: int) -> bool:
        engine = self.engine
        series = self.ledger.series.get(job_id)
        if engine.known.find_job(job_id) is None:
            return False
        if series is not None and (series.active or series.unfinished):  # what it has just made may not be told yet
            return False
        return not engine.known.has_instances(job_id) and not engine.graph.dependents(job_id)


def _why_ended(attempt: Attempt) -> str:
    if attempt.ending is OutcomeKind.TIMEOUT:
        return f"took longer than its {attempt.handle.job.timeout_seconds:g} s"
    return attempt.handle.reason


def _abandoned(attempt: Attempt) -> str:
    why = _why_ended(attempt)
    return f"{why}; it could not be ended and runs on" if why else "it could not be ended and runs on"
