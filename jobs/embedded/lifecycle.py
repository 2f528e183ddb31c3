"""How a scheduler begins and ends, and how a program waits for it: blocking, and on an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Self

from jobs.core.inputs import LimitsChanged
from jobs.core.order import Order
from jobs.embedded.attempts import Executor
from jobs.embedded.cancellation import find_token
from jobs.embedded.checks import check_has, check_wait
from jobs.embedded.clock import Clock
from jobs.embedded.coroutines import Coroutines
from jobs.embedded.driver import Driver
from jobs.embedded.errors import InvalidJob, SchedulerError, SchedulerNotStartedError, SchedulerStoppedError
from jobs.embedded.handles import Handle
from jobs.embedded.processes import Processes
from jobs.embedded.stopping import abandon_running, cancel_running, start_nothing_more
from jobs.embedded.threads import Threads
from jobs.embedded.work import ASYNC, PROCESS, THREAD

# What is asked to end when a stop runs out of time gets this long to do so before it is abandoned.
GRACE_SECONDS = 0.5

Ref = int | Handle


class Lifecycle:
    """From `start` to the end of `stop`."""

    def __init__(
        self,
        clock: Clock,
        order: Order,
        uniform: Callable[[float, float], float],
        history: int,
        limits: LimitsChanged,
    ) -> None:
        check_has("clock", clock, "now", "a Clock")
        self._limits = limits
        self._executors: dict[str, Executor] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._state = "new"
        self._changing = threading.RLock()  # a signal handler may stop it, too
        self._closed = False
        self._driver = Driver(clock=clock, order=order, uniform=uniform, history=history, executor=self._executor)

    # --- start and stop ---

    def start(self) -> Self:
        """From here on jobs are taken. Where an event loop runs, async jobs run on that; else on one of their own."""
        with self._changing:
            if self._state in ("stopping", "stopped"):
                raise SchedulerStoppedError("start()")
            if self._state == "running":
                raise SchedulerError("start() was called twice; this scheduler runs already")
            self._loop = _running_loop()
            self._driver.start()
            self._driver.post(lambda: self._driver.tell(self._limits))
            self._state = "running"
        return self

    def stop(self, *, cancel: bool = False, deadline_seconds: float | None = None) -> bool:
        """Start nothing more, wait for what runs, and end; whether all had ended by the deadline.

        What waits is cancelled, and a failure from now on is final. `cancel`: what runs is cancelled too. At the
        deadline it is in any case; what has not ended half a second later is abandoned. Twice does no harm.
        """
        check_wait("deadline_seconds", deadline_seconds)
        if self._state in ("new", "stopped"):
            return self._never_again()
        self._refuse_to_block("stop", "await stop_async()")
        in_time = False
        try:
            self._begin_stop(cancel=cancel)
            in_time = self._driver.wait(self._nothing_live, deadline_seconds)
        finally:  # a second Ctrl-C, too, leaves no job without its end
            if not in_time and not self._driver.fault:
                self._driver.call(lambda: cancel_running(self._driver))
                if not self._driver.wait(self._nothing_live, GRACE_SECONDS):
                    self._driver.call(lambda: abandon_running(self._driver))
            self._close()
        return in_time

    async def stop_async(self, *, cancel: bool = False, deadline_seconds: float | None = None) -> bool:
        """As `stop`, without blocking the event loop."""
        check_wait("deadline_seconds", deadline_seconds)
        if self._state in ("new", "stopped"):
            return self._never_again()
        self._refuse_within_job("stop_async")
        in_time = False
        try:
            self._begin_stop(cancel=cancel)
            in_time = await self._wait_async(self._nothing_live, deadline_seconds)
        finally:
            if not in_time and not self._driver.fault:
                self._driver.call(lambda: cancel_running(self._driver))
                if not await self._wait_async(self._nothing_live, GRACE_SECONDS):
                    self._driver.call(lambda: abandon_running(self._driver))
            await asyncio.to_thread(self._close)
        return in_time

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """An error in the block, Ctrl-C too, cancels what runs; else that is waited for."""
        self.stop(cancel=error is not None)

    async def __aenter__(self) -> Self:
        return self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop_async(cancel=error is not None)

    # --- waiting ---

    def join(self, *jobs: Ref, timeout_seconds: float | None = None) -> bool:
        """Block until these have ended, or all; whether they have in time. An abandoned thread is not waited for.

        A job may wait for others by name; it keeps its place meanwhile.
        """
        check_wait("timeout_seconds", timeout_seconds)
        self._refuse_to_block("join", "await join_async()", jobs)
        return self._driver.wait(self._all_ended(jobs, "join()"), timeout_seconds)

    async def join_async(self, *jobs: Ref, timeout_seconds: float | None = None) -> bool:
        """As `join`, without blocking the event loop."""
        check_wait("timeout_seconds", timeout_seconds)
        self._refuse_within_job("join_async", jobs)
        return await self._wait_async(self._all_ended(jobs, "join_async()"), timeout_seconds)

    def settle(self, timeout_seconds: float | None = None) -> bool:
        """Block until nothing runs or is due and every listener has been told: for tests with a hand-moved clock."""
        check_wait("timeout_seconds", timeout_seconds)
        self._check_started("settle()")
        self._refuse_to_block("settle", "await settle_async()")
        return self._driver.wait(self._driver.settled, timeout_seconds)

    async def settle_async(self, timeout_seconds: float | None = None) -> bool:
        check_wait("timeout_seconds", timeout_seconds)
        self._check_started("settle_async()")
        self._refuse_within_job("settle_async")
        return await self._wait_async(self._driver.settled, timeout_seconds)

    # --- within ---

    def _executor(self, model: str) -> Executor:
        """Made when the first job of its model starts. Of the watcher's thread only."""
        if model not in self._executors:
            made: dict[str, Callable[[], Executor]] = {
                ASYNC: lambda: Coroutines(self._loop),
                THREAD: Threads,
                PROCESS: Processes,
            }
            self._executors[model] = made[model]()
        return self._executors[model]

    def _begin_stop(self, *, cancel: bool) -> None:
        with self._changing:
            was, self._state = self._state, "stopping" if self._state == "running" else self._state
        if was == "running":
            self._driver.call(lambda: start_nothing_more(self._driver))
        if cancel:
            self._driver.call(lambda: cancel_running(self._driver))

    def _never_again(self) -> bool:
        """Of one that was never started, or has stopped."""
        self._state = "stopped"
        return True

    def _close(self) -> None:
        with self._changing:
            if self._state == "stopping" and not self._closed:
                self._closed = True
                self._driver.finish()
                for executor in self._executors.values():
                    executor.close()
                self._driver.listeners.close(GRACE_SECONDS)
                self._state = "stopped"

    def _nothing_live(self) -> bool:
        return not self._driver.ledger.live

    def _all_ended(self, jobs: Iterable[Ref], asked: str) -> Callable[[], bool]:
        self._check_started(asked)
        handles = [self._handle(ref) for ref in jobs]
        if not handles:
            return self._nothing_live
        return lambda: all(handle.ended for handle in handles)

    def _handle(self, ref: Ref) -> Handle:
        """Its handle, also of one that is forgotten by now. Raises UnknownJobError, InvalidJob."""
        if not isinstance(ref, Handle):
            return self._driver.call(lambda: self._driver.ledger.get(ref))
        if ref.home is not self._driver.ledger:
            raise InvalidJob(f"{ref!r} was given to another scheduler; ask that one")
        return ref

    async def _wait_async(self, condition: Callable[[], bool], seconds: float | None) -> bool:
        loop = asyncio.get_running_loop()
        came = asyncio.Event()

        def then() -> None:
            with suppress(RuntimeError):  # the loop is closed, and nobody waits there any more
                loop.call_soon_threadsafe(came.set)

        self._driver.when(condition, then)
        try:
            await asyncio.wait_for(came.wait(), seconds)
        except TimeoutError:
            return False
        finally:
            self._driver.forget(then)
        self._driver.check_fault()
        return True

    def _check_started(self, asked: str) -> None:
        self._driver.check_fault()
        if self._state == "new":
            raise SchedulerNotStartedError(asked)

    def _check_running(self, asked: str) -> None:
        self._check_started(asked)
        if self._state != "running":
            raise SchedulerStoppedError(asked)

    def _refuse_to_block(self, asked: str, instead: str, jobs: Iterable[Ref] = ()) -> None:
        """What would wait for itself for ever."""
        self._refuse_within_job(asked, jobs)
        if self._loop is not None and _running_loop() is self._loop:
            raise SchedulerError(f"{asked}() would stop the event loop that its async jobs run on; use {instead}")

    def _refuse_within_job(self, asked: str, jobs: Iterable[Ref] = ()) -> None:
        token, ids = find_token(), [job.id if isinstance(job, Handle) else job for job in jobs]
        attempts = list(self._driver.attempts.values())
        mine = [attempt.handle.id for attempt in attempts if attempt.cancellation is token]
        if mine and (not ids or any(one in ids for one in mine)):
            raise SchedulerError(
                f"{asked}() was called by job {mine[0]}, which would wait for itself; call it from outside, "
                "or name the jobs to wait for"
            )


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
