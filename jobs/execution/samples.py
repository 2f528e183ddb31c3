"""How much of the cores and of the memory the tree of a job took, over its time: a file of points in the run directory.

The runner adds a point a second at first. When the file is full, neighbours are merged, and from then on a point stands
for twice as long: a run of a week has as many points as one of ten minutes. A point that was cut off by a crash is left
out by the reader. Standard library only.
"""

from __future__ import annotations

import math
import os
import struct
from typing import NamedTuple

from jobs.execution.rundir import SAMPLES, NotAFileError, RunDir, write_all

POINT = struct.Struct("<ddQ")  # seconds since the start, cores used, bytes of memory
MOST_POINTS = 480
MOST_BYTES = 4 * MOST_POINTS * POINT.size  # a job may have written into the file


class Sample(NamedTuple):
    """`cores`: on average over the time since the sample before, which ended `seconds` after the start; `memory_bytes`:
    the most in that time.
    """

    seconds: float
    cores: float
    memory_bytes: int


class SampleFile:
    """Written by the runner. A disk that refuses costs points on the disk, never the job."""

    def __init__(self, rundir: RunDir) -> None:
        self._rundir = rundir
        self._points: list[Sample] = []
        self._open: list[Sample] = []  # what the next point will be made of
        self._stride = 1  # samples that a point is made of
        self._kept = 0  # of the points, how many are in the file

    def add(self, sample: Sample) -> None:
        self._open.append(sample)
        if len(self._open) < self._stride:
            return
        since = self._points[-1].seconds if self._points else 0.0
        self._points.append(merged(self._open, since))
        self._open.clear()
        if len(self._points) >= MOST_POINTS:
            self._thin()
        if len(self._points) > 1:  # one alone is no curve, and most jobs of a busy node are over before the second
            self._write()

    def _thin(self) -> None:
        pairs = range(0, len(self._points), 2)
        before = [0.0, *(self._points[at - 1].seconds for at in pairs[1:])]
        self._points = [merged(self._points[at : at + 2], since) for at, since in zip(pairs, before, strict=True)]
        self._stride *= 2
        self._kept = 0

    def _write(self) -> None:
        content = b"".join(POINT.pack(*point) for point in self._points[self._kept :])
        try:
            if self._kept:
                self._append(content)
            else:
                self._rundir.write(SAMPLES, content)
        except (OSError, NotAFileError):  # whole again with the next point; a part that was taken is written over then
            self._kept = 0
        else:
            self._kept = len(self._points)

    def _append(self, content: bytes) -> None:
        fd = self._rundir.open(SAMPLES, os.O_WRONLY | os.O_APPEND)
        try:
            write_all(fd, content)
        finally:
            os.close(fd)


def merged(samples: list[Sample], since: float) -> Sample:
    """One for several in a row, the first of which began `since` seconds after the start."""
    begun = [since, *(sample.seconds for sample in samples[:-1])]
    spent = sum(one.cores * (one.seconds - start) for one, start in zip(samples, begun, strict=True))
    end = samples[-1].seconds
    return Sample(end, spent / (end - since) if end > since else 0.0, max(one.memory_bytes for one in samples))


def read_samples(path: str | os.PathLike[str]) -> list[Sample]:
    """Those in the run directory `path`, oldest first; none if there are none or the directory is gone."""
    try:
        with RunDir(str(path)) as rundir, os.fdopen(rundir.open(SAMPLES, os.O_RDONLY), "rb") as file:
            content = file.read(MOST_BYTES)
    except (FileNotFoundError, NotAFileError):
        return []
    whole = content[: len(content) - len(content) % POINT.size]
    found, last = [], 0.0
    for seconds, cores, memory_bytes in POINT.iter_unpack(whole):
        if last <= seconds < math.inf and 0 <= cores < math.inf:  # else a job has written there; nan is neither
            found.append(Sample(seconds, cores, min(memory_bytes, 2**53)))
            last = seconds
    return found
