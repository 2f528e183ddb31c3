"""Keeps other processes of the same user out of this one's memory, descriptors and environment. Standard library only.

A process that is not dumpable has its /proc entries owned by root, cannot be traced and leaves no core: what a job, as
the service's own user, cannot open are the secrets on their way through service, launcher and runner. What all may
read of it (stat, its threads and children) stays so; signals, pidfds and record locks do not heed it. A fork inherits
it, an exec undoes it. Against root nothing helps.
"""

from __future__ import annotations

from jobs.execution.spawn import PR_SET_DUMPABLE, prctl


def hide_process() -> None:
    prctl(PR_SET_DUMPABLE, 0)
