"""The runners of a launcher. One whose attempt has ended rests, and is given the next: what a runner costs that is
forked is a thousand pages of the launcher's memory, copied by and by. Standard library only.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Callable
from typing import NamedTuple

MOST_RESTING = max(2, min(16, os.cpu_count() or 2))  # each has some 8 MB of its own
REST_SECONDS = 10.0  # its memory is worth no more than that
RESTS = b"rests"


class Forked(NamedTuple):
    """`line`: to it; it rests when it says so there, and ends when there is nobody at the other end."""

    pid: int
    line: socket.socket


class Runners:
    def __init__(self, poll: select.poll, fork: Callable[[str, int, list[int], int | None], int]) -> None:
        """`fork`: makes one, for the run directory, with its end of the service's socket, secrets, and its end of the
        line, if it is to take more than one attempt; returns its process id, or raises OSError.
        """
        self._poll = poll
        self._fork = fork
        self._lines: dict[int, Forked] = {}
        self._resting: list[tuple[Forked, float]] = []  # since when, by the monotonic clock; the latest is last

    def start(self, path: str, notes: int, given: list[int], *, alone: bool) -> int:
        """Process id of the runner that has the attempt now; it is not reaped yet. `alone`: neither one that has had
        another attempt nor one that will have. OSError if there can be none.
        """
        while self._resting and not alone:
            runner, _ = self._resting.pop()
            try:
                socket.send_fds(runner.line, [os.fsencode(path)], [notes])
            except OSError:  # it was killed
                self._let_go(runner)
            else:
                return runner.pid
        if alone:
            return self._fork(path, notes, given, None)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                pid = self._fork(path, notes, given, theirs.fileno())
        except OSError:
            ours.close()
            raise
        self._lines[ours.fileno()] = Forked(pid, ours)
        self._poll.register(ours, select.POLLIN)
        return pid

    def hear(self, fd: int) -> bool:
        """What came by the descriptor `fd`. False if it is of no line."""
        runner = self._lines.get(fd)
        if runner is None:
            return False
        try:
            rests = runner.line.recv(len(RESTS)) == RESTS
        except ConnectionResetError:
            rests = False
        if rests and len(self._resting) < MOST_RESTING:
            self._resting.append((runner, time.monotonic()))
        else:
            self._resting = [one for one in self._resting if one[0] is not runner]
            self._let_go(runner)
        return True

    def end_idle(self) -> float | None:
        """Have end what has rested for long. Milliseconds until the next will have, None if none rests."""
        now = time.monotonic()
        while self._resting and now >= self._resting[0][1] + REST_SECONDS:
            runner, _ = self._resting.pop(0)
            self._let_go(runner)
        return 1000 * (self._resting[0][1] + REST_SECONDS - now) if self._resting else None

    def _let_go(self, runner: Forked) -> None:
        self._poll.unregister(runner.line)
        del self._lines[runner.line.fileno()]
        runner.line.close()
