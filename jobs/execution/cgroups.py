"""The cgroups of one attempt: a folder in each hierarchy, named by its token, with what the attempt may use.

Version 2 has one hierarchy for all controllers, version 1 one for each. A machine may have both; then version 2 has no
controllers there, but it alone can kill all of a cgroup at once, which here counts as a controller of its own (KILL).
`bases` says by controller below which folder attempts get theirs: cgroup_search.py finds out where that may be done.
Standard library only.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterable, Mapping
from contextlib import suppress

from jobs.execution.tree import QUICK_LOOKS, Process, process

CPUSET, CPU, MEMORY, PIDS, KILL = "cpuset", "cpu", "memory", "pids", "kill"
PERIOD_MICROSECONDS = 100_000
MAY_BE_MISSING = {"memory.swap.max", "memory.oom.group", "memory.memsw.limit_in_bytes"}  # swap that is not counted


def is_v2(folder: str) -> bool:
    return os.path.exists(f"{folder}/cgroup.controllers")  # noqa: PTH110 pathlib costs start-up


def settings(controller: str, amount: str, folder: str) -> list[tuple[str, str]]:
    """Files of a cgroup and what to write there. `amount`: core ids with commas, cores' worth, bytes or a number."""
    v2 = is_v2(folder)
    if controller == CPUSET:
        nodes = [] if v2 else [("cpuset.mems", read(f"{os.path.dirname(folder)}/cpuset.mems"))]  # noqa: PTH120 as above
        return [*nodes, ("cpuset.cpus", amount)]
    if controller == CPU:
        quota = str(int(float(amount) * PERIOD_MICROSECONDS))
        both = [("cpu.cfs_period_us", str(PERIOD_MICROSECONDS)), ("cpu.cfs_quota_us", quota)]
        return [("cpu.max", f"{quota} {PERIOD_MICROSECONDS}")] if v2 else both
    if controller == MEMORY:
        if v2:
            return [("memory.max", amount), ("memory.swap.max", "0"), ("memory.oom.group", "1")]
        return [("memory.limit_in_bytes", amount), ("memory.memsw.limit_in_bytes", amount)]
    return [("pids.max", amount)] if controller == PIDS else []


# --- Folders ---


def make_base(base: str, controller: str) -> None:
    """Make the folder below which attempts get theirs, or see that it is there. OSError if that may not be."""
    above = os.path.dirname(base)  # noqa: PTH120 as above
    hand_down(above, controller)
    with suppress(FileExistsError):
        os.mkdir(base)  # noqa: PTH102 as above
    hand_down(base, controller)
    if controller == CPUSET and not is_v2(base):  # in version 1 it has none, and its own cgroups could have none
        for name in ("cpuset.mems", "cpuset.cpus"):
            if not read(f"{base}/{name}"):
                write(f"{base}/{name}", read(f"{above}/{name}"))


def hand_down(folder: str, controller: str) -> None:
    """Version 2: let the cgroups in `folder` have the controller."""
    if is_v2(folder) and controller != KILL and controller not in read(f"{folder}/cgroup.subtree_control").split():
        write(f"{folder}/cgroup.subtree_control", f"+{controller}")


def make(base: str, name: str, controller: str, amount: str) -> str:
    """The cgroup `name` in `base` with its limit. OSError if it may not be made."""
    if os.path.exists(base):  # noqa: PTH110 as above
        with suppress(OSError):
            return make_in(base, name, controller, amount)
    # A service that ends, or begins, takes along what is empty, also while we are at it.
    make_base(base, controller)
    return make_in(base, name, controller, amount)


def make_in(base: str, name: str, controller: str, amount: str) -> str:
    folder = f"{base}/{name}"
    with suppress(FileExistsError):
        os.mkdir(folder)  # noqa: PTH102 as above
    for file, value in settings(controller, amount, folder):
        try:
            write(f"{folder}/{file}", value)
        except FileNotFoundError:
            if file not in MAY_BE_MISSING:
                raise
    return folder


def take_in(folder: str, pids: Iterable[int]) -> None:
    """Move those that are not in the cgroup; what they fork from then on is born in it."""
    inside = set(members(folder))
    for pid in pids:
        if pid not in inside:
            with suppress(ProcessLookupError):
                write(f"{folder}/cgroup.procs", str(pid))


# --- By name, for whoever clears up ---


def folders_of(bases: Mapping[str, str], name: str) -> list[str]:
    """Once each: in version 2 all controllers have the same."""
    return list(dict.fromkeys(f"{base}/{name}" for base in bases.values()))


def members(folder: str) -> list[int]:
    """Process ids in the cgroup, those that wait to be reaped too; none if it is gone. Not those of processes that have
    none here, in another pid namespace: they are listed as 0, and a KILL to 0 hits our own process group.
    """
    return [int(pid) for pid in read(f"{folder}/cgroup.procs").split() if pid != "0"]


def living(folder: str) -> list[Process]:
    """What is alive in the cgroup. One that does nothing but fork and exit is gone when it is looked at: so again."""
    for _ in range(QUICK_LOOKS):
        pids = members(folder)
        found = [one for one in map(process, pids) if one and one.alive]
        if found or not pids:
            return found
    return []


def remove(bases: Mapping[str, str], name: str) -> None:
    """Those that are empty: what somebody still lives in stays."""
    for folder in folders_of(bases, name):
        with suppress(OSError):
            os.rmdir(folder)  # noqa: PTH106 as above


def kill_all(folder: str) -> None:
    """KILL all in it in one go, those too that fork just then. Fine if it is gone."""
    with suppress(FileNotFoundError):
        write(f"{folder}/cgroup.kill", "1")


def kill_members(folder: str) -> None:
    """KILL those in it. Where the kernel does not do so in one go, by looks as short as tree.kill_children's."""
    kill_all(folder)
    for _ in range(QUICK_LOOKS):
        for pid in set(members(folder)) - {os.getpid()}:  # a job of root's may move anybody into its cgroup
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


# --- What the kernel says ---


def oom_kills(folder: str) -> int:
    """How many processes the kernel has killed because the cgroup had no memory left."""
    text = read(f"{folder}/memory.events") or read(f"{folder}/memory.oom_control")
    counts = dict(line.split() for line in text.splitlines())
    return int(counts.get("oom_kill", 0))


def peak_bytes(folder: str) -> int:
    """The most memory that it ever had, what was cached for it too; 0 where the kernel does not tell."""
    return int(read(f"{folder}/memory.peak") or read(f"{folder}/memory.max_usage_in_bytes") or 0)


def read(file: str) -> str:
    """Without its last newline; empty if there is no such file."""
    try:
        fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return b"".join(iter(lambda: os.read(fd, 1 << 16), b"")).decode().strip()
        finally:
            os.close(fd)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENODEV):  # the latter: it is being removed just now
            raise
        return ""


def write(file: str, value: str) -> None:
    """FileNotFoundError also where it is being removed just now."""
    fd = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, value.encode())
    except OSError as error:
        if error.errno == errno.ENODEV:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file) from error
        raise
    finally:
        os.close(fd)
