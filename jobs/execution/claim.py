"""Who may act for an attempt: the runner that starts its job, or the recovery that found that it never ran.

`claim` is a file with a record lock on it. Its length is what it says, since that is
the one thing that even a full disk lets one write. Whoever has the lock may read it, and write it while it is 0:

    runner     creates it (O_EXCL: a second runner has no business here), locks it, writes RUNNER, and keeps the
               lock until it is through with the attempt, so that alive = locked
    recovery   opens it (creating it if need be), locks it, writes RECOVERY and lets go: a runner that comes later
               finds the file or what it says, and exits

The lock is POSIX (F_SETLK), not flock or OFD: a forked job does not inherit it, and F_GETLK tells the holder's pid.
It is lost when the process closes *any* descriptor of the file, so a runner opens it once and closes it last.
Every row of this is explored in tests/core/crash_model.py. Standard library only.
"""

from __future__ import annotations

import fcntl
import os
import signal
import struct
from contextlib import suppress

from jobs.execution.rundir import CLAIM, RETIRE_SIGNAL, NotAFileError, RunDir, sync

UNSAID, RUNNER, RECOVERY = 0, 1, 2
FLOCK = "hhqqi4x"  # struct flock: type, whence, start, length, pid


class ForeignHolderError(RuntimeError):
    """The lock is held by a process that this one cannot see."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"the attempt in {path} is alive, but its process is in another pid namespace or on another machine: "
            "start the service where it ran before, or wait until the attempt has ended"
        )


def claim_as_runner(rundir: RunDir) -> int | None:
    """The descriptor that holds the lock, to be closed at the end of all; None if it is not this runner's to run.
    Durable on return.

    In every other case nothing is held: a host lives on, and what it held would count as alive.
    """
    try:
        fd = rundir.open(CLAIM, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    except (FileExistsError, FileNotFoundError):  # claimed by another; or the directory was removed meanwhile
        return None
    claimed = False
    try:
        if lock(fd) and said(fd) == UNSAID:
            say(fd, RUNNER)
            claimed = True
    finally:
        if not claimed:
            os.close(fd)
    return fd if claimed else None


def claim_as_recovery(rundir: RunDir) -> int | None:
    """What the claim says now that nobody alive can change it: RUNNER (it ran and is gone) or RECOVERY (it never
    ran, and never will from this directory). None if a runner holds it: the attempt is alive.
    """
    fd = rundir.open(CLAIM, os.O_RDWR | os.O_CREAT)
    try:
        if not lock(fd):
            return None
        if said(fd) == UNSAID:
            say(fd, RECOVERY)
        return said(fd)
    finally:
        os.close(fd)


def holder(rundir: RunDir) -> int | None:
    """Process id of the runner that holds the claim, None if nobody does. ForeignHolderError if it is out of sight."""
    try:
        fd = rundir.open(CLAIM, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        asked = struct.pack(FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack(FLOCK, fcntl.fcntl(fd, fcntl.F_GETLK, asked))
    finally:
        os.close(fd)
    if kind == fcntl.F_UNLCK:
        return None
    if pid <= 0:
        raise ForeignHolderError(rundir.path)
    return int(pid)


def has_runner(path: str) -> bool:
    """Whether an attempt that is alive holds the claim in run directory `path`, or may do so, out of sight."""
    try:
        with RunDir(path) as rundir:
            return holder(rundir) is not None
    except (FileNotFoundError, NotAFileError):
        return False
    except (ForeignHolderError, OSError):
        return True


def open_holder(rundir: RunDir) -> tuple[int, int] | None:
    """(pid, pidfd) of the runner that holds the claim; None if nobody does. It will end when it holds it no more.

    Asked again after the pidfd is open and the runner was told: only if it still holds the lock then is the pidfd
    surely of that process and not of another that got its number, and was it told before it could take another attempt.
    """
    while (pid := holder(rundir)) is not None:
        try:
            pidfd = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(pidfd, RETIRE_SIGNAL)
        if holder(rundir) == pid:
            return pid, pidfd
        os.close(pidfd)
    return None


def said(fd: int) -> int:
    return os.fstat(fd).st_size


def say(fd: int, word: int) -> None:
    os.ftruncate(fd, word)
    sync(fd)


def lock(fd: int) -> bool:
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if isinstance(error, (BlockingIOError, PermissionError)):  # EAGAIN or EACCES: POSIX allows either
            return False
        raise
    return True
