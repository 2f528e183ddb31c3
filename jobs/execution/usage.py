"""What the tree of a job uses, in samples of the whole. Of memory the kernel's own peak is of one process only.

Resident memory summed over processes counts shared pages once for each; where that would make a new peak and there
are several processes, their proportional shares are asked for instead. The time on cores is that of all that live and,
as the kernel tells when they are waited for, of all that have ended. Standard library only.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Mapping
from typing import NamedTuple

from jobs.execution.samples import Sample, SampleFile
from jobs.execution.tree import descendant_pids, last_task, read_proc

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
FIRST_SECONDS, USUAL_SECONDS = 0.1, 1.0
COST_FACTOR = 50  # a sample that takes long, of a huge tree, is taken less often: at most 2 % of a core


class Usage:
    def __init__(self, started_at: float, file: SampleFile) -> None:
        """`started_at`: monotonic seconds; `file` gets every sample."""
        self._started_at = started_at
        self._file = file
        self._peak = 0
        self._sampled = Sample(0.0, 0.0, 0)
        self._sampled_cpu_seconds = 0.0
        self.cpu_seconds = 0.0  # of what has ended
        self._largest = 0
        self._own_image = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        self.next_at = started_at + FIRST_SECONDS

    def add(self, used: resource.struct_rusage) -> None:
        """Of a process that was waited for, with the descendants that it waited for."""
        self.cpu_seconds += used.ru_utime + used.ru_stime
        self._largest = max(self._largest, used.ru_maxrss * 1024)

    def sample(self, uses: Mapping[int, Use], began: float) -> None:
        """`uses`: of the whole tree, which it was asked for at `began`, monotonic seconds."""
        memory = sum(use.memory_bytes for use in uses.values())
        if memory > self._peak and len(uses) > 1:
            memory = sum(map(proportional_bytes, uses))
        self._peak = max(self._peak, memory)
        self._note(began - self._started_at, self.cpu_seconds + sum(use.cpu_seconds for use in uses.values()), memory)
        ended = time.monotonic()
        self.next_at = ended + max(USUAL_SECONDS, COST_FACTOR * (ended - began))

    def _note(self, seconds: float, cpu_seconds: float, memory: int) -> None:
        # Less than before when one ended between the two looks: it counts in the next sample.
        used = max(0.0, cpu_seconds - self._sampled_cpu_seconds)
        past = seconds - self._sampled.seconds
        self._sampled_cpu_seconds = max(self._sampled_cpu_seconds, cpu_seconds)
        self._sampled = Sample(seconds, used / past if past > 0 else 0.0, memory)
        self._file.add(self._sampled)

    def peak_bytes(self) -> int:
        """The highest sample, or the largest single process that has ended by the kernel's count. That one includes
        the runner's own image, which a child has before exec, so it says nothing if it is not larger than that; for a
        job too short for a sample it is all there is, an upper bound.
        """
        if self._peak and self._largest <= self._own_image:
            return self._peak
        return max(self._peak, self._largest)


class Use(NamedTuple):
    """Of one process: its resident memory, its time on cores with that of the children it has waited for, its threads.
    One that only waits to be reaped is not alive.
    """

    memory_bytes: int
    cpu_seconds: float
    threads: int
    alive: bool


def uses_below(root: int) -> dict[int, Use]:
    """Of all that descend from process `root`, by process id. One look: some may fork or end meanwhile."""
    return {pid: use for pid in descendant_pids(root) if (use := use_of(pid))}


def use_of(pid: int) -> Use | None:
    """None for one that is gone."""
    words = stat(pid, "stat")
    if not words:
        return None
    seconds, threads = sum(map(int, words[11:15])) / TICKS_A_SECOND, max(1, int(words[17]))
    alive = words[0] not in (b"Z", b"X")
    if threads > 1 and not alive:  # its first thread has ended, and tells nothing of their memory any more
        words, alive = stat(pid, f"task/{last_task(pid)}/stat") or words, True
    return Use(int(words[21]) * PAGE_BYTES, seconds, threads, alive)


def stat(pid: int, name: str) -> list[bytes]:
    """What follows its name. Nothing of one that is gone."""
    content = read_proc(pid, name)
    return content[content.rindex(b")") + 2 :].split() if content else []


def proportional_bytes(pid: int) -> int:
    """Its share of the pages that it maps; its resident memory where the kernel does not tell."""
    for line in read_proc(pid, "smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    use = use_of(pid)
    return use.memory_bytes if use else 0
