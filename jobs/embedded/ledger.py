"""What has become of every job: the only place in which a status changes, and how many that ended are remembered."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import chain, count
from typing import Any

from jobs.core.decisions import (
    Birth,
    Decision,
    Dismiss,
    Finish,
    Fire,
    Flag,
    Queue,
    Rearm,
    Start,
    Wait,
    Withdraw,
)
from jobs.core.records import Instance
from jobs.core.states import TERMINAL, Status, check_move
from jobs.embedded.errors import UnknownJobError
from jobs.embedded.handles import Event, Handle, Series

FAILURES = frozenset({Status.FAILED, Status.TIMEOUT})


class Ledger:
    """Live handles, the last `history` that ended, and the series. `tell` hears of every move."""

    def __init__(self, history: int, tell: Callable[[Event], None]) -> None:
        self.live: dict[int, Handle] = {}
        self.series: dict[int, Series] = {}
        self.totals: Counter[Status] = Counter()
        self._ended: OrderedDict[int, Handle] = OrderedDict()
        self._history = history
        self._tell = tell
        self._ids = count(1)

    def next_id(self) -> int:
        """Of a job or a series: no two are the same."""
        return next(self._ids)

    def get(self, job_id: int) -> Handle:
        handle = self.find(job_id) if isinstance(job_id, int) else None
        if handle is None:
            raise UnknownJobError(job_id, self._history)
        return handle

    def series_of(self, series_id: int) -> Series:
        series = self.series.get(series_id) if isinstance(series_id, int) else None
        if series is None:
            raise UnknownJobError(series_id, self._history)
        return series

    def find(self, job_id: int) -> Handle | None:
        return self.live.get(job_id) or self._ended.get(job_id)

    def all(self) -> Iterator[Handle]:
        """Those that ended first, in the order in which they did; then the live ones, as they came."""
        return chain(self._ended.values(), self.live.values())

    def enter(self, handle: Handle, at: datetime) -> None:
        self.live[handle.id] = handle
        self._tell(Event(handle, None, handle.status, at))

    def apply(self, decision: Decision, now: datetime) -> list[Instance]:
        """What the engine decided; returns the instances that it made."""
        match decision:
            case Queue(instance_id):
                self.move(instance_id, Status.QUEUED, now, queued_at=decision.queued_at, order_key=decision.order_key)
            case Start(instance_id):
                self.move(instance_id, Status.RUNNING, now, attempts=decision.attempt, retry_at=None)
            case Finish(instance_id):
                handle = self.get(instance_id)
                handle.error = decision.outcome.error
                self.move(instance_id, decision.status, now, retry_at=decision.retry_at)
            case Dismiss(instance_id):
                self.move(instance_id, decision.status, now, decision.reason, blame=decision.blame)
            case Withdraw(instance_id):
                self._wish_cancel(instance_id, decision.reason)
            case Wait(instance_id):
                self.get(instance_id).hold = decision.hold
            case Fire():
                return self._fire(decision, now)
            case Rearm(schedule_id):
                self.series[schedule_id].next_at = decision.next_at
            case Flag(schedule_id):
                series = self.series[schedule_id]
                series.fault, series.active, series.next_at = decision.fault, False, None
        return []

    def _fire(self, fire: Fire, now: datetime) -> list[Instance]:
        series = self.series[fire.schedule_id]
        series.missed += fire.missed
        series.next_at = fire.next_at
        for skip in fire.skips:
            series.skipped += skip.count
            series.last_skip = skip
        return [self._bear(series, birth, now) for birth in fire.births]

    def _bear(self, series: Series, birth: Birth, at: datetime) -> Instance:
        """A fire of a series made a run."""
        instance = Instance(
            self.next_id(),
            birth.job_id,
            birth.status,
            birth.logical_at,
            birth.due_at,
            schedule_id=series.id,
            queued_at=birth.queued_at,
            order_key=birth.order_key,
            serial=birth.serial,
        )
        handle = Handle(instance, series.job, series.payload, self, series)
        series.last = handle
        series.fired += 1
        series.unfinished += 1
        self.enter(handle, at)
        return instance

    def move(self, job_id: int, status: Status, at: datetime, reason: str = "", **changes: Any) -> Handle:
        """Its next status, if that move is legal; else InvalidTransitionError, and nothing has changed."""
        handle = self.get(job_id)
        before = handle.status
        check_move(before, status)
        handle.instance = replace(handle.instance, status=status, **changes)
        if status is Status.RUNNING:
            handle.started_at, handle.hold, handle.value, handle.exception = at, None, None, None
        elif status in TERMINAL:
            self._close(handle, at, reason)
        self._tell(Event(handle, before, status, at, handle.attempts, reason))
        return handle

    def _wish_cancel(self, job_id: int, reason: str) -> None:
        """It runs, and has been asked to end."""
        handle = self.get(job_id)
        handle.instance = replace(handle.instance, cancel_requested=True)
        handle.reason = reason

    def _close(self, handle: Handle, at: datetime, reason: str) -> None:
        handle.ended_at, handle.hold, handle.payload = at, None, None
        handle.reason = reason or handle.reason
        self.totals[handle.status] += 1
        if handle.series is not None:
            handle.series.unfinished -= 1
            handle.series.failed += handle.status in FAILURES
        self._ended[handle.id] = self.live.pop(handle.id)
        while len(self._ended) > self._history:
            self._ended.popitem(last=False)
