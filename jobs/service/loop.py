"""The engine's thread: wait, take, pass, act."""

from __future__ import annotations

import logging
import random
import threading
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from jobs import models
from jobs.core.cores import CoreManager
from jobs.core.engine import Engine
from jobs.core.inputs import Abandoned, AdmissionChanged, Began, Ended, Input
from jobs.core.records import Outcome
from jobs.execution.environments import Environments
from jobs.execution.launch import AttemptRef, Launch
from jobs.execution.local import LocalExecutor
from jobs.service import registration
from jobs.service.backfills import Backfills
from jobs.service.capacity import Capacity
from jobs.service.clock import NO_CHANGE, Clocks, ClockWatch, utc_now
from jobs.service.disk import DiskGuard
from jobs.service.every import Every
from jobs.service.follow import Follower
from jobs.service.gate import Gate
from jobs.service.launching import launches
from jobs.service.mailbox import Mailbox
from jobs.service.notices import Notices
from jobs.service.passes import Passed, run_pass
from jobs.service.preparing import Preparing
from jobs.service.recovery import ask_again, recover
from jobs.service.retiming import mend
from jobs.sqlite.lock import mark_engine_thread
from jobs.store.orm import OrmStore
from jobs.store.shares import order_with_places

__all__ = ["EngineLoop", "utc_now"]

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 10.0
ASK_AGAIN_SECONDS = 60.0  # for attempts of which cannot be seen what became of them
FORGET_SECONDS = 60.0
LOOK_SECONDS = 1.0
REST_AFTER_FAULT_SECONDS = 1.0


