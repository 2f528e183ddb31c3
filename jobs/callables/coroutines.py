"""Async callables of a host, on an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import os
import threading
import traceback
from collections.abc import Callable, Coroutine
from contextvars import Context
from functools import partial
from typing import Any
from weakref import WeakSet

from jobs.callables.answers import Answer, answer_of, failure_of, leave_if_forked
from jobs.callables.hosted import Hosted
from jobs.callables.streams import current
from jobs.embedded.cancellation import give_token

Call = Callable[[], Coroutine[Any, Any, Any]]
STRAY = Answer("failed", "was cancelled, but not by Rota: its task, or one that it waits for, cancelled itself")


class Coroutines:
    """begun: called in the loop's thread when the first line of one is next. ended: with how it ended, as a function
    that takes its time, and whether that was by a cancel.
    """

    def __init__(self, begun: Callable[[Hosted], None], ended: Callable[..., None]) -> None:
        self._begun = begun
        self._ended = ended
        self.loop = asyncio.new_event_loop()
        self.loop.set_task_factory(self._new_task)
        self.thread = threading.Thread(target=self._run, name="loop", daemon=True)
        self._tasks: dict[Hosted, WeakSet[asyncio.Task[Any]]] = {}
        self._first: dict[Hosted, asyncio.Task[Any]] = {}
        os.register_at_fork(after_in_child=self._stop_in_fork)

    def start(self, hosted: Hosted, call: Call) -> None:
        self.loop.call_soon_threadsafe(self._begin, hosted, call)

    def end(self, hosted: Hosted) -> None:
        """Raise CancelledError where it waits."""
        self.loop.call_soon_threadsafe(self._cancel, hosted)

    def whose(self) -> Hosted | None:
        """Of which attempt is the task that runs now. From any thread."""
        task = asyncio.current_task(self.loop)
        found = (hosted for hosted, tasks in list(self._tasks.items()) if task in tasks)
        return next(found, None) if task else None

    def _stop_in_fork(self) -> None:
        """A fork that waits would come back to the loop, and go on there with what others do, once more."""
        self.loop._ready.clear()  # type: ignore[attr-defined]  # only the base class of loops has it
        self.loop.stop()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        here = os.getpid()
        while True:
            try:
                self.loop.run_forever()
            except BaseException:  # noqa: BLE001 a SystemExit in a task of its own, say: of one, not of all
                traceback.print_exc()
            if os.getpid() != here:
                os._exit(1)

    def _begin(self, hosted: Hosted, call: Call) -> None:
        if not hosted.begin():
            return
        self._begun(hosted)
        context = Context()  # of its own: what one leaves in a context variable is not the next one's
        context.run(current.set, hosted)
        context.run(give_token, hosted.cancelled)
        self._tasks[hosted] = WeakSet()
        task = self.loop.create_task(_attempt(call), context=context)
        self._first[hosted] = task
        task.add_done_callback(partial(self._done, hosted))

    def _new_task(
        self, loop: asyncio.AbstractEventLoop, coroutine: Any, *, context: Context | None = None, **more: Any
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(coroutine, loop=loop, context=context, **more)
        hosted = current.get() if context is None else context.get(current)
        if hosted in self._tasks:
            self._tasks[hosted].add(task)
        return task

    def _cancel(self, hosted: Hosted) -> None:
        if task := self._first.get(hosted):
            task.cancel()

    def _done(self, hosted: Hosted, task: asyncio.Task[Callable[[], Answer]]) -> None:
        """Told by the task: one that is cancelled before its first step runs no line of its own."""
        del self._first[hosted]
        left = [one for one in self._tasks.pop(hosted) if not one.done()]
        for one in left:
            one.cancel()
        if left:
            hosted.notice(f"the job has ended and left tasks: {len(left)} cancelled")
        self._ended(hosted, (lambda: STRAY) if task.cancelled() else task.result(), interrupted=task.cancelled())


async def _attempt(call: Call) -> Callable[[], Answer]:
    """How it ended, not yet in words: that takes time which the loop has not."""
    here = os.getpid()
    try:
        answer = partial(answer_of, await call())
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 the executor's border: SystemExit must not end the loop
        answer = partial(failure_of, error)
    if os.getpid() != here:
        leave_if_forked(here, answer())
    return answer
