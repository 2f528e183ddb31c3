"""Async jobs on an event loop: that of the program if it has one, else one on a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from jobs.core.states import OutcomeKind
from jobs.embedded.attempts import Attempt, Report, failed, succeeded
from jobs.embedded.cancellation import give_token

STOP_SECONDS = 1.0  # a job that blocks the loop is not waited for longer


class Coroutines:
    """`loop`: the program's, which it keeps running; None: one of our own, from the first async job on."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self._thread: threading.Thread | None = None
        if loop is None:
            loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_run, args=(loop,), name="rota-loop", daemon=True)
            self._thread.start()
        self._loop = loop
        self._tasks: dict[str, asyncio.Task[Report]] = {}  # of the loop's thread only

    def start(self, attempt: Attempt, report: Callable[[Attempt, Report], None]) -> None:
        self._loop.call_soon_threadsafe(self._begin, attempt, report)

    def end(self, attempt: Attempt) -> None:
        self._loop.call_soon_threadsafe(self._cancel, attempt)

    def close(self) -> None:
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(STOP_SECONDS)

    def _begin(self, attempt: Attempt, report: Callable[[Attempt, Report], None]) -> None:
        task = self._loop.create_task(_attempted(attempt))
        self._tasks[attempt.token] = task
        task.add_done_callback(lambda done: self._ended(attempt, done, report))

    def _cancel(self, attempt: Attempt) -> None:
        task = self._tasks.get(attempt.token)
        if task is not None:
            task.cancel()

    def _ended(self, attempt: Attempt, task: asyncio.Task[Report], report: Callable[[Attempt, Report], None]) -> None:
        """Told by the task: one that is cancelled before its first step runs no line of its own."""
        del self._tasks[attempt.token]
        report(attempt, _cancelled(attempt) if task.cancelled() else task.result())


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Closed by its own thread: whoever stops it may not wait for it to the end."""
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _attempted(attempt: Attempt) -> Report:
    give_token(attempt.cancellation)
    job = attempt.handle.job
    try:
        return succeeded(await job.fn(*job.args, **job.kwargs))
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - the executor's border: SystemExit must not end the loop
        return failed(error)


def _cancelled(attempt: Attempt) -> Report:
    if attempt.ending is None:
        return Report(OutcomeKind.FAILED, error="it was cancelled, but not by the scheduler")
    return Report(attempt.ending)
