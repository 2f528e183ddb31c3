"""The service's end of one host process: starts it, writes to it, reads from it. One thread only, never waits."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

from jobs.execution.settle import kill
from jobs.execution.tree import (
    TOKEN_NAME,
    Process,
    all_processes,
    descendants,
    exec_deadline,
    in_session,
    process,
    variables,
)
from jobs.execution.verdict import signal_name

LONGEST_MESSAGE = 1 << 20
SWEEP_SECONDS = 5.0
HOST_NAME = "ROTA_HOST"  # in the environment of a host and of all that it starts
MAIN = """
import json, sys
sys.path[:] = json.loads(sys.argv[4])
from importlib import import_module
import_module(sys.argv[1]).main(int(sys.argv[2]), int(sys.argv[3]))
"""


class HostGoneError(ConnectionError):
    """Nothing more will come from it."""

    def __init__(self) -> None:
        super().__init__("the host process has ended; logs/callables.log in the data folder may say why")


class HostProcess:
    def __init__(self, program: str, mark: str, log: Path) -> None:
        """`program`: the module whose `main` it runs, with the service's own environment and path: it is the same
        project. `mark`: names it. OSError if it cannot be started.
        """
        self.mark = mark
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.setblocking(False)
        self._outbox: deque[bytes] = deque()
        env = {name: value for name, value in os.environ.items() if name != TOKEN_NAME}  # of what started the service
        arguments = [program, str(theirs.fileno()), str(os.getpid()), json.dumps(sys.path)]
        try:
            with theirs, log.open("ab") as output:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", MAIN, *arguments],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    env={**env, "PYTHONUNBUFFERED": "1", HOST_NAME: mark},
                    start_new_session=True,
                )
            self.pidfd = os.pidfd_open(self._process.pid)
        except OSError:
            self.socket.close()
            raise
        self._leader = process(self._process.pid)
        self._descendants: list[Process] = []

    @property
    def pid(self) -> int:
        return self._process.pid

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
        """The next message, None if there is none at present. HostGoneError if there will be none."""
        try:
            data = self.socket.recv(LONGEST_MESSAGE)
        except BlockingIOError:
            return None
        except ConnectionResetError as error:
            raise HostGoneError from error
        if not data:
            raise HostGoneError
        return dict(json.loads(data))

    def kill(self) -> None:
        """With all that it has started: as long as it lives, that descends from it."""
        self._descendants = descendants(self.pid) or self._descendants  # it may be dead already, and asked again
        self.signal(signal.SIGKILL)

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, number)

    def left(self) -> list[Process]:
        """What is alive of what it has started."""
        found = {*marked(self.mark, self._leader), *filter(is_alive, self._descendants)}
        return [one for one in found if one.pid != self.pid]

    def how_it_ended(self) -> str:
        """After its end."""
        code = self._process.wait()
        return f"exited with code {code}" if code >= 0 else f"was killed by signal {-code} ({signal_name(-code)})"

    def close(self) -> None:
        self.socket.close()
        os.close(self.pidfd)


def is_alive(one: Process) -> bool:
    now = process(one.pid)
    return now is not None and now.alive and now.started == one.started


def marked(mark: str, leader: Process | None = None) -> list[Process]:
    """What is alive of hosts whose mark begins so, or is in the session that a host led."""
    assignment = f"{HOST_NAME}={mark}".encode()
    until = exec_deadline()

    def is_marked(one: Process) -> bool:
        return any(variable.startswith(assignment) for variable in variables(one.pid, until))

    found = (one for one in all_processes() if one.alive and one.pid != os.getpid())
    return [one for one in found if in_session(one, leader) or is_marked(one)]


def sweep(mark: str) -> None:
    """End what an earlier service's hosts have left: they themselves have died with it."""
    deadline = time.monotonic() + SWEEP_SECONDS
    while (found := marked(mark)) and time.monotonic() < deadline:
        kill(found)
        with suppress(ProcessLookupError):
            pidfd = os.pidfd_open(found[0].pid)
            try:
                select.select([pidfd], [], [], 1.0)
            finally:
                os.close(pidfd)
