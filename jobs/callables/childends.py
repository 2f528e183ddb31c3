"""Ends the processes of an attempt in a host as a runner does: TERM, its grace, KILL, until none is left.

The host has other children, too, and waits for other things: so it looks now and then.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping
from functools import partial

from jobs.callables.children import Children, key
from jobs.callables.hosted import Hosted, ticks_now
from jobs.callables.link import Link
from jobs.execution.ending import Ending, processes
from jobs.execution.tree import Process, kill_groups, send_all

FIRST_LOOK_SECONDS, MOST_LOOK_SECONDS = 0.02, 0.25


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
        self._begin(hosted, "the job has ended and left processes", then)

    def conclude(self) -> None:
        """The host ends, and all of them with it."""
        for ending in self._endings.values():
            if ending.then:
                ending.then()

    def _begin(self, hosted: Hosted, why: str, then: Callable[[], object] | None = None) -> None:
        if hosted.token not in self._attempts:
            return
        ending = self._endings.get(hosted.token)
        if ending is None:
            ending = self._endings[hosted.token] = ChildrenEnding(hosted, partial(self._find, hosted))
            self._link.later(FIRST_LOOK_SECONDS, partial(self._watch, hosted, ending))  # others may be asked with it
        ending.then = ending.then or then
        ending.tell(why)

    def _watch(self, hosted: Hosted, ending: ChildrenEnding) -> None:
        if ending.look():
            self._link.later(ending.next_at - time.monotonic(), partial(self._watch, hosted, ending))
            return
        del self._endings[hosted.token]
        hosted.descendants_ended += ending.descendants_ended
        if ending.then:
            hosted.may_have_children = False
            ending.then()

    def _find(self, hosted: Hosted, since: float) -> list[Process]:
        attempts = list(self._attempts.values())
        if self._children.look(since):
            self._children.reap(one.token for one in attempts)
        return self._children.of(hosted, (one for one in attempts if self._ends_after(one, hosted)))

    def _ends_after(self, one: Hosted, hosted: Hosted) -> bool:
        """Whether what may be of both is left to `one`. Never to one that was asked to end and has looked already: its
        thread may go on for ever. Of two that look, to the one that was told last, or each would leave it to the other.
        """
        if one is hosted or not one.ticks or not one.may_have_children:
            return False
        if ending := self._endings.get(one.token):
            return ending.told_at > self._endings[hosted.token].told_at
        return one.ending is None


class ChildrenEnding(Ending):
    """Of the processes of one attempt. `then`: to be called when none is left; None while it runs on."""

    def __init__(self, hosted: Hosted, find: Callable[[float], list[Process]]) -> None:
        """find: what is alive of it, or was after a moment (monotonic)."""
        self._began = time.monotonic()
        super().__init__(0, hosted.grace_left, self._began, lambda: None)
        self._hosted = hosted
        self._find_since = find
        self._why = ""
        self._is_first = True
        self.told_at = self._began
        self._told: set[tuple[int, int]] = set()
        self.then: Callable[[], object] | None = None

    def tell(self, why: str) -> None:
        """The next look sends TERM to what is there by now."""
        self._why, self._asked_ticks = why, ticks_now()
        self.told_at = self._asked = time.monotonic()

    def look(self) -> bool:
        """Whether any is left; kills those that are there after the grace."""
        now = time.monotonic()
        if self._is_first and self._grace and now >= self._kill_at:  # held up: they have had no TERM yet
            self._kill_at = now + self._grace
        self._is_first = False
        if now >= self._kill_at:
            if count := self.step(now):
                self._hosted.notice(f"KILL sent to {processes(count)} that did not end")
            if self.given_up:
                self._hosted.notice(self.left.removeprefix("; "))
            return bool(count) and not self.given_up
        wait = min(MOST_LOOK_SECONDS, FIRST_LOOK_SECONDS + (now - self._began) / 4)
        self.next_at = min(self._kill_at, now + wait)
        found = self._look()
        self._terminate([one for one in found if key(one) not in self._told and one.started <= self._asked_ticks])
        return bool(found)

    def _terminate(self, found: list[Process]) -> None:
        self._told.update(map(key, found))
        for number in (signal.SIGTERM, signal.SIGCONT):
            list(send_all(found, number))
        if found:
            grace = round(max(0.0, self._kill_at - time.monotonic()), 1)
            self._hosted.notice(f"{self._why}: TERM sent to {processes(len(found))}, KILL follows in {grace:g} s")

    def _kill(self, found: list[Process]) -> None:
        self._asked = time.monotonic()  # the next look is a new one
        kill_groups(found)  # that of this process is left out

    def _find(self) -> list[Process]:
        return self._find_since(self._asked)
