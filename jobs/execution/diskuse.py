"""What the files of a job take on the disk while it runs, so that one job does not fill it for all.

Looked at beside its samples. A look is broken off after so many entries: the runner has output to take meanwhile.
Standard library only.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from jobs.execution.confinement import MEGABYTE, Passed, megabytes
from jobs.execution.foldertree import size_of
from jobs.execution.mounts import places_in
from jobs.execution.rundir import OUTPUT, WORK, RunDir

LEAST_BEYOND = 100 * MEGABYTE
COST_FACTOR = 50  # a look at very many files is taken less often: at most 2 % of a core
MOST_ENTRIES = 20_000


class DiskUse:
    def __init__(self, rundir: RunDir, output_cap: int, min_free: int, notice: Callable[[str], None]) -> None:
        """output_cap: bytes of output that are kept at the end. min_free: bytes that must stay free, 0: no matter.

        What is beyond the cap is removed at the end; who goes far beyond it is ended. So is, on a disk that has less
        free than half of `min_free`, a job whose files take more than `min_free`.
        """
        self._rundir = rundir
        self._output_cap = output_cap
        self._most_output = output_cap + max(output_cap, LEAST_BEYOND)
        self._min_free = min_free
        self._notice = notice
        self._told = False
        self._next_at = 0.0

    def look(self, now: float) -> Passed | None:
        """`now`: monotonic seconds."""
        if now < self._next_at:
            return None
        passed = self._output_passed() or self._disk_passed()
        ended = time.monotonic()
        self._next_at = ended + COST_FACTOR * (ended - now)
        return passed

    def _output_passed(self) -> Passed | None:
        size = self._size(OUTPUT, self._most_output)
        if size > self._most_output:
            said = (
                f"outputs of more than {megabytes(self._most_output)}, of which {megabytes(self._output_cap)} are kept"
            )
            return Passed("failed", f"had {said} (ROTA_OUTPUT_CAP_MB), and was ended", said)
        if size > self._output_cap and not self._told:
            self._told = True
            cap = megabytes(self._output_cap)
            self._notice(f"outputs take {megabytes(size)} by now; at the end no more than {cap} of them are kept")
        return None

    def _disk_passed(self) -> Passed | None:
        if not self._min_free:
            return None
        disk = os.fstatvfs(self._rundir.fd)
        free = disk.f_bavail * disk.f_frsize
        if free >= self._min_free // 2:
            return None
        size = sum(self._size(name, self._min_free) for name in (WORK, OUTPUT))
        if size <= self._min_free:
            return None
        said = f"{megabytes(free)} left on the disk, and its files take more than {megabytes(self._min_free)}"
        return Passed("failed", f"was ended to keep the node going: {said} (ROTA_MIN_FREE_DISK_MB)", said)

    def _size(self, name: str, enough: int) -> int:
        path = f"/proc/self/fd/{self._rundir.fd}/{name}"
        return size_of(path, enough, MOST_ENTRIES, places_in(path))
