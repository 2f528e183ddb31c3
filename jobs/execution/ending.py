"""Ends every process of an attempt: TERM, grace, KILL, until none is left. Standard library only.

That none is left is for the caller to see, by wait() saying that it has no children: since the runner is a child
subreaper, whatever descends from it and lost its parent is its child.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from jobs.execution.tree import Process, descendants, kill_children, kill_groups, send_all

KILL_AGAIN_SECONDS = (0.01, 0.05, 0.2, 1.0)  # between looks after KILL: a process may have forked before it hit
HANG_SECONDS = 10.0  # after KILL, in the kernel: a slow disk holds a process for a moment, one that is gone for ever
SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.0005, 0.05  # between looks for children that end
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
        self._hanging: list[Process] = []
        self._stuck_at = float("inf")  # since when those that are left are refused, or hang
        self.given_up = False

    @property
    def descendants_ended(self) -> int:
        """How many were told to end, the job's own process not counted."""
        return sum(1 for pid, _ in self._seen if pid != self._leader)

    @property
    def left(self) -> str:
        """What is said of those that were given up."""
        if not self.given_up:
            return ""
        refused = f"; processes of another user are left: {numbers(self.refused)}" if self.refused else ""
        if not self._hanging:
            return refused
        hang = "hang in the kernel, for a disk or a server that does not answer, and end when it does"
        return f"{refused}; processes are left that {hang}: {numbers(self._hanging)}"

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
        self._give_up(found, now)
        self.next_at = now + KILL_AGAIN_SECONDS[min(self._kills, len(KILL_AGAIN_SECONDS) - 1)]
        self._kills += 1
        return len(found)

    def _give_up(self, found: list[Process], now: float) -> None:
        """On what cannot be ended, after a second grace: of another user, or killed and held by the kernel, where it
        runs no line any more.
        """
        self._hanging = [one for one in found if one not in self.refused and one.hangs]
        if not found or len(self.refused) + len(self._hanging) < len(found):
            self._stuck_at = float("inf")
            return
        self._stuck_at = min(self._stuck_at, now)
        patience = max(self._grace, HANG_SECONDS) if self._hanging else 0.0
        self.given_up = now >= max(self._kill_at + self._grace, self._stuck_at + patience)

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
    moved_at, pause = time.monotonic(), SHORTEST_PAUSE_SECONDS
    while True:
        found = descendants(os.getpid())
        kill_children()
        refused = list(send_all(found, signal.SIGKILL))
        before = len(ended)
        if not take_ended(ended) or refused:  # of another user: not ours to end
            return ended
        now = time.monotonic()
        if len(ended) > before or not all(one.hangs for one in found):
            moved_at = now
        elif now >= moved_at + HANG_SECONDS:
            return ended
        time.sleep(pause)
        pause = SHORTEST_PAUSE_SECONDS if len(ended) > before else min(2 * pause, LONGEST_PAUSE_SECONDS)


def take_ended(ended: dict[int, int]) -> bool:
    """All children that have: a look at thousands for each of them takes hours. False if none is left."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        ended[pid] = status


def any_runs() -> bool:
    """Whether any that descends from this process computes, waits for a core or for the disk at this moment."""
    return any(one.state in {"R", "D"} for one in descendants(os.getpid()))


def numbers(found: list[Process]) -> str:
    return ", ".join(str(one.pid) for one in found)


def processes(count: int) -> str:
    return "1 process" if count == 1 else f"{count} processes"
