"""What the workers of a pool have left when they ended: each process is of one attempt, and ends with that alone."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress

from jobs.callables.children import key
from jobs.execution.tree import QUICK_LOOKS, Process, children_of, descendants, process


class Left:
    """Of this process, whose children they are by now, or descend from such. One that was given up stays its attempt's:
    no other waits for it.
    """

    def __init__(self) -> None:
        self._owners: dict[tuple[int, int], str] = {}  # by process id and start: the token

    def of(self, token: str, workers: Collection[int], busy: Collection[int]) -> list[Process]:
        """What is alive of what an attempt has left. `workers`: process ids of those whose end was not heard yet;
        `busy`: of these, the ones that have an attempt.
        """
        outside = outside_of(workers)
        # One that has died meanwhile may have left what is new, too: whoever hears of its end takes that. Of one
        # without an attempt nobody would.
        takes = all(one and one.alive for one in map(process, busy))
        owners: dict[int, str] = {}
        for one in outside:
            if owner := self._owners.get(key(one)) or owners.get(one.parent) or (token if takes else ""):
                owners[one.pid] = owner
        self._owners = {key(one): owners[one.pid] for one in outside if one.pid in owners}
        return [one for one in outside if owners.get(one.pid) == token]


def outside_of(workers: Collection[int]) -> list[Process]:
    """What is alive and descends from none of them, parents before their children."""
    inside = set(workers)  # with all that descends from them
    outside = []
    for one in descendants(os.getpid()):
        if one.pid in inside or one.parent in inside:
            inside.add(one.pid)
        else:
            outside.append(one)
    # One that forked and ended meanwhile was not seen, nor was its child. But what has lost its parent is a child of
    # this process, until it is reaped here.
    seen = {one.pid for one in outside}
    return outside + [one for one in children_but(workers) if one.pid not in seen]


def children_but(workers: Collection[int]) -> list[Process]:
    """The children of this process, all of them alive at one moment; what has ended is reaped. Not all are alive where
    one does nothing but fork and end: then the next one is of the group of those that are told.
    """
    found: list[Process] = []
    for _ in range(QUICK_LOOKS):
        found = [one for pid in children_of(os.getpid()) if pid not in workers and (one := process(pid))]
        ended = [one.pid for one in found if not one.alive]
        for pid in ended:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if not ended:
            break
    return found
