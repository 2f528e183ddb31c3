"""A process of its own that runs one build, keeps what it prints, and ends all of it: at its end, past its time, or
when nobody wants it any more, which the end of standard input says, as it does when the service has died.

Standard library only: it begins as a launcher does.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections import deque
from functools import partial
from io import FileIO
from typing import NoReturn

from jobs.execution.ending import end_all
from jobs.execution.spawn import PR_SET_CHILD_SUBREAPER, die_with, prctl

FAILED, TOO_LONG, UNWANTED = 1, 2, 3
HEAD_BYTES, TAIL_BYTES = 192 * 1024, 64 * 1024
MOST_TOLD_BYTES = 16 * 1024  # less than a pipe holds, which nobody reads before the end
LINGER_SECONDS = 1.0  # for output, once the command that makes it has ended


def main() -> NoReturn:
    """The first line of standard input is JSON with `commands` (lists of words, one after another), `log` (a path) and
    `seconds` for all. What the log does not take is told by standard output.
    """
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    said = json.loads(sys.stdin.buffer.readline())
    last = time.monotonic() + said["seconds"]
    output = Output(said["log"])
    status = 0
    for command in said["commands"]:
        status = run(command, output, last)
        end_all()
        if status:
            break
    os.write(1, output.close())
    os._exit(status)


class Output:
    """Its head, and past that its tail; what lies between is left out, and said so. A disk that takes no more, as it is
    when a build has filled it, ends nothing: what is printed then says so itself.
    """

    def __init__(self, log: str) -> None:
        self._left = HEAD_BYTES
        self._tail: deque[bytes] = deque()
        self._tail_bytes = self._dropped = 0
        self._refused = ""
        self._file: FileIO | None = None
        try:
            self._file = FileIO(log, "a")
        except OSError as error:
            self._refused = str(error.strerror)

    def write(self, data: bytes) -> None:
        rest = self._keep(data[: self._left]) + data[self._left :]
        self._left -= min(self._left, len(data))
        if rest:
            self._tail.append(rest)
            self._tail_bytes += len(rest)
        while self._tail_bytes > TAIL_BYTES and len(self._tail) > 1:
            gone = len(self._tail.popleft())
            self._tail_bytes -= gone
            self._dropped += gone

    def close(self) -> bytes:
        """The end of what the log did not take."""
        left_out = f"\n({self._dropped} bytes left out)\n".encode() if self._dropped else b""
        rest = self._keep(left_out + b"".join(self._tail))
        if self._file:
            self._file.close()
        if not self._refused:
            return b""
        return rest[-MOST_TOLD_BYTES:] + f"\nerror: the log of the build cannot be written: {self._refused}\n".encode()

    def _keep(self, data: bytes) -> bytes:
        """What of it the log does not take."""
        while data and self._file and not self._refused:
            try:
                data = data[self._file.write(data) :]
            except OSError as error:
                self._refused = str(error.strerror)
        return data


def run(command: list[str], output: Output, last: float) -> int:
    """0, or why it came to nothing. What it has left running is the caller's to end."""
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=partial(die_with, os.getpid()),  # noqa: PLW1509 there is one thread here
        )
    except OSError as error:
        output.write(f"error: {command[0]} cannot be started: {error.strerror}\n".encode())
        return FAILED
    assert child.stdout is not None  # noqa: S101 it was asked for
    fd, ended = child.stdout.fileno(), os.pidfd_open(child.pid)
    poll = select.poll()
    for one in (0, fd, ended):
        poll.register(one, select.POLLIN)
    while True:
        left = last - time.monotonic()
        if left <= 0:
            return TOO_LONG
        for ready, _ in poll.poll(left * 1000):
            if ready == 0:
                return UNWANTED
            if ready == ended:
                drain(fd, output)
                if (code := child.wait()) < 0:
                    output.write(f"error: {command[0]} was killed by signal {-code}\n".encode())
                return FAILED if code else 0
            if not (data := os.read(fd, 1 << 16)):
                poll.unregister(fd)
            output.write(data)


def drain(fd: int, output: Output) -> None:
    """What is left in the pipe; something that it left running may hold that open."""
    last = time.monotonic() + LINGER_SECONDS
    while select.select([fd], [], [], max(0.0, last - time.monotonic()))[0]:
        if not (data := os.read(fd, 1 << 16)):
            return
        output.write(data)
