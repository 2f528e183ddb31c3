"""What the process of a job takes on between fork and exec: its cgroups, its place at the disk, how large a file may
become that it writes, its user. Standard library only.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import resource
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from jobs.execution.cgroups import write
from jobs.execution.program import StartError, explained
from jobs.execution.rundir import OUTPUT, SCRIPTS, WORK
from jobs.execution.spec import Spec

LIBC = ctypes.CDLL(None, use_errno=True)
IOPRIO_SET = {"x86_64": 251, "aarch64": 30, "riscv64": 30, "armv7l": 314, "i686": 289, "ppc64le": 273, "s390x": 282}
IOPRIO_WHO_PROCESS, IOPRIO_CLASS_SHIFT = 1, 13
IO_PRIORITIES = {"normal": 0, "low": (2 << IOPRIO_CLASS_SHIFT) | 7, "idle": 3 << IOPRIO_CLASS_SHIFT}  # low: best effort


class User(NamedTuple):
    name: str
    uid: int
    gid: int
    home: str

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """`given` with what names a user; what is not the service's own was chosen by the job, and stays."""
        ours, theirs = own_names(), names_of(self.name, self.home)
        return {**given, **{name: theirs[name] for name in theirs if given.get(name, ours.get(name)) == ours.get(name)}}


class Limits(NamedTuple):
    """cgroups: files to write 0 to. user: None for the service's own."""

    cgroups: Sequence[str]
    io_priority: str
    max_file_bytes: int | None
    user: User | None


def limits_of(spec: Spec, cgroups: Sequence[str]) -> Limits:
    """StartError if the user cannot be had."""
    return Limits(cgroups, spec.io_priority, spec.max_file_bytes, user_of(spec.run_as))


def user_of(name: str) -> User | None:
    if not name:
        return None
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        raise StartError(f"user {name}", "there is none of this name on this node") from None
    if found.pw_uid == os.getuid():
        return None
    if os.getuid() != 0:
        raise StartError(f"user {name}", "only a service that is root may run a job as another user")
    return User(name, found.pw_uid, found.pw_gid, found.pw_dir)


def own_names() -> dict[str, str]:
    """Of the service's user, as variables: those that cron gives too, and scripts rely on."""
    try:
        found = pwd.getpwuid(os.getuid())
    except KeyError:  # a container may run under a number that has no name
        return {"HOME": "/"}
    return names_of(found.pw_name, found.pw_dir)


def names_of(user: str, home: str) -> dict[str, str]:
    return {"HOME": home, "USER": user, "LOGNAME": user}


def home() -> str:
    return own_names()["HOME"]


def be_nice(nice: int) -> None:
    """Of this process and what it forks. StartError if that is not allowed."""
    try:
        os.nice(nice)
    except PermissionError as error:
        reason = f"{error.strerror} (errno {error.errno}); only a service that is root may go below 0"
        raise StartError(f"nice {nice}", reason) from error


def take_on(limits: Limits) -> None:
    """By the job's process itself, the user last: it may do none of this. StartError if something is refused."""
    for file in limits.cgroups:
        with suppress(OSError):  # the runner sees that it is not there, takes it in, or says why not
            write(file, "0")
    if limits.io_priority != "normal":
        set_io_priority(limits.io_priority)
    if limits.max_file_bytes is not None:
        set_max_file(limits.max_file_bytes)
    if limits.user:
        become(limits.user)


def set_max_file(count: int) -> None:
    _, highest = resource.getrlimit(resource.RLIMIT_FSIZE)
    least = count if highest == resource.RLIM_INFINITY else min(count, highest)
    resource.setrlimit(resource.RLIMIT_FSIZE, (least, least))


def set_io_priority(name: str) -> None:
    """Of the calling thread."""
    call = IOPRIO_SET.get(os.uname().machine)
    if call is None:
        raise StartError(f"I/O priority {name}", f"cannot be set on a machine of this kind ({os.uname().machine})")
    if LIBC.syscall(call, IOPRIO_WHO_PROCESS, 0, IO_PRIORITIES[name]) != 0:
        number = ctypes.get_errno()
        raise explained(f"I/O priority {name}", OSError(number, os.strerror(number)))


def io_priority() -> int:
    """Of the calling thread, as the kernel numbers them; -1 where it does not tell."""
    call = IOPRIO_SET.get(os.uname().machine)
    return -1 if call is None else int(LIBC.syscall(call + 1, IOPRIO_WHO_PROCESS, 0))  # ioprio_get is the next call


def become(user: User) -> None:
    """Its output too: what a pipe's owner may not open, `echo done > /dev/stderr` cannot write to."""
    try:
        for stream in (1, 2):
            os.fchown(stream, user.uid, user.gid)
        os.initgroups(user.name, user.gid)
        os.setresgid(user.gid, user.gid, user.gid)
        os.setresuid(user.uid, user.uid, user.uid)
    except OSError as error:
        raise explained(f"user {user.name}", error) from error


# --- The user's files ---


def hand_over(rundir: str, user: User) -> None:
    """Give the user the workspace and the folder for what is kept, and the way to these and to its script; all else in
    the run directory stays closed.
    """
    for folder in (WORK, OUTPUT):
        os.chown(f"{rundir}/{folder}", user.uid, user.gid)
    give_way(rundir, user, 0o710)
    scripts = f"{rundir}/{SCRIPTS}"
    with suppress(FileNotFoundError):  # a command has none
        give_way(scripts, user, 0o750)
        for name in os.listdir(scripts):  # noqa: PTH208 pathlib costs start-up
            give_way(f"{scripts}/{name}", user, 0o750)


def give_way(path: str, user: User, mode: int) -> None:
    os.chown(path, -1, user.gid)
    os.chmod(path, mode)  # noqa: PTH101 as above
