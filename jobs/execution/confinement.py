"""Holds the tree of a job to its cores, memory and number of processes: by cgroups where they may be made, or by looks.

A cgroup costs a start some milliseconds of waiting for the kernel. So the job begins in one only where memory or
processes are limited, for what it took before would not count; for its cores it is moved there at the first look, and
until then, and where there is no cgroup, it is held by the affinity that its runner has.

Memory is looked at by what each process has resident, which costs one short read each. That counts a shared page once
for every process, so only a sum beyond the limit is counted again by proportional shares, and that one decides. What is
swapped out is not counted. Standard library only.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from jobs.execution import cgroups
from jobs.execution.cgroups import CPU, CPUSET, KILL, MEMORY, PIDS
from jobs.execution.spec import Spec
from jobs.execution.tree import tasks
from jobs.execution.usage import Use, proportional_bytes

FIRST_SECONDS, LOOK_SECONDS, CALM_SECONDS = 0.05, 0.25, 1.0
COST_FACTOR, LONGEST_SECONDS = 20, 0.75  # a look at a huge tree is taken less often, but a limit holds within a second
MEGABYTE = 1024 * 1024


class Passed(NamedTuple):
    """A limit that the job has passed: the kind of outcome, its sentence, and a few words for the log."""

    kind: str
    error: str
    why: str


class Confinement:
    def __init__(self, spec: Spec, notice: Callable[[str], None]) -> None:
        """`notice` writes a line for people into the job's log."""
        self._spec = spec
        self._notice = notice
        self._amounts = {name: amount for name, amount in amounts(spec).items() if name in spec.cgroups}
        self._folders: dict[str, str] = {}
        self._told_of_cores = False
        self.next_at = float("inf")

    def before_start(self) -> list[str]:
        """Make what the job is to begin in, if it is to: files to which its process writes 0."""
        if self._amounts.keys() & {MEMORY, PIDS}:
            self._make(list(self._amounts))
        return [f"{folder}/cgroup.procs" for folder in dict.fromkeys(self._folders.values())]

    def begin(self) -> None:
        if self._amounts or self._spec.cores or self._spec.memory_limit_bytes or self._spec.max_processes:
            self.next_at = time.monotonic() + FIRST_SECONDS

    def look(self, uses: Mapping[int, Use], began: float, peak_bytes: int) -> Passed | None:
        """`uses`: of the whole tree, which was asked at `began`, monotonic seconds. `peak_bytes`: the most memory that
        is known of.
        """
        self._make(list(self._amounts))
        living = [pid for pid, use in uses.items() if use.alive]
        self._take_in(living)
        if self._spec.cores and CPUSET not in self._folders:
            self._keep_on_cores(living)
        passed = self._memory_passed(uses, peak_bytes) or self._processes_passed(uses)
        now = time.monotonic()
        self.next_at = now + max(self._pause(), min(COST_FACTOR * (now - began), LONGEST_SECONDS))
        return passed

    def _pause(self) -> float:
        """Calm where the kernel sees to all limits; of memory it may end one process, and the rest is ours to end."""
        spec = self._spec
        limited = {CPUSET: spec.cores, MEMORY: spec.memory_limit_bytes, PIDS: spec.max_processes}
        if any(amount and controller not in self._folders for controller, amount in limited.items()):
            return LOOK_SECONDS
        return LONGEST_SECONDS if spec.memory_limit_bytes else CALM_SECONDS

    # --- By the kernel ---

    def _make(self, controllers: Iterable[str]) -> None:
        for controller in controllers:
            if controller in self._folders:
                continue
            base, amount = self._spec.cgroups[controller], self._amounts[controller]
            try:
                self._folders[controller] = cgroups.make(base, self._spec.token, controller, amount)
            except OSError as error:
                self._lost(controller, error)

    def _take_in(self, pids: list[int]) -> None:
        """Also what a job of root has taken out."""
        for folder in dict.fromkeys(self._folders.values()):
            its = [controller for controller, known in self._folders.items() if known == folder]
            try:
                cgroups.take_in(folder, pids)
            except FileNotFoundError:  # a service that started just then has swept it, empty: made at the next look
                for controller in its:
                    del self._folders[controller]
            except OSError as error:
                for controller in its:
                    self._lost(controller, error)

    def _lost(self, controller: str, error: OSError) -> None:
        """From now on it is held by looks alone."""
        self._amounts.pop(controller, None)
        self._folders.pop(controller, None)
        if controller != KILL:
            self._notice(f"no cgroup for {controller}: {error.strerror}")

    def kill(self) -> None:
        if folder := self._folders.get(KILL):
            cgroups.kill_all(folder)

    def out_of_memory(self, peak_bytes: int) -> Passed | None:
        """The kernel has killed one of its processes for want of memory in its cgroup."""
        folder = self._folders.get(MEMORY)
        if not folder or not cgroups.oom_kills(folder):
            return None
        return memory_passed(self._spec.memory_limit_bytes, max(peak_bytes, cgroups.peak_bytes(folder)))

    # --- By looks ---

    def _keep_on_cores(self, pids: list[int]) -> None:
        cores = set(self._spec.cores or ())
        for task in (int(task) for pid in pids for task in tasks(pid)):
            with suppress(ProcessLookupError, PermissionError):  # gone; or of another user, whom we cannot hold
                if os.sched_getaffinity(task) != cores:
                    os.sched_setaffinity(task, cores)
                    self._tell_of_cores()

    def _tell_of_cores(self) -> None:
        if not self._told_of_cores:
            self._notice("the job had left the cores that it holds and was put back on them")
            self._told_of_cores = True

    def _memory_passed(self, uses: Mapping[int, Use], peak_bytes: int) -> Passed | None:
        limit = self._spec.memory_limit_bytes
        if MEMORY in self._folders or not limit:
            return self.out_of_memory(peak_bytes)
        if sum(use.memory_bytes for use in uses.values()) <= limit:
            return None
        found = sum(map(proportional_bytes, uses))
        return memory_passed(limit, max(peak_bytes, found)) if found > limit else None

    def _processes_passed(self, uses: Mapping[int, Use]) -> Passed | None:
        limit, count = self._spec.max_processes, sum(use.threads for use in uses.values())
        if not limit or PIDS in self._folders or count <= limit:
            return None
        said = f"{count} processes and threads, more than the {limit} that it may have"
        return Passed("failed", f"had {said}, and was ended", said)


def amounts(spec: Spec) -> dict[str, str]:
    """What the job may use, by controller. Cores of its own need no quota where they can be fenced."""
    found = {KILL: ""}
    if spec.cores:
        found[CPUSET] = ",".join(map(str, spec.cores))
    if spec.cpu_slots and not (spec.cores and CPUSET in spec.cgroups):
        found[CPU] = str(spec.cpu_slots)
    if spec.memory_limit_bytes:
        found[MEMORY] = str(spec.memory_limit_bytes)
    if spec.max_processes:
        found[PIDS] = str(spec.max_processes)
    return found


def memory_passed(limit: int, peak: int) -> Passed:
    said = f"memory limit of {megabytes(limit)} passed"
    error = f"used more memory than its limit of {megabytes(limit)} and was ended; its peak was {megabytes(peak)}"
    return Passed("memory_exceeded", error, said)


def megabytes(count: int) -> str:
    return f"{round(count / MEGABYTE, 1):g} MB"
