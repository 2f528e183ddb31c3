"""Notes which attempt starts a process, by whatever Python starts it, and gives it the token of that.

Covers subprocess and asyncio's, os.posix_spawn, os.system, os.fork and multiprocessing; so what is forked by them in a
process that a callable has forked, which says so by a pipe.
"""

from __future__ import annotations

import _posixsubprocess
import multiprocessing.process
import os
import signal
import stat
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from jobs.callables import streams
from jobs.callables.children import NOBODY
from jobs.callables.errors import JobCancelled
from jobs.execution.tree import TOKEN_NAME

FOR_ALL = ("from multiprocessing.resource_tracker import ", "from multiprocessing.forkserver import ")
Started = Callable[[int, streams.Printing | None], None]
MARK = f"{TOKEN_NAME}=".encode()


def install(note: Callable[[int, str], None]) -> int:
    """From now on, in this process. note: called with process id and token. Returns the end of a pipe to read from,
    with a line of both for each fork.
    """
    here = os.getpid()

    def started(pid: int, attempt: streams.Printing | None) -> None:
        if os.getpid() == here:
            note(pid, attempt.token if attempt else NOBODY)
            if attempt and attempt.starts_no_more:  # it ended just now, and so it may be that nobody looks any more
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    read, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    note_programs(started)
    note_forks(started)
    report_forks(write)
    return read


def starting() -> streams.Printing | None:
    """The attempt that is about to start a process, if it is one. JobCancelled if it may not any more."""
    attempt = streams.current.get()
    if attempt is not None and attempt.starts_no_more:
        raise JobCancelled("no process is started: the attempt of this thread is over")
    return attempt


def note_programs(started: Started) -> None:
    fork_exec = _posixsubprocess.fork_exec

    def forks(args: Any, files: Any, close_fds: bool, fds: Any, cwd: Any, env: Any, /, *more: Any) -> int:
        attempt = starting()
        if any(isinstance(one, str) and one.startswith(FOR_ALL) for one in args):
            attempt = None
        if attempt:
            given = [b"%b=%b" % one for one in os.environb.items()] if env is None else env
            env = [*(one for one in given if not one.startswith(MARK)), MARK + attempt.token.encode()]
        pid = fork_exec(args, files, close_fds, fds, cwd, env, *more)
        started(pid, attempt)
        return pid

    def spawning(spawn: Callable[..., int]) -> Callable[..., int]:
        def spawns(path: Any, argv: Any, env: Mapping[Any, Any], **more: Any) -> int:
            attempt = starting()
            pid = spawn(path, argv, {**env, TOKEN_NAME: attempt.token} if attempt else env, **more)
            started(pid, attempt)
            return pid

        return spawns

    def system(command: str | bytes) -> int:
        code = subprocess.call(command, shell=True)  # noqa: S602 what os.system is
        return code << 8 if code >= 0 else -code

    _posixsubprocess.fork_exec = subprocess._fork_exec = forks  # type: ignore[attr-defined]  # the one of both
    os.posix_spawn, os.posix_spawnp = spawning(os.posix_spawn), spawning(os.posix_spawnp)
    os.system = system  # type: ignore[assignment]  # paths too are given to the shell as they are


def note_forks(started: Started) -> None:
    fork, forkpty, start = os.fork, os.forkpty, multiprocessing.process.BaseProcess.start

    def forks() -> int:
        attempt = starting()
        if pid := fork():
            started(pid, attempt)
        return pid

    def forks_pty() -> tuple[int, int]:
        attempt = starting()
        pid, fd = forkpty()
        if pid:
            started(pid, attempt)
        return pid, fd

    def starts(process: Any) -> None:
        """One of a fork server is no child of ours."""
        attempt = starting()
        start(process)
        started(process.pid, attempt)

    os.fork, os.forkpty = forks, forks_pty
    multiprocessing.process.BaseProcess.start = starts  # type: ignore[assignment,method-assign]  # a wrapper of it


def report_forks(pipe: int) -> None:
    """One whose parent has gone before it was seen has nothing else by which it is known."""
    number = os.fstat(pipe).st_ino

    def report() -> None:
        if attempt := streams.current.get():
            os.environ[TOKEN_NAME] = attempt.token  # for what it starts
            with suppress(OSError):
                found = os.fstat(pipe)
                if stat.S_ISFIFO(found.st_mode) and found.st_ino == number:  # it may have made its descriptors others
                    os.write(pipe, f"{os.getpid()} {attempt.token}\n".encode())

    os.register_at_fork(after_in_child=report)
