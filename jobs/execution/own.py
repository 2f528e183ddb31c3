"""What a runner's process is before its first attempt. A job may do to the process that is its parent what it may do to
any of its user's (`renice`, `taskset`, `prlimit`, another cgroup): the next attempt is not to inherit it.

Standard library only.
"""

from __future__ import annotations

import os
import resource
from typing import NamedTuple

from jobs.execution.limits import io_priority
from jobs.execution.spawn import OOM_SCORE_FILE, lower_oom_score
from jobs.execution.tree import read_proc

LIMITS = sorted({value for name, value in vars(resource).items() if name.startswith("RLIMIT_")})


class Own(NamedTuple):
    """`oom_score_adj`: for the job to have back, where the runner's is another. `marks`: all else."""

    oom_score_adj: int | None
    cores: set[int]
    marks: tuple[object, ...]


def begun() -> Own:
    oom_score = lower_oom_score()
    return Own(oom_score, os.sched_getaffinity(0), marks())


def marks() -> tuple[object, ...]:
    pid = os.getpid()
    return (
        os.getpriority(os.PRIO_PROCESS, 0),
        os.sched_getscheduler(0),
        io_priority(),
        read_proc(pid, OOM_SCORE_FILE.rpartition("/")[2]),
        read_proc(pid, "cgroup"),
        *map(resource.getrlimit, LIMITS),
    )


def is_as_begun(own: Own) -> bool:
    """After an attempt, whose cores are given back by this. Not if processes of another user are left of it."""
    os.sched_setaffinity(0, own.cores)
    return os.sched_getaffinity(0) == own.cores and marks() == own.marks and not has_children()


def has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
