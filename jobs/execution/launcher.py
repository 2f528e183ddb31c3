"""A warm, single-threaded Python that forks runners on request. Standard library only.

Over a SOCK_SEQPACKET socket pair comes one message per request, the path of a run directory and, as ancillary data, the
secrets of the attempt if it has any: see secrets.py. They are passed on, not read. Back goes a JSON object
with the runner's `pid` and, as ancillary data, its pidfd and one end of a socket: there the runner tells when the job
has started, it is told to cancel it, and the end of the attempt is the end of the socket; or the `error` that forbade
the fork. When the service is gone the launcher's socket ends and so does the launcher; runners live on until their
attempts have ended.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import NoReturn

from jobs.execution import moment
from jobs.execution.rundir import CANCEL_SIGNAL, MOST_PATH_BYTES
from jobs.execution.runners import Runners
from jobs.execution.serving import serve
from jobs.execution.spawn import close_all_but
from jobs.execution.undumpable import hide_process

DONE = object()


def main(fd: int, meanwhile: Iterable[None] = (), is_stale: Callable[[], bool] = lambda: False) -> NoReturn:
    """Serve requests from socket `fd` until its other end is closed, or until it is found to be stale by a request,
    which then is as if it had not been made; then end the process. `meanwhile`: work, done while there are none.
    """
    hide_process()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, CANCEL_SIGNAL):  # a runner is deaf until it is ready
        signal.signal(number, signal.SIG_IGN)
    ended = watch_children()
    service = socket.socket(fileno=fd)
    service.set_inheritable(False)
    moment.boot_id()  # read once, not in every runner
    gc.freeze()  # a collection in a child would copy every page of what was loaded here
    poll = select.poll()
    poll.register(service, select.POLLIN)
    poll.register(ended, select.POLLIN)
    runners = Runners(poll, fork_runner)
    work = iter(meanwhile)
    busy = True
    while True:
        busy = busy and next(work, DONE) is not DONE
        ready = [fd for fd, _ in poll.poll(0 if busy else runners.end_idle())]
        for fd in sorted(ready, key=service.fileno().__eq__):  # the service asks when it has seen that a runner is free
            if fd == ended:
                reap(ended)
            elif not runners.hear(fd):
                path, given = asked(service)
                if not path or is_stale():
                    os._exit(0)  # whatever a package has left running
                launch(service, runners, os.fsdecode(path), given, alone=busy or bool(given))
                for secret in given:
                    os.close(secret)


def watch_children() -> int:
    """Descriptor that becomes readable when a child has ended."""
    read, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return read


def reap(ended: int) -> None:
    """Runners that have ended; nobody else would take their status."""
    os.read(ended, 4096)
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return


def asked(service: socket.socket) -> tuple[bytes, list[int]]:
    """Path and secrets of the next request; no path if the service is gone."""
    try:
        path, given, _, _ = socket.recv_fds(service, MOST_PATH_BYTES, 1, socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError:  # it went without having read an answer
        return b"", []
    return path, given


def launch(service: socket.socket, runners: Runners, path: str, given: list[int], *, alone: bool) -> None:
    """`alone`: no other attempt is to have the same runner: it is given secrets, or lacks what is to be loaded yet."""
    with ExitStack() as ends:
        try:
            ours, theirs = map(ends.enter_context, socket.socketpair())
            ours.setblocking(False)
            pid = runners.start(path, theirs.fileno(), given, alone=alone)
        except OSError as error:
            answer(service, {"error": f"{error.strerror} (errno {error.errno})"}, [])
            return
        try:
            pidfd = os.pidfd_open(pid)  # not reaped yet, so surely this one
        except OSError:  # out of descriptors: the service finds the runner by its claim
            answer(service, {"pid": pid}, [])
            return
        try:
            answer(service, {"pid": pid}, [pidfd, ours.fileno()])
        finally:
            os.close(pidfd)


def answer(service: socket.socket, reply: dict[str, object], fds: list[int]) -> None:
    try:
        socket.send_fds(service, [json.dumps(reply).encode()], fds)
    except (BrokenPipeError, ConnectionResetError):  # the service is gone; the runner will be adopted by the next
        return


def fork_runner(path: str, notes: int, given: list[int], line: int | None) -> int:
    pid = os.fork()
    if pid == 0:
        become_runner(path, notes, given, line)
    return pid


def become_runner(path: str, notes: int, given: list[int], line: int | None) -> NoReturn:
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        # Above all the launcher's socket: while a runner held it, the launcher's death would not show.
        close_all_but(notes, *given, *([] if line is None else [line]))
        serve(path, notes, given, line)
        code = 0
    except BaseException:  # noqa: BLE001 whatever it is, it must not go on as a second launcher
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
