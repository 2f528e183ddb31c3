"""The process that serves pooled callables: it forks workers, takes their output, ends them and all that they start.

It calls nothing of the project itself but to load it, has one thread, and so may fork at any time. Workers are kept for
the next call; one that was told to end, or has left processes or threads, is not.
"""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from typing import Any

from jobs.callables import process
from jobs.callables.answers import Answer
from jobs.callables.childends import ChildrenEnding
from jobs.callables.hosted import Hosted
from jobs.callables.left import Left
from jobs.callables.link import Link
from jobs.callables.taking import STOP_SECONDS, judged, taken
from jobs.callables.workers import Worker, fork
from jobs.execution.logwriter import STDERR, STDOUT
from jobs.execution.spawn import PR_SET_CHILD_SUBREAPER, prctl
from jobs.execution.tree import Process
from jobs.execution.verdict import CANCELLED, STOPPED, EndedByUs, timed_out, verdict

KILL_AGAIN_SECONDS = 0.02
MOST_SAID = 1000  # messages that a channel has room for


def main(fd: int, service: int) -> None:
    """As that of the other hosts."""
    process.begin(service)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    process.load_project()
    process.close_connections()
    Pool(Link(fd)).run()


class Pool:
    def __init__(self, link: Link) -> None:
        self._link = link
        self._workers: dict[int, Worker] = {}  # by process id
        self._idle: list[Worker] = []
        self._busy: dict[str, Worker] = {}  # by token
        self._left = Left()
        self._stopping = False

    def run(self) -> None:
        self._link.send(ready=True)
        self._link.serve(self._start, partial(self._ask_to_end, why=CANCELLED), self._stop)
        os._exit(0)

    # --- start ---

    def _start(self, token: str, path: str) -> None:
        hosted = taken(self._link, token, path, self._ask_to_end)
        if hosted is None:
            return
        if why := hosted.why_not():
            self._report(hosted, why)
            return
        try:
            worker = self._worker(hosted.spec.nice)
        except OSError as error:
            self._report(hosted, Answer("lost", f"could not be started: no process: {error.strerror}"))
            return
        hosted.begin()
        self._busy[token] = worker
        worker.hosted = hosted
        worker.call(path)
        hosted.tell_started(worker.pid)
        self._link.send(began=token, pid=worker.pid, at=hosted.started_at)
        if seconds := hosted.spec.timeout_seconds:
            self._link.later(seconds, partial(self._ask_to_end, token, timed_out(seconds)))

    def _worker(self, nice: int) -> Worker:
        """An idle one, or a new one. A process can be made nicer, but not less so."""
        for worker in self._idle:
            if worker.nice == nice:
                self._idle.remove(worker)
                return worker
        worker = fork(nice)
        self._workers[worker.pid] = worker
        self._link.watch(worker.pidfd, partial(self._on_gone, worker))
        self._link.watch(worker.channel.fileno(), partial(self._on_said, worker))
        for stream, fd in worker.outputs.items():
            self._link.watch(fd, partial(self._on_output, worker, stream, fd))
        return worker

    # --- while it runs ---

    def _on_output(self, worker: Worker, stream: int, fd: int) -> bool:
        """Whether there was any."""
        try:
            data = os.read(fd, 1 << 16)
        except BlockingIOError:
            return False
        if not data:
            self._link.no_longer(fd)
            os.close(worker.outputs.pop(stream))
        elif worker.hosted:
            worker.hosted.take(stream, data)
        else:
            os.write(stream, data)  # of a thread that outlived its call: the pool's own log
        return bool(data)

    def _drain(self, worker: Worker) -> None:
        for stream in (STDOUT, STDERR):
            while (fd := worker.outputs.get(stream)) is not None and self._on_output(worker, stream, fd):
                pass

    def _on_said(self, worker: Worker) -> bool:
        """Whether there was anything."""
        try:
            message = worker.receive()
            if message is not None:
                self._take(worker, message)
        except (ValueError, TypeError, LookupError):  # its callable has written what is the worker's to say
            worker.answer = Answer("failed", "wrote into the connection between its process and the pool")
            if worker in self._idle:
                self._idle.remove(worker)
            kill(worker.pid)
            return True
        if worker.hung_up:
            self._link.no_longer(worker.channel.fileno())
        return message is not None

    def _take(self, worker: Worker, message: dict[str, Any]) -> None:
        hosted = worker.hosted
        if hosted is None or worker.answer or message["of"] != hosted.token:
            return  # of one whose callable had given an answer in its place
        if "progress" in message:
            hosted.progress(*message["progress"])
        elif "output" in message:
            hosted.watch_output()
        else:
            answer, seconds, leaves = Answer(*message["answer"]), message["cpu_seconds"], message["leaves"]
            self._drain(worker)
            hosted.finish()
            worker.answer, worker.facts = answer, {"cpu_seconds": seconds}
            if leaves or hosted.ending:
                worker.hang_up()  # its end is told when all of it is gone
            else:
                self._free(worker)
                self._idle.append(worker)

    # --- end ---

    def _ask_to_end(self, token: str, why: EndedByUs) -> None:
        worker = self._busy.get(token)
        if worker is None or worker.hosted is None:
            return
        grace = STOP_SECONDS if why is STOPPED else worker.hosted.spec.kill_grace_seconds
        if not worker.hosted.ask_to_end(why, grace):
            return
        worker.hosted.notice(f"{why.error}: TERM sent to its processes, KILL follows in {grace:g} s")
        worker.send_all(signal.SIGTERM)
        worker.send_all(signal.SIGCONT)
        self._link.later(grace, partial(self._kill, worker, token))

    def _kill(self, worker: Worker, token: str) -> None:
        if self._busy.get(token) is worker:
            worker.send_all(signal.SIGKILL)
            self._link.later(KILL_AGAIN_SECONDS, partial(self._kill, worker, token))

    def _on_gone(self, worker: Worker) -> None:
        """All that it has left is a child of this process by now, or of one that is."""
        for _ in range(MOST_SAID):  # before its answer, which comes last
            if worker.answer or worker.hung_up or not self._on_said(worker):
                break
        self._link.no_longer(worker.pidfd)
        _, status = os.waitpid(worker.pid, 0)
        del self._workers[worker.pid]
        if worker in self._idle:
            self._idle.remove(worker)
        found = verdict(status, None)
        if worker.answer is None:
            worker.answer = Answer(found.kind, found.error, found.exit_code)
            worker.facts = {"signal": found.signal}
        if worker.hosted:
            token = worker.hosted.token
            ending = ChildrenEnding(worker.hosted, lambda _since: self._left_of(token))
            ending.tell("the job has ended and left processes")
            self._clear(worker, worker.hosted, ending)
        else:
            worker.close(self._link)

    def _clear(self, worker: Worker, hosted: Hosted, ending: ChildrenEnding) -> None:
        """Its end is told when nothing is left of it."""
        if ending.look():
            self._link.later(ending.next_at - time.monotonic(), partial(self._clear, worker, hosted, ending))
            return
        self._drain(worker)
        hosted.descendants_ended = ending.descendants_ended
        self._free(worker)
        worker.close(self._link)

    def _left_of(self, token: str) -> list[Process]:
        return self._left.of(token, self._workers, [pid for pid, one in self._workers.items() if one.hosted])

    def _free(self, worker: Worker) -> None:
        """Tell the end of what it did."""
        hosted, worker.hosted = worker.hosted, None
        if hosted and worker.answer:
            del self._busy[hosted.token]
            answer = judged(hosted.ending, worker.answer, interrupted="signal" in worker.facts)
            self._report(hosted, answer, **worker.facts)
        worker.answer, worker.facts = None, {}

    def _report(self, hosted: Hosted, answer: Answer, **facts: Any) -> None:
        result = hosted.end(answer, **facts)
        self._link.send(ended=hosted.token, result=result.to_json())
        if self._stopping and not self._busy:
            os._exit(0)

    def _stop(self) -> None:
        self._stopping = True
        if not self._busy:
            os._exit(0)
        for token in list(self._busy):
            self._ask_to_end(token, STOPPED)


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
