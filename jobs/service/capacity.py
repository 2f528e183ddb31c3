"""What this machine lets the service give out: cores by id, memory, and what has to be said about it."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

import psutil

CGROUP = Path("/sys/fs/cgroup")
# cgroup v1 says "no limit" with a number near the largest of 64 bits.
UNLIMITED = 2**60


@dataclass(frozen=True, slots=True)
class Capacity:
    """`cores`: ids that may be given out. `notices`: sentences for people about what is not as it seems."""

    cores: tuple[int, ...]
    overcommit: float
    memory_mb: int
    notices: tuple[str, ...]


def measure(cores: int | None, overcommit: float, memory_mb: int | None, root: Path = CGROUP) -> Capacity:
    """The allowed set and quota of this process, not the machine's count; or as many cores as were asked for."""
    allowed = sorted(os.sched_getaffinity(0))
    quota = cpu_quota(root)
    notices: list[str] = []
    ids = allowed
    if quota is not None and quota < len(allowed):
        ids = allowed[: max(1, math.floor(quota))]
        notices.append(
            f"This machine has {len(allowed)} cores, but a quota of {quota:g}: {_count(len(ids))} given out."
        )
    if cores is not None:
        ids = named(cores, allowed)
        if cores > len(allowed):
            notices.append(
                f"{_count(cores)} were asked for and {len(allowed)} exist: the others are bookkeeping only, "
                "and what holds them is not pinned."
            )
    return Capacity(tuple(ids), overcommit, memory_mb or memory_total_mb(root), tuple(notices))


def named(count: int, allowed: list[int]) -> list[int]:
    """`count` core ids: the allowed ones first, then ids beyond them that name no core."""
    beyond = max(allowed) + 1
    return (allowed + [beyond + n for n in range(max(0, count - len(allowed)))])[:count]


def cpu_quota(root: Path = CGROUP) -> float | None:
    """Cores' worth of CPU time that the cgroup allows (v2, else v1); None without a limit."""
    v2 = _text(root / "cpu.max").split()
    if len(v2) == 2 and v2[0] != "max":
        return int(v2[0]) / int(v2[1])
    quota, period = _text(root / "cpu/cpu.cfs_quota_us"), _text(root / "cpu/cpu.cfs_period_us")
    if quota and period and int(quota) > 0:
        return int(quota) / int(period)
    return None


def memory_total_mb(root: Path = CGROUP) -> int:
    """The machine's memory, or its cgroup's limit if that is lower; megabytes of 1024 x 1024 bytes."""
    total = int(psutil.virtual_memory().total)
    for file in (root / "memory.max", root / "memory/memory.limit_in_bytes"):
        text = _text(file)
        if text.isdigit() and int(text) < UNLIMITED:
            total = min(total, int(text))
    return total // (1024 * 1024)


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:  # this kernel has no such controller
        return ""


def _count(number: int) -> str:
    return "1 core" if number == 1 else f"{number} cores"
