"""The service's end of one host process: starts it, writes to it, reads from it. One thread only, never waits."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

from jobs.execution.tree import Process, all_processes, has_variable, in_session, process

logger = logging.getLogger(__name__)

LONGEST_MESSAGE = 1 << 20
HOST_NAME = "ROTA_HOST"  # in the environment of a host and of all that it starts
MAIN = """
import json, sys
sys.path[:] = json.loads(sys.argv[4])
from importlib import import_module
import_module(sys.argv[1]).main(int(sys.argv[2]), int(sys.argv[3]))
"""


class HostProcess:
    """`program`: the module whose `main` it runs. It has the service's own environment and path: it is the same
    project. OSError if it cannot be started.
    """

    def __init__(self, program: str, mark: str, log: Path) -> None:
        """`mark`: names it, in the environment of all that it starts."""
        self.mark = mark
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.setblocking(False)
        self._outbox: deque[bytes] = deque()
        arguments = [program, str(theirs.fileno()), str(os.getpid()), json.dumps(sys.path)]
        try:
            with theirs, log.open("ab") as output:
                self.process = subprocess.Popen(
                    [sys.executable, "-c", MAIN, *arguments],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    env={**os.environ, "PYTHONUNBUFFERED": "1", HOST_NAME: mark},
                    start_new_session=True,
                )
            self.pidfd = os.pidfd_open(self.process.pid)
        except OSError:
            self.socket.close()
            raise
        self._leader = process(self.process.pid)

    def send(self, **message: Any) -> None:
        self._outbox.append(json.dumps(message).encode())
        self.flush()

    def flush(self) -> None:
        """Write what its socket takes; the rest waits. To one that is gone, nothing."""
        with suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
            while self._outbox:
                self.socket.send(self._outbox[0])
                self._outbox.popleft()

    def receive(self) -> dict[str, Any] | None:
        """The next message, None if there is none at present, or will be none."""
        try:
            data = self.socket.recv(LONGEST_MESSAGE)
        except (BlockingIOError, ConnectionResetError):
            return None
        return dict(json.loads(data)) if data else None

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, number)

    def left(self) -> list[Process]:
        """What is alive of what it started, now that it is gone."""
        return left_of(self.mark, self._leader)

    def how_it_ended(self) -> str:
        code = self.process.wait()
        return f"was killed by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"exited with code {code}"

    def close(self) -> None:
        self.socket.close()
        os.close(self.pidfd)


def left_of(mark: str, leader: Process | None = None) -> list[Process]:
    assignment = f"{HOST_NAME}={mark}".encode()
    return [
        one
        for one in all_processes()
        if one.alive and one.pid != os.getpid() and (in_session(one, leader) or has_variable(one.pid, assignment))
    ]
