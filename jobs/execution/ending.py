"""Ends every process of an attempt: TERM, grace, KILL, until none is left. Standard library only.

That none is left is for the caller to see, by wait() saying that it has no children: since the runner is a child
subreaper, whatever descends from it and lost its parent is its child.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from jobs.execution.tree import Process, descendants, kill_children, kill_groups, send_all

KILL_AGAIN_SECONDS = (0.01, 0.05, 0.2, 1.0)  # between looks after KILL: a process may have forked before it hit
LINGER_SECONDS, LINGER_MOST_SECONDS = 0.2, 2.0  # for what is left: while nothing is heard of it, and in all


class Ending:
    """One ending of all that descends from this process. All moments are monotonic seconds. `kill_also`: what KILLs
    them in one go, where the kernel can.
    """

    def __init__(self, leader: int, grace_seconds: float, now: float, kill_also: Callable[[], None]) -> None:
        self._leader = leader
        self._kill_also = kill_also
        self._grace = grace_seconds
        self._kill_at = now + grace_seconds
        self._kills = 0
        self._seen: set[tuple[int, int]] = set()
        self.next_at = self._kill_at
        self.refused: list[Process] = []
        self.given_up = False

    @property
    def descendants_ended(self) -> int:
        """How many were told to end, the job's own process not counted."""
        return sum(1 for pid, _ in self._seen if pid != self._leader)

    @property
    def left(self) -> str:
        """What is said of those that were given up."""
        pids = ", ".join(str(one.pid) for one in self.refused)
        return f"; processes of another user are left: {pids}" if self.given_up else ""

    def begin(self) -> int:
        """TERM to all; CONT too, since a stopped process takes a TERM only when it goes on. Returns how many."""
        found = self._look()
        for number in (signal.SIGTERM, signal.SIGCONT):
            self.refused = list(send_all(found, number))
        return len(found)

    def hasten(self, now: float) -> None:
        """No grace any more: it has passed a limit meanwhile."""
        self._kill_at = min(self._kill_at, now)
        self.next_at = min(self.next_at, now)

    def step(self, now: float) -> int:
        """KILL to all that are left once the grace is over; to be called at `next_at`. Returns how many there were."""
        if now < self._kill_at:
            return 0
        found = self._look()
        self._kill(found)
        self.refused = list(send_all(found, signal.SIGKILL))
        self.given_up = bool(found) and len(self.refused) == len(found) and now >= self._kill_at + self._grace
        self.next_at = now + KILL_AGAIN_SECONDS[min(self._kills, len(KILL_AGAIN_SECONDS) - 1)]
        self._kills += 1
        return len(found)

    def _kill(self, found: list[Process]) -> None:
        """Beside the signal that each of them gets."""
        self._kill_also()
        kill_groups(found)
        kill_children()

    def _find(self) -> list[Process]:
        return descendants(os.getpid())

    def _look(self) -> list[Process]:
        found = self._find()
        self._seen.update((one.pid, one.started) for one in found)
        return found


def end_all() -> dict[int, int]:
    """Kill whatever descends from this process, until nothing does. Returns by process id how its children ended, as
    wait() tells it.
    """
    ended: dict[int, int] = {}
    while True:
        found = descendants(os.getpid())
        kill_children()
        if list(send_all(found, signal.SIGKILL)):
            return ended  # of another user: not ours to end
        options = 0  # wait for one, then take all that have ended: a look at thousands for each of them takes hours
        while True:
            try:
                pid, status = os.waitpid(-1, options)
            except ChildProcessError:
                return ended
            if pid == 0:
                break
            ended[pid], options = status, os.WNOHANG


def any_runs() -> bool:
    """Whether any that descends from this process computes, waits for a core or for the disk at this moment."""
    return any(one.state in {"R", "D"} for one in descendants(os.getpid()))


def processes(count: int) -> str:
    return "1 process" if count == 1 else f"{count} processes"
