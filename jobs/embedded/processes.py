"""Jobs that compute, each in a process of its own while it runs, so that a crash or a kill is that job's alone.

Not concurrent.futures: there one process that dies breaks the pool, and every job in it fails with it; and one that
runs cannot be ended.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any

from jobs.core.states import OutcomeKind
from jobs.embedded.attempts import Attempt, Report, failed, succeeded
from jobs.embedded.errors import NonRetryableError
from jobs.embedded.threads import ThreadPool
from jobs.embedded.worker import serve


@dataclass(frozen=True, slots=True)
class _Worker:
    process: ForkServerProcess
    connection: Connection

    def kill(self) -> None:
        """It, and whatever its job has started in its process group."""
        if self.process.is_alive():
            try:
                os.killpg(self.process.pid or 0, signal.SIGKILL)
            except ProcessLookupError:  # so young that it leads no group yet
                self.process.kill()


class Processes:
    """The executor of jobs that compute. A worker is made when no idle one is left, and kept for the next job.

    Workers are forked from a server without threads: a fork of this process could inherit a lock that nobody frees.
    """

    def __init__(self) -> None:
        self._context = get_context("forkserver")
        self._threads = ThreadPool("rota-process")  # each waits for one worker
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: dict[str, _Worker] = {}
        self._closed = False

    def start(self, attempt: Attempt, report: Callable[[Attempt, Report], None]) -> None:
        def call() -> None:
            try:
                ended = self._attempted(attempt)
            except Exception as error:  # noqa: BLE001 - the executor's border: no process, no memory
                ended = Report(OutcomeKind.REJECTED, exception=error, error=f"could not be started: {error}")
            self._threads.free()
            report(attempt, ended)

        self._threads.run(call)

    def end(self, attempt: Attempt) -> None:
        with self._lock:
            worker = self._busy.get(attempt.token)
            if worker is not None:
                worker.kill()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            _dismiss(worker)
        self._threads.close()

    def pids(self) -> list[int]:
        """Of the workers that exist now."""
        with self._lock:
            return [worker.process.pid or 0 for worker in (*self._idle, *self._busy.values())]

    def _attempted(self, attempt: Attempt) -> Report:
        worker = self._idle_worker() or self._new_worker()
        with self._lock:
            if attempt.cancellation.cancelled:  # before there was anything to kill
                self._idle.append(worker)
                return Report(OutcomeKind.CANCELLED)
            self._busy[attempt.token] = worker
        try:
            answer = _ask(worker, attempt.handle.payload or b"")
        finally:
            with self._lock:
                del self._busy[attempt.token]
        if isinstance(answer, Report):
            return answer
        self._keep(worker)
        good, value = answer
        return succeeded(value) if good else failed(value)

    def _idle_worker(self) -> _Worker | None:
        """One that is still there: something outside may have killed it meanwhile."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                worker = self._idle.pop()
            if worker.process.is_alive():
                return worker
            _dismiss(worker)

    def _new_worker(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=serve, args=(theirs,), name="rota-worker", daemon=True)
        process.start()
        theirs.close()  # while this end is open too, the worker's death would not be seen
        return _Worker(process, ours)

    def _keep(self, worker: _Worker) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(worker)
                return
        _dismiss(worker)


def _ask(worker: _Worker, payload: bytes) -> tuple[bool, Any] | Report:
    """The worker's answer; a report of its death if it gives none."""
    try:
        worker.connection.send_bytes(payload)
        received = worker.connection.recv_bytes()
    except (EOFError, OSError):
        worker.kill()
        return Report(OutcomeKind.FAILED, error=_death(worker))
    return _read(received)


def _read(received: bytes) -> tuple[bool, Any]:
    try:
        good, value = pickle.loads(received)  # noqa: S301 - from our own worker, through an anonymous pipe
    except Exception as error:  # noqa: BLE001 - whatever the objects' own unpickling raises
        return False, NonRetryableError(f"what it returned cannot be read here: {error}")
    return bool(good), value


def _death(worker: _Worker) -> str:
    worker.process.join()
    worker.connection.close()
    code = worker.process.exitcode or 0
    if code < 0:
        name = signal.Signals(-code).name if -code in signal.Signals._value2member_map_ else f"signal {-code}"
        return f"its process was ended by {name}"
    return f"its process exited with code {code} before the job had ended"


def _dismiss(worker: _Worker) -> None:
    """An idle worker ends by itself when its connection does."""
    with suppress(OSError):
        worker.connection.close()
    worker.process.join()
