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
from typing import BinaryIO, NoReturn

from jobs.execution.ending import end_all
from jobs.execution.spawn import PR_SET_CHILD_SUBREAPER, die_with, prctl

FAILED, TOO_LONG, UNWANTED = 1, 2, 3
HEAD_BYTES, TAIL_BYTES = 192 * 1024, 64 * 1024
LINGER_SECONDS = 1.0  # for output, once the command that makes it has ended


def main(order: str) -> NoReturn:
    """`order`: JSON with `commands` (lists of words, one after another), `log` (a path) and `seconds` for all."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    said = json.loads(order)
    last = time.monotonic() + said["seconds"]
    with open(said["log"], "ab") as file:  # noqa: PTH123 pathlib costs start-up
        output = Output(file)
        status = 0
        for command in said["commands"]:
            status = run(command, output, last)
            end_all()
            if status:
                break
        output.close()
    sys.stdout.flush()
    os._exit(status)


class Output:
    """Its head, and past that its tail; what lies between is left out, and said so."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = HEAD_BYTES
        self._tail: deque[bytes] = deque()
        self._tail_bytes = self._dropped = 0

    def write(self, data: bytes) -> None:
        self._file.write(data[: self._left])
        self._file.flush()
        rest = data[self._left :]
        self._left -= len(data) - len(rest)
        if rest:
            self._tail.append(rest)
            self._tail_bytes += len(rest)
        while self._tail_bytes > TAIL_BYTES and len(self._tail) > 1:
            gone = len(self._tail.popleft())
            self._tail_bytes -= gone
            self._dropped += gone

    def close(self) -> None:
        if self._dropped:
            self._file.write(f"\n({self._dropped} bytes left out)\n".encode())
        self._file.writelines(self._tail)


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
