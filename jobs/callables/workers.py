"""The pool's end of a worker."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
from contextlib import suppress
from typing import Any

from jobs.callables.answers import Answer
from jobs.callables.hosted import Hosted
from jobs.callables.link import Link
from jobs.callables.worker import become
from jobs.execution.logwriter import STDERR, STDOUT
from jobs.execution.tree import descendants, kill_group, process, send_all

LONGEST_MESSAGE = 1 << 20


class Worker:
    """A process that calls functions. `hosted`: for whom it does so now. `answer`, `facts`: how that ended."""

    def __init__(self, pid: int, channel: socket.socket, outputs: dict[int, int], nice: int) -> None:
        """`outputs`: by stream the end to read from."""
        self.pid = pid
        self.pidfd = os.pidfd_open(pid)
        self.channel = channel
        self.outputs = outputs
        self.nice = nice
        self.hung_up = False
        self.hosted: Hosted | None = None
        self.answer: Answer | None = None
        self.facts: dict[str, Any] = {}

    def call(self, path: str) -> None:
        """The callable of the run directory `path`. One that has just died says so by its pidfd."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.channel.send(json.dumps({"path": path}).encode())

    def receive(self) -> dict[str, Any] | None:
        try:
            data = self.channel.recv(LONGEST_MESSAGE)
        except BlockingIOError:
            return None
        except ConnectionResetError:
            data = b""
        self.hung_up = not data
        return dict(json.loads(data)) if data else None

    def send_all(self, number: int) -> None:
        """Signal it and all that descends from it."""
        found = [one for one in (process(self.pid), *descendants(self.pid)) if one and one.alive]
        if number == signal.SIGKILL:
            kill_group(self.pid)
        list(send_all(found, number))

    def hang_up(self) -> None:
        """It is to end by itself."""
        with suppress(OSError):
            self.channel.shutdown(socket.SHUT_WR)

    def close(self, link: Link) -> None:
        if not self.hung_up:
            link.no_longer(self.channel.fileno())
        for fd in self.outputs.values():
            link.no_longer(fd)
            os.close(fd)
        self.channel.close()
        os.close(self.pidfd)


def fork(nice: int) -> Worker:
    """OSError if the machine gives no process, or no descriptors for one: then none of these is kept."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    parent = os.getpid()
    sys.stdout.flush()
    gc.freeze()  # what is there is not copied, page by page, by the collections of a worker
    reads, writes = [], []
    try:
        for _ in (STDOUT, STDERR):
            read, write = os.pipe2(os.O_CLOEXEC)
            reads.append(read)
            writes.append(write)
            os.set_blocking(read, False)
        pid = os.fork()
        if pid == 0:
            become(theirs, writes[0], writes[1], parent, nice)
        return Worker(pid, ours, dict(zip((STDOUT, STDERR), reads, strict=True)), nice)
    except OSError:
        ours.close()
        for fd in reads:
            os.close(fd)
        raise
    finally:
        theirs.close()
        for fd in writes:
            os.close(fd)
