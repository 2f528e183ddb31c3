"""Forks the job: its own session, its cores, clean signals and descriptors. Standard library only.

Everything that a child needs is imported before the fork, and what goes wrong between fork and exec comes back
through a pipe that exec closes, so that a job that cannot start is told from one that ran and failed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import NamedTuple, NoReturn

from jobs.execution.beginning import Beginning
from jobs.execution.limits import LIBC, Limits, take_on
from jobs.execution.program import OtherFormError, Program, StartError, check, explain_exec, explained

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
ERROR_FD = 3
OOM_SCORE_FILE = "/proc/self/oom_score_adj"
OOM_SCORE = b"-500"
BUSY_SECONDS = 1.0

Become = Callable[[Program, Mapping[str, str]], None]


class Surroundings(NamedTuple):
    env: Mapping[str, str]
    directory: str
    umask: int
    oom_score_adj: int | None  # to set back in the job, where the runner has changed its own
    stdout: int
    stderr: int
    limits: Limits


def prctl(option: int, value: int) -> None:
    if LIBC.prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def pin(cores: list[int]) -> None:
    """Pin this process, and so what it forks from now on, to `cores`. StartError if they cannot be had."""
    try:
        os.sched_setaffinity(0, cores)
    except (OSError, ValueError, OverflowError) as error:
        raise cores_refused(cores, error) from error


def cores_refused(cores: list[int], error: Exception) -> StartError:
    usable = ", ".join(map(str, sorted(os.sched_getaffinity(0))))
    named = ", ".join(map(str, cores))
    return StartError(f"cores {named}", f"they may not be used here ({error}); usable are {usable}")


def fork_to_exec(become: Callable[[Become], object]) -> int:
    pid = os.fork()
    if pid == 0:
        become(execute)
    return pid


def start_job(
    program: Program, around: Surroundings, fork: Callable[[Callable[[Become], object]], int], beginning: Beginning
) -> int:
    """Process id of the job, which has begun when this returns. StartError if it could not be, OtherFormError if its
    file is of another form, NotBegunError if it was waited for long enough.

    fork: makes a process and has it become the job, by what it passes: `fork_to_exec`, or warm.py's.
    """
    told, tell = os.pipe2(os.O_CLOEXEC)
    try:
        try:
            pid = fork(partial(become_job, program, around, os.getpid(), tell))
        finally:
            os.close(tell)
        error = beginning.read(pid, told, partial(waits_for, program, around))
    finally:
        os.close(told)
    if error:
        os.waitpid(pid, 0)
        raise error_of(error)
    return pid


def waits_for(program: Program, around: Surroundings, pid: int) -> str:
    """What process `pid`, which has not become the job yet, most likely asks for: until it has its directory, that."""
    with suppress(OSError):
        if os.readlink(f"/proc/{pid}/cwd") == os.readlink("/proc/self/cwd"):  # noqa: PTH115 pathlib costs start-up
            return f"working directory {around.directory}"
    return program.checked or program.file


def words_of(file: str, reason: str) -> bytes:
    """What is wrong with a file; of a form, without a file."""
    return f"{file}\0{reason}".encode("utf-8", "surrogateescape")


def error_of(words: bytes) -> StartError | OtherFormError:
    file, reason = words.decode("utf-8", "surrogateescape").split("\0")
    return StartError(file, reason) if file else OtherFormError(reason)


def become_job(program: Program, around: Surroundings, runner: int, tell: int, then: Become) -> None:
    """Returns if `then` does, with the job's surroundings in place."""
    try:
        prctl(PR_SET_DUMPABLE, 1)  # the runner is not, and only an exec would undo that
        os.setsid()
        die_with(runner)
        tell = take_descriptors(around, tell)
        default_signals()
        os.umask(around.umask)
        set_oom_score(around.oom_score_adj)
        take_on(around.limits)
        die_with(runner)  # again: a change of user lets go of it
        enter(around.directory)
        check(program)
        return then(program, around.env)
    except StartError as error:
        os.write(tell, words_of(error.file, error.reason))
    except OtherFormError as error:
        os.write(tell, words_of("", error.form))
    except BaseException as error:  # noqa: BLE001 whatever it is, it must not go on as a second runner
        os.write(tell, words_of(program.file, f"{type(error).__name__}: {error}"))
    os._exit(127)


def die_with(runner: int) -> None:
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != runner:  # it died before the line above took hold
        os._exit(1)


def take_descriptors(around: Surroundings, tell: int) -> int:
    null = os.open("/dev/null", os.O_RDONLY)
    for have, want in ((null, 0), (around.stdout, 1), (around.stderr, 2)):
        os.dup2(have, want)
    if tell != ERROR_FD:
        os.dup2(tell, ERROR_FD, inheritable=False)
    close_all_but(ERROR_FD)
    return ERROR_FD


def close_all_but(*kept: int) -> None:
    """Close every descriptor but 0, 1, 2 and those `kept`. Not by counting up to the limit, which may be a billion."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 pathlib costs start-up
        if int(name) not in (0, 1, 2, *kept):
            close_if_open(int(name))


def close_if_open(fd: int) -> None:
    try:
        os.close(fd)
    except OSError as error:
        if error.errno != errno.EBADF:  # the one that the list itself was read through
            raise


def default_signals() -> None:
    """Python ignores SIGPIPE and others; an exec'd program would inherit that: `yes | head` would not end."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if signal.getsignal(number) is not signal.SIG_DFL:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def lower_oom_score() -> int | None:
    """Make the kernel choose others first when memory runs out. Returns the score from before, which the job gets
    back; None where only root may do this.
    """
    try:
        fd = os.open(OOM_SCORE_FILE, os.O_RDWR | os.O_CLOEXEC)  # not even this, since we are undumpable
    except PermissionError:
        return None
    try:
        before = int(os.read(fd, 16))
        os.write(fd, OOM_SCORE)
    except PermissionError:
        return None
    finally:
        os.close(fd)
    return before


def set_oom_score(value: int | None) -> None:
    if value is not None:
        fd = os.open(OOM_SCORE_FILE, os.O_WRONLY | os.O_CLOEXEC)
        os.write(fd, b"%d" % value)
        os.close(fd)


def enter(directory: str) -> None:
    try:
        os.chdir(directory)
    except OSError as error:
        named = f"working directory {directory}"
        raise explained(named, error) from error


def execute(program: Program, env: Mapping[str, str]) -> NoReturn:
    """A file that somebody writes just now may soon be whole; one that we wrote, open in a child that has not come to
    its own exec yet, is.
    """
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            os.execve(program.file, program.argv, dict(env))  # noqa: S606 what the job's owner asked for, by design
        except OSError as error:
            if error.errno != errno.ETXTBSY or time.monotonic() > until:
                raise explain_exec(program, error) from error
        time.sleep(0.01)
