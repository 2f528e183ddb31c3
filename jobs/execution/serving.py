"""The process of a runner: it lives one attempt after another, as its launcher gives them. Standard library only."""

from __future__ import annotations

import os
import signal
import socket

from jobs.execution import own
from jobs.execution.rundir import MOST_PATH_BYTES, RETIRE_SIGNAL
from jobs.execution.runner import run
from jobs.execution.runners import RESTS
from jobs.execution.spawn import close_all_but

MOST_ATTEMPTS = 200  # of one process: what it loses to each is not much, but for ever


class Retirement:
    """Whoever adopts an attempt waits for the end of the process that has it: so this one takes no other."""

    def __init__(self) -> None:
        self.due = False
        self.resting = False
        signal.signal(RETIRE_SIGNAL, self._on_signal)

    def _on_signal(self, *_: object) -> None:
        self.due = True
        if self.resting:
            os._exit(0)


def serve(path: str, notes: int, given: list[int], line: int | None) -> None:
    """Live the attempt in `path`, and those that come by `line` after it, a socket to the launcher; returns when this
    process is to end. `notes`: a socket to the service, for this attempt. `given`: its secrets, sealed.
    """
    os.setsid()
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    retirement = Retirement()
    begun = own.begun()
    launcher = None if line is None else socket.socket(fileno=line)
    for left in reversed(range(MOST_ATTEMPTS)):
        fit = run(path, notes, begun, *given)
        retirement.resting = True  # before it is asked whether it is due: who tells us then may see the claim locked
        if launcher is None or not left or retirement.due or not (fit and own.is_as_begun(begun)):
            return
        close_all_but(launcher.fileno(), notes)  # with its claim
        try:
            launcher.send(RESTS)  # first, since the service asks for the next as soon as it sees the end
            os.close(notes)
            data, fds, _, _ = socket.recv_fds(launcher, MOST_PATH_BYTES, 1, socket.MSG_CMSG_CLOEXEC)
        except OSError:  # the launcher has ended
            return
        retirement.resting = False
        if not fds:
            return
        path, notes = os.fsdecode(data), fds[0]
