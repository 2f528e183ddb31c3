"""How busy each core of this machine was since the last look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import psutil

ONLINE = Path("/sys/devices/system/cpu/online")


class CoreTimes(NamedTuple):
    """CPU seconds of one core since boot."""

    busy: float
    total: float


Reading = Mapping[int, CoreTimes]


class CoreLoad:
    """Successive samples of the load of each core, by its id. Not safe for threads: one sampler, one reader."""

    def __init__(self, read: Callable[[], Reading] | None = None) -> None:
        self._read = read or read_core_times
        self._before: Reading = {}

    def sample(self) -> dict[int, float]:
        """Load from 0.0 to 1.0 per core id since the previous call; empty at the first one.

        A core that has just come online, or whose counters have gone back, is left out until the next sample.
        """
        before, now = self._before, self._read()
        self._before = now
        return {core: load for core in now if (load := _between(before.get(core), now[core])) is not None}


def read_core_times() -> dict[int, CoreTimes]:
    """Times of all cores that are online. Waiting for a disk (iowait) and the hypervisor's share are not busy."""
    return {
        core: _core_times(times) for core, times in zip(online_cores(), psutil.cpu_times(percpu=True), strict=False)
    }


def online_cores() -> list[int]:
    """Ids of the cores in the order in which psutil lists them: with core 1 offline its second line is core 2."""
    try:
        return parse_core_list(ONLINE.read_text())
    except OSError:  # a container without sysfs
        return list(range(psutil.cpu_count() or 1))


def parse_core_list(text: str) -> list[int]:
    """`0-2,4` as [0, 1, 2, 4], the kernel's form for sets of cores."""
    cores: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        cores.extend(range(int(first), int(last or first) + 1))
    return cores


def _core_times(times: psutil._pslinux.scputimes) -> CoreTimes:
    # guest time is counted within user time already
    idle = times.idle + getattr(times, "iowait", 0.0) + getattr(times, "steal", 0.0)
    busy = times.user + times.nice + times.system + getattr(times, "irq", 0.0) + getattr(times, "softirq", 0.0)
    return CoreTimes(busy, busy + idle)


def _between(before: CoreTimes | None, now: CoreTimes) -> float | None:
    if before is None:
        return None
    busy, total = now.busy - before.busy, now.total - before.total
    if total <= 0 or busy < 0:
        return None
    return min(1.0, busy / total)
