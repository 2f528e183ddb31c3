"""How a runner waits for its job to begin. Standard library only.

Between fork and exec stand the job's working directory and its files. A file system that does not answer, as NFS whose
server is gone, holds there whoever asks it: that is a process apart from the runner, which meanwhile hears the wish to
cancel and keeps the time limit.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable

from jobs.execution.ending import Ending, take_ended
from jobs.execution.hearing import Hearing
from jobs.execution.moment import LONGEST_WAIT_SECONDS
from jobs.execution.tree import process

NO_ANSWER = "its file system does not answer"
SAID_AFTER_SECONDS = 5.0
FOR_EVER = float("inf")
STANDS = ("T", "t", "D")  # stopped, traced, or in the kernel, after which it stops: it runs no line of any program
STOP_PAUSE_SECONDS = 0.0005
STOP_SECONDS = 10.0  # by then it had a core, or it is frozen: then it stops when it is thawed, before its next line


class NotBegunError(Exception):
    """The process has been waited for long enough; it is still there. `kind`: of the outcome."""

    def __init__(self, pid: int, kind: str, error: str) -> None:
        self.pid = pid
        self.kind = kind
        super().__init__(error)


class Beginning:
    """One start. `hearing`: None if nobody can wish for its end. `limit_seconds`: its time limit, None for no limit.

    `cancelled`: the wish came; if the job has begun nevertheless, it is for the caller to heed.
    """

    def __init__(self, hearing: Hearing | None, limit_seconds: float | None, notice: Callable[[str], None]) -> None:
        self._hearing = hearing
        self._limit = limit_seconds
        self._notice = notice
        self._say_at = time.monotonic() + SAID_AFTER_SECONDS
        self._end_at = FOR_EVER if limit_seconds is None else time.monotonic() + limit_seconds
        self.cancelled = False

    def read(self, pid: int, told: int, waits_for: Callable[[int], str]) -> bytes:
        """All that comes by the pipe `told`, the other end of which process `pid` has. `waits_for`: what it asks for,
        by its process id. NotBegunError if it is to be ended before: it stands still then, and is to be killed.
        """
        content = b""
        while True:
            if self.cancelled and not is_through(pid, told):
                raise NotBegunError(pid, "cancelled", "was cancelled before it was started")
            heard = self._hearing.descriptors if self._hearing else []
            poll = select.poll()
            for fd in (told, *heard):
                poll.register(fd, select.POLLIN)
            ready = [fd for fd, _ in poll.poll(self._milliseconds())]
            if told in ready:
                if not (data := os.read(told, 4096)):
                    return content
                content += data
            for fd in ready:
                if fd != told and self._hearing and self._hearing.cancel_comes(fd):
                    self.cancelled = True
            self._on_time(pid, told, waits_for)

    def _milliseconds(self) -> int:
        left = min(self._say_at, self._end_at) - time.monotonic()
        return max(0, int(1000 * min(left, LONGEST_WAIT_SECONDS)) + 1)

    def _on_time(self, pid: int, told: int, waits_for: Callable[[int], str]) -> None:
        now = time.monotonic()
        if now >= self._say_at:
            self._say_at = FOR_EVER
            self._notice(f"it waits to begin: {waits_for(pid)}: {NO_ANSWER}")
        if now >= self._end_at and not is_through(pid, told):
            said = f"had not begun when its time limit of {self._limit:g} s was over: {waits_for(pid)}: {NO_ANSWER}"
            raise NotBegunError(pid, "timeout", said)


def is_through(pid: int, told: int) -> bool:
    """Whether process `pid`, a child, has become the job or said by `told` why not. If it has not, it never will: it is
    left stopped. A mere look would be too old by the time of the KILL: a whole job may have run meanwhile.
    """
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + STOP_SECONDS
    while (one := process(pid)) and one.alive and one.state not in STANDS:
        if time.monotonic() >= deadline:
            break
        time.sleep(STOP_PAUSE_SECONDS)
    through = bool(select.select([told], [], [], 0)[0])
    if through:
        os.kill(pid, signal.SIGCONT)
    return through


def end(ending: Ending, hearing: Hearing) -> str:
    """What has not begun: KILL, for a TERM it would ignore as its runner does, and then begin. Returns what is to be
    said of what is left.
    """
    while take_ended({}) and not ending.given_up:
        ready, _, _ = select.select(hearing.descriptors, [], [], max(0.0, ending.next_at - time.monotonic()))
        for fd in ready:  # a child has ended; whatever else is said, it ends already
            hearing.cancel_comes(fd)
        if (now := time.monotonic()) >= ending.next_at:
            ending.step(now)
    return ending.left
