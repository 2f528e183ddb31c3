"""Blocking jobs on threads that are made when they are first needed and kept for the next."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import Context
from queue import SimpleQueue
from typing import Any

from jobs.embedded.attempts import Attempt, Report, failed, succeeded
from jobs.embedded.cancellation import give_token

Job = Callable[[], Any]


class ThreadPool:
    """As many threads as have ever been busy at once; how many that may be is the scheduler's limit.

    Not concurrent.futures: its threads are waited for when the interpreter exits, so an abandoned one would keep the
    whole program from ending. These are daemons.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: SimpleQueue[Job | None] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._made = 0

    def run(self, call: Job) -> None:
        """On an idle thread, or a new one. From one thread only. `call` must not raise."""
        if not self._idle.acquire(blocking=False):
            self._made += 1
            threading.Thread(target=self._work, name=f"{self._name}-{self._made}", daemon=True).start()
        self._calls.put(call)

    def free(self) -> None:
        """The thread that calls this is about to take the next call: say so before the scheduler is told of the end."""
        self._idle.release()

    def close(self) -> None:
        """Threads end when what they do has ended."""
        for _ in range(self._made):
            self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()


class Threads:
    """The executor of blocking jobs."""

    def __init__(self) -> None:
        self._pool = ThreadPool("rota-thread")

    def start(self, attempt: Attempt, report: Callable[[Attempt, Report], None]) -> None:
        def call() -> None:
            # Each in a context of its own: what one job leaves in a context variable is not the next one's.
            ended = Context().run(_attempted, attempt)
            self._pool.free()
            report(attempt, ended)

        self._pool.run(call)

    def end(self, attempt: Attempt) -> None:
        """A thread ends when it wants to; its token has been set."""

    def close(self) -> None:
        self._pool.close()


def _attempted(attempt: Attempt) -> Report:
    give_token(attempt.cancellation)
    job = attempt.handle.job
    try:
        return succeeded(job.fn(*job.args, **job.kwargs))
    except BaseException as error:  # noqa: BLE001 - the executor's border: SystemExit too is an outcome of the job
        return failed(error)
