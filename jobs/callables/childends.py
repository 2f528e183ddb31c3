"""Ends the processes of an attempt in a host as a runner does: TERM, its grace, KILL, until none is left.

The host has other children, too, and waits for other things: so it looks now and then.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping
from functools import partial

from jobs.callables.children import Children
from jobs.callables.hosted import Hosted
from jobs.callables.link import Link
from jobs.execution.ending import Ending, processes
from jobs.execution.tree import Process, kill_groups, send_all

FIRST_LOOK_SECONDS, MOST_LOOK_SECONDS = 0.02, 0.25  # a look reads all of /proc


class ChildEnds:
    """Of the attempts in a host, by token. What the link calls belongs to the main thread, and so do these."""

    def __init__(self, link: Link, children: Children, attempts: Mapping[str, Hosted]) -> None:
        self._link = link
        self._children = children
        self._attempts = attempts
        self._endings: dict[str, ChildrenEnding] = {}

    def may_be(self, hosted: Hosted) -> bool:
        """From any thread, once it has returned: whether `finish` has something to look for."""
        hosted.may_have_children = self._children.may_be_of(hosted)
        return hosted.may_have_children

    def ask(self, hosted: Hosted, why: str) -> None:
        """It is asked to end, and so are they; once more when the grace is over, for what it has started since."""
        self._begin(hosted, why)
        self._link.later(hosted.grace_left, partial(self._begin, hosted, why))

    def finish(self, hosted: Hosted, then: Callable[[], object]) -> None:
        """It has returned. `then`: called when none is left."""
        if not self._begin(hosted, "the job has ended and left processes", then):
            then()

    def conclude(self) -> None:
        """The host ends, and all of them with it."""
        for ending in self._endings.values():
            if ending.then:
                ending.then()

    def _begin(self, hosted: Hosted, why: str, then: Callable[[], object] | None = None) -> bool:
        if hosted.token not in self._attempts or not self._children.may_be_of(hosted):
            return False
        ending = self._endings.get(hosted.token)
        if ending is None:
            ending = self._endings[hosted.token] = ChildrenEnding(hosted, partial(self._find, hosted))
        ending.then = ending.then or then
        ending.tell(why)
        if not ending.is_watched:
            self._watch(hosted, ending)
        return True

    def _watch(self, hosted: Hosted, ending: ChildrenEnding) -> None:
        ending.is_watched = ending.look()
        if ending.is_watched:
            self._link.later(ending.next_at - time.monotonic(), partial(self._watch, hosted, ending))
        elif ending.then:
            hosted.may_have_children = False
            del self._endings[hosted.token]
            hosted.descendants_ended = ending.descendants_ended
            if ending.left:
                hosted.notice(ending.left.removeprefix("; "))
            ending.then()

    def _find(self, hosted: Hosted) -> list[Process]:
        attempts = list(self._attempts.values())
        self._children.reap(one.token for one in attempts)
        others = (one for one in attempts if one is not hosted and one.ticks and one.may_have_children)
        return self._children.of(hosted, others)


class ChildrenEnding(Ending):
    """Of the processes of one attempt. `then`: to be called when none is left; None while it runs on."""

    def __init__(self, hosted: Hosted, find: Callable[[], list[Process]]) -> None:
        self._began = time.monotonic()
        super().__init__(0, hosted.grace_left, self._began, lambda: None)
        self._hosted = hosted
        self._find_its = find
        self.then: Callable[[], object] | None = None
        self.is_watched = False

    def tell(self, why: str) -> None:
        """TERM, to those that have not been told yet."""
        told = set(self._seen)
        fresh = [one for one in self._look() if (one.pid, one.started) not in told]
        for number in (signal.SIGTERM, signal.SIGCONT):
            list(send_all(fresh, number))
        if fresh:
            grace = round(max(0.0, self._kill_at - time.monotonic()), 1)
            self._hosted.notice(f"{why}: TERM sent to {processes(len(fresh))}, KILL follows in {grace:g} s")

    def look(self) -> bool:
        """Whether any is left; kills those that are there after the grace."""
        now = time.monotonic()
        if now < self._kill_at:
            wait = min(MOST_LOOK_SECONDS, FIRST_LOOK_SECONDS + (now - self._began) / 4)
            self.next_at = min(self._kill_at, now + wait)
            return bool(self._look())
        if count := self.step(now):
            self._hosted.notice(f"KILL sent to {processes(count)} that did not end")
        return bool(count) and not self.given_up

    def _kill(self, found: list[Process]) -> None:
        kill_groups(found)  # that of this process is left out

    def _find(self) -> list[Process]:
        return self._find_its()
