"""What the machine of this node lets nobody enforce, in sentences for its page: what is not said is enforced."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from jobs.execution import cgroup_search, cgroups
from jobs.execution.cgroup_search import Found
from jobs.execution.cgroups import CPU, CPUSET, MEMORY, PIDS
from jobs.execution.confinement import LOOK_SECONDS

WITHOUT = {
    CPUSET: "Cores: {}. Jobs are pinned by affinity, which they can undo; they are put back every {:g} s.",
    CPU: "CPU quota: {}. What holds virtual slots, or cores that are bookkeeping only, is not capped at its demand.",
    MEMORY: "Memory: {}. It is looked at every {:g} s, so a job may pass its limit until the next look.",
    PIDS: "Number of processes: {}. They are counted every {:g} s, and a job that has too many is ended.",
}
HEED_PRIORITY = ("[bfq]", "[mq-deadline]")


def missing() -> list[str]:
    """Of this machine and this user, now."""
    schedulers = [cgroups.read(str(file)) for file in Path("/sys/block").glob("*/queue/scheduler")]
    return sentences(cgroup_search.found(), user_name(), os.getuid() == 0, schedulers)


def sentences(found: Found, user: str, root: bool, schedulers: list[str]) -> list[str]:
    """`user`: whom the service runs as. `schedulers`: what the kernel says of each disk, the chosen one in brackets."""
    said = [
        text.format(f"no cgroup may be made here ({found.refusals[controller]})", LOOK_SECONDS)
        for controller, text in WITHOUT.items()
        if controller in found.refusals
    ]
    if not root:
        said.append(f"Users: the service is not root. All jobs run as {user}, and none at a nice below 0.")
    if not any(name in text for text in schedulers for name in HEED_PRIORITY):
        said.append("I/O priority: no disk here has a scheduler that heeds it (bfq, mq-deadline).")
    return said


def user_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container may run under a number that has no name
        return f"user {os.getuid()}"
