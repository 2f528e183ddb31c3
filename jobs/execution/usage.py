"""How much memory the tree of a job takes: samples of the whole, since the kernel's own peak is of one process.

Resident memory summed over processes counts shared pages once for each; where that would make a new peak and there
are several processes, their proportional shares are asked for instead. Standard library only.
"""

from __future__ import annotations

import os
import resource
import time

from jobs.execution.tree import descendant_pids, read_proc

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
FIRST_SECONDS, USUAL_SECONDS = 0.1, 1.0
COST_FACTOR = 50  # a sample that takes long, of a huge tree, is taken less often: at most 2 % of a core


class MemoryPeak:
    def __init__(self, root: int, started_at: float) -> None:
        self._root = root
        self._sampled = 0
        self._own_image = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        self.next_at = started_at + FIRST_SECONDS

    def sample(self) -> None:
        began = time.monotonic()
        pids = descendant_pids(self._root)
        total = sum(map(resident_bytes, pids))
        if total > self._sampled and len(pids) > 1:
            total = sum(map(proportional_bytes, pids))
        self._sampled = max(self._sampled, total)
        ended = time.monotonic()
        self.next_at = ended + max(USUAL_SECONDS, COST_FACTOR * (ended - began))

    def bytes(self) -> int:
        """The highest sample, or the largest single process that has ended by the kernel's count. That one includes
        the runner's own image, which a child has before exec, so it says nothing if it is not larger than that; for a
        job too short for a sample it is all there is, an upper bound.
        """
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        if self._sampled and largest <= self._own_image:
            return self._sampled
        return max(self._sampled, largest)


def resident_bytes(pid: int) -> int:
    words = read_proc(pid, "statm").split()
    return int(words[1]) * PAGE_BYTES if words else 0


def proportional_bytes(pid: int) -> int:
    """Its share of the pages that it maps; its resident memory where the kernel does not tell."""
    for line in read_proc(pid, "smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return resident_bytes(pid)