class EngineLoop(threading.Thread):
    """Owns the engine and its database connection. Whatever goes wrong in a pass, it starts afresh from the store."""

    def __init__(
        self,
        node: models.Node,
        capacity: Capacity,
        executor: LocalExecutor,
        mailbox: Mailbox,
        notices: Notices,
        environments: Environments,
        *,
        load: Callable[[], dict[int, float]],
        on_beat: Callable[[], None],
        on_end: Callable[[], None] = lambda: None,
        clocks: Clocks = Clocks(),  # noqa: B008 - a frozen value
    ) -> None:
        super().__init__(name="engine", daemon=True)
        self._node = node
        self._capacity = capacity
        self._executor = executor
        self._mailbox = mailbox
        self._notices = notices
        self._preparing = Preparing(environments, mailbox, executor.launch)
        self._load = load
        self._clocks = clocks
        self._clock_watch = ClockWatch(clocks.read())
        self._clock_change = NO_CHANGE
        self._on_beat = on_beat
        self._on_end = on_end
        self._store = OrmStore(node.pk, node.name)
        self._backfills = Backfills(self._store.actor)
        self._gate = Gate(node, DiskGuard(settings.DATA_DIR, settings.MIN_FREE_DISK_MB))
        self._stopping = threading.Event()
        self._executor_answered = threading.Event()
        self._executor_answered.set()
        self._kept_for: int | None = None
        self._unsettled: dict[str, Outcome] = {}
        self._in_hand: set[str] = set()
        self._abandoned: set[str] = set()
        self._abandoned_told: set[str] = set()
        self._busy: dict[int, float] = {}
        self._engine: Engine
        self._is_built = False
        self._follower: Follower
        self._look = Every(LOOK_SECONDS)
        self._heartbeat = Every(HEARTBEAT_SECONDS)
        self._forget = Every(FORGET_SECONDS)
        self._unseen: dict[str, str] = {}
        self._ask_again = Every(ASK_AGAIN_SECONDS)
        self._wake_at: datetime | None = None

    def stop(self) -> None:
        """Start nothing more, make what has come durable, and end the thread. Scripts go on."""
        self._stopping.set()
        self._mailbox.poke()

    def is_current_thread(self) -> bool:
        return threading.current_thread() is self

    def run(self) -> None:
        mark_engine_thread()
        while not self._stopping.is_set():
            try:
                self._rebuild()
                while not self._stopping.is_set():
                    self._turn()
            except (DatabaseError, InterfaceError) as error:
                log.error("the database refused the engine (%s); starting afresh from it", str(error).strip())
            except Exception:
                log.exception("the engine failed; starting afresh from the database")
            if not self._stopping.is_set():
                connection.close()
                self._stopping.wait(REST_AFTER_FAULT_SECONDS)
        self._last_pass()
        connection.close()

    # --- one turn ---

    def _turn(self) -> None:
        self._mailbox.wait(self._deadline())
        if self._clock_was_changed():
            self._rebuild()
            self._heartbeat.at_once()  # the last one bears a moment of the clock as it was
        inputs, poked = self._mailbox.take()
        self._remember(inputs)
        now = self._clocks.wall()
        if looks := self._look.is_due():
            self._busy = self._load()  # over less than about a second such a figure means nothing
        seen = self._follower.look(now, poked=poked) if looks or poked else []
        # Before the ends: a row that was read as running must not come after the end of its attempt.
        inputs = [*seen, *self._follower.beyond_horizon(self._engine, now), *inputs]
        if self._follower.take_node_changed() and self._gate.look_at_wish():
            inputs.append(AdmissionChanged(self._gate.stopped))
        ended = self._pass(now, inputs)
        if asked := self._follower.take_backfill_made():
            self._backfills.told()
        if (looks or ended or asked) and self._backfills.advance(now):
            self._mailbox.poke()  # our own commit tells nobody
        if self._follower.behind or self._follower.horizon.queue.is_short(self._engine):
            self._mailbox.poke()
        if self._heartbeat.is_due():  # last, because its write would make late what is due now
            self._beat(now)

    def _pass(self, now: datetime, inputs: list[Input]) -> bool:
        """Whether anything ended."""
        # Before its end is written: other nodes would take that for the end of its thread.
        if self._abandoned != self._abandoned_told:
            registration.tell_abandoned(self._node, self._abandoned, now)
            self._abandoned_told = set(self._abandoned)
        passed = run_pass(self._engine, self._store, now, inputs, self._busy)
        self._wake_at = passed.wake_at
        if self._engine.starts.kept_for != self._kept_for:
            registration.keep_cores(self._node, self._engine.starts.kept_for, now)
            self._kept_for = self._engine.starts.kept_for
        self._follower.look_again(passed.refused_instances, passed.refused_schedules)
        self._act(passed)
        return passed.ended

    def _act(self, passed: Passed) -> None:
        """Everything here rests on rows that are committed."""
        self._launch(passed.launches)
        self._preparing.see_to(passed.preparations)
        for stop in passed.stops:
            ref = AttemptRef(stop.instance_id, stop.attempt, stop.token)
            if not self._preparing.cancel(ref):
                self._executor.cancel(ref)
        for finish in passed.finishes:
            self._unsettled.pop(finish.token, None)
            self._in_hand.discard(finish.token)
            self._preparing.ended(finish.token)
            self._executor.forget(AttemptRef(finish.instance_id, finish.attempt, finish.token))
            if finish.instance_id not in passed.refused_instances:
                self._notices.consider(finish)
        for dismiss in passed.dismissed:
            self._notices.consider(dismiss)
        if passed.finishes:
            self._on_end()

    def _launch(self, wanted: list[Launch]) -> None:
        for launch in wanted:
            self._in_hand.add(launch.token)
            self._preparing.launch(launch)

    def _deadline(self) -> float:
        """When to wake by `time.monotonic()` if nothing comes. Never before the wall-clock moment waited for."""
        deadline = min(self._look.next_at, self._heartbeat.next_at)
        if self._wake_at is not None:
            deadline = min(deadline, time.monotonic() + (self._wake_at - self._clocks.wall()).total_seconds())
        return deadline

    def _clock_was_changed(self) -> bool:
        """Since the last turn, or before it without having been mended: the database may have been away."""
        self._clock_change = self._clock_change.and_then(self._clock_watch.look(self._clocks.read()))
        return bool(self._clock_change)

    def _remember(self, inputs: list[Input]) -> None:
        for told in inputs:
            if isinstance(told, Abandoned):
                self._abandoned.add(told.token)
                self._unsettled[told.token] = told.outcome
            elif isinstance(told, Ended):
                if told.token in self._abandoned:
                    self._abandoned.discard(told.token)  # its outcome is that with which it was abandoned
                else:
                    self._unsettled[told.token] = told.outcome

    def _beat(self, now: datetime) -> None:
        if self._executor_answers():
            registration.beat(self._node.pk, now)
        self._executor.nudge()
        self._on_beat()
        if self._forget.is_due():
            self._engine.forget_idle_jobs()
        if self._gate.look_at_disk(now):
            self._mailbox.put(AdmissionChanged(self._gate.stopped))
        if self._unseen and self._ask_again.is_due():
            self._ask_for_unseen()

    def _ask_for_unseen(self) -> None:
        """A disk that was full or silent as the service began may not be so any more."""
        recovered = ask_again(self._executor, self._unseen, self._clocks.wall)
        self._unseen = recovered.unseen
        self._in_hand.update(recovered.adopted)
        self._launch(launches(recovered.launch))
        for told in recovered.inputs:
            self._mailbox.put(told)
        for ref in recovered.stop:
            self._executor.cancel(ref)

    def _executor_answers(self) -> bool:
        """Whether it took what it was asked at the last beat. With one that hangs a node must not look well.

        Never waited for, because this thread has starts to make.
        """
        if not self._executor_answered.is_set():
            log.error("the executor has not answered for %s s; no heartbeat until it does", HEARTBEAT_SECONDS)
            return False
        self._executor_answered.clear()
        self._executor.ask(self._executor_answered.set)
        return True

    # --- beginning and end ---

    def _rebuild(self) -> None:
        mend(self._node, self._clock_change, self._clocks.wall())
        self._clock_change = NO_CHANGE
        self._engine = Engine(
            CoreManager(self._capacity.cores, overcommit=self._capacity.overcommit, memory_mb=self._capacity.memory_mb),
            order=order_with_places(settings.ORDER, settings.TENANT_WEIGHTS),
            new_token=lambda: uuid.uuid4().hex,
            uniform=random.uniform,
            patience=timedelta(seconds=settings.PATIENCE_SECONDS),
            node=self._node.name,
        )
        self._is_built = True
        self._preparing.begin_anew()
        self._follower = Follower(self._store.actor, self._node.pk)
        self._wake_at = None
        self._remember(self._mailbox.take()[0])
        recovered = recover(
            self._engine,
            self._executor,
            self._node.pk,
            self._clocks.wall,
            in_hand=self._in_hand,
            unsettled=self._unsettled,
            abandoned=self._abandoned,
        )
        self._in_hand.update(recovered.adopted)
        self._unseen = recovered.unseen
        now = self._clocks.wall()
        self._gate.look_at_disk(now)
        self._launch(launches(recovered.launch))  # before anything can ask them to stop
        known = self._follower.begin(now)
        self._gate.look_at_wish()  # after its place in the feed is noted: a wish in between is seen twice, not missed
        self._pass(now, [AdmissionChanged(self._gate.stopped), *known, *recovered.inputs])
        for ref in recovered.stop:
            self._executor.cancel(ref)

    def _last_pass(self) -> None:
        """What ended while we were asked to stop is written now; what this cannot write, the next start will."""
        self._executor.end_hosts()
        inputs, _ = self._mailbox.take()
        ends = [told for told in inputs if isinstance(told, Began | Ended | Abandoned)]
        try:
            if self._is_built:
                self._pass(self._clocks.wall(), [AdmissionChanged("the service is stopping"), *ends])
            registration.sign_off(self._node, self._clocks.wall())
        except (DatabaseError, InterfaceError) as error:
            log.error("the last outcomes could not be written, the next start reads them again: %s", error)
