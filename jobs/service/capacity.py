"""What this machine lets the service give out: cores by id, memory, and what has to be said about it."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True, slots=True)
class Cgroups:
    """Where the limits of this process are written: in its cgroup (v1 or v2) and in all above it."""

    root: Path = Path("/sys/fs/cgroup")
    membership: Path = Path("/proc/self/cgroup")

    def folders(self, controller: str) -> list[Path]:
        """From the process's own cgroup up to the root, for v2 and for the v1 hierarchy of this controller."""
        found = []
        for line in _text(self.membership).splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in ("", controller) or controller in controllers.split(","):
                mounted = self.root / controllers if controllers else self.root
                inner = mounted / path.lstrip("/")
                found += [inner, *(above for above in inner.parents if above.is_relative_to(mounted))]
        return found


@dataclass(frozen=True, slots=True)
class Capacity:
    """`cores`: ids that may be given out. `notices`: sentences for people about what is not as it seems."""

    cores: tuple[int, ...]
    overcommit: float
    memory_mb: int
    notices: tuple[str, ...]


def measure(cores: int | None, overcommit: float, memory_mb: int | None, cgroups: Cgroups | None = None) -> Capacity:
    """The allowed set and quota of this process, not the machine's count; or as many cores as were asked for."""
    cgroups = cgroups or Cgroups()
    allowed = sorted(os.sched_getaffinity(0))
    memory = memory_mb or memory_total_mb(cgroups)
    if cores is not None:
        return Capacity(named(cores, allowed), overcommit, memory, _notices_of_asked(cores, len(allowed)))
    quota = cpu_quota(cgroups)
    if quota is None or quota >= len(allowed):
        return Capacity(tuple(allowed), overcommit, memory, ())
    ids = tuple(allowed[: max(1, math.floor(quota))])
    notice = f"This process may use {len(allowed)} cores, but has a quota of {quota:g}: {_count(len(ids))} given out."
    return Capacity(ids, overcommit, memory, (notice,))


def _notices_of_asked(asked: int, there: int) -> tuple[str, ...]:
    if asked <= there:
        return ()
    beyond = "the others are bookkeeping only, and what holds them is not pinned."
    return (f"{_count(asked)} were asked for and {there} exist: {beyond}",)


def named(count: int, allowed: list[int]) -> tuple[int, ...]:
    """`count` core ids: the allowed ones first, then ids beyond them that name no core."""
    beyond = max(allowed) + 1
    return tuple((allowed + [beyond + n for n in range(max(0, count - len(allowed)))])[:count])


def cpu_quota(cgroups: Cgroups) -> float | None:
    """Cores' worth of CPU time that this process may use: the least that its cgroups allow; None without a limit."""
    quotas = []
    for folder in cgroups.folders("cpu"):
        v2 = _text(folder / "cpu.max").split()
        quota, period = (
            v2 if len(v2) == 2 else (_text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us"))
        )
        if quota.isdigit() and period.isdigit():
            quotas.append(int(quota) / int(period))
    return min(quotas, default=None)


def memory_total_mb(cgroups: Cgroups) -> int:
    """The machine's memory, or the least limit of its cgroups if lower; megabytes of 1024 x 1024 bytes."""
    limits = [int(psutil.virtual_memory().total)]
    for folder in cgroups.folders("memory"):
        texts = (_text(folder / "memory.max"), _text(folder / "memory.limit_in_bytes"))
        limits += [int(text) for text in texts if text.isdigit()]
    return min(limits) // (1024 * 1024)


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:  # this kernel has no such controller, or it says nothing here
        return ""


def _count(number: int) -> str:
    return "1 core" if number == 1 else f"{number} cores"
