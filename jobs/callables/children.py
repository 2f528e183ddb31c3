"""Processes that async and thread callables start: each is an attempt's, and ends with it.

The host is a child subreaper, so all of them descend from it, however they were started. Whose one is, says what Python
started it by (starts.py); what it started in turn descends from it or carries its token. What has cleared its
environment and lost its parent may be anybody's: it ends with the last attempt that can have started it.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterable
from contextlib import suppress

from jobs.callables.hosted import Hosted
from jobs.execution.tree import Process, adopted, children_of, descendants, process, send, token_of

PRUNE_AT = 256
COST_FACTOR = 10  # a look reads all of /proc, and a hundred attempts may be ending: at most a tenth of a core
NOBODY = ""  # the token of what is started for all, and kept


class Children:
    """Of this process. `note` from any thread, the rest from one."""

    def __init__(self) -> None:
        self._noted: dict[tuple[int, int], str] = {}  # by process id and start: the token
        self._lock = threading.Lock()
        self._prune_at = PRUNE_AT
        self._seen: dict[Process, str | None] = {}  # with the token
        self._began = self._good_until = 0.0

    def note(self, pid: int, token: str) -> None:
        if one := process(pid):
            with self._lock:
                self._noted[key(one)] = token
                if len(self._noted) > self._prune_at:
                    self._noted = {known: token for known, token in self._noted.items() if is_there(*known)}
                    self._prune_at = len(self._noted) + PRUNE_AT

    def may_be_of(self, hosted: Hosted) -> bool:
        """Whether a look is worth while: of what this process itself has, is any its, or nobody knows whose? Also one
        that has ended: what it had started may have become a child just then.
        """
        found = filter(None, map(process, children_of(os.getpid())))
        return any(self._noted.get(key(one)) in (None, hosted.token) for one in found)

    def of(self, hosted: Hosted, others: Iterable[Hosted]) -> list[Process]:
        """What was alive of it at the last look. `others`: those to whom it leaves what they may have started, too."""
        others_since = min((other.ticks for other in others), default=None)

        def is_its(one: Process) -> bool:
            if (token := self._seen[one]) is not None:
                return token == hosted.token
            return hosted.ticks <= one.started and (others_since is None or one.started < others_since)

        return list(filter(is_its, self._seen))

    def look(self, since: float) -> bool:
        """Unless there was a look after `since` (monotonic), and it was a moment ago. Whether there was none."""
        if self._began > since and time.monotonic() < self._good_until:
            return False
        self._began = time.monotonic()
        before = {key(one): token for one, token in self._seen.items()}  # its parent may have gone since
        self._seen = {}
        tokens: dict[int, str | None] = {}
        for one in everything_below():
            known = self._noted.get(key(one)), before.get(key(one)), tokens.get(one.parent), token_of(one.pid)
            self._seen[one] = tokens[one.pid] = next((token for token in known if token is not None), None)
        ended = time.monotonic()
        self._good_until = ended + COST_FACTOR * (ended - self._began)
        return True

    def take_reports(self, pipe: int, tokens: Iterable[str]) -> None:
        """Of forks of forks: lines of process id and token. One of an attempt that is over is killed."""
        alive = set(tokens)
        for line in os.read(pipe, 1 << 16).decode().splitlines():
            pid, _, token = line.partition(" ")
            if token in alive:
                self.note(int(pid), token)
            elif one := process(int(pid)):
                send(one, signal.SIGKILL)

    def reap(self, tokens: Iterable[str]) -> None:
        """Collect what has ended and nobody waits for: what lost its parent, and what attempts that are over left."""
        alive = set(tokens)
        orphans = set(adopted())
        for pid in children_of(os.getpid()):
            one = process(pid)
            if one is None or one.alive:
                continue
            token = self._noted.get(key(one))
            if token not in alive if token else token is None and pid in orphans:
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)


def everything_below() -> list[Process]:
    """What descends from this process, parents before their children; and its children once more: those are among them
    by now whose parent forked them and ended during the first look.
    """
    found = descendants(os.getpid())
    seen = {one.pid for one in found}
    children = filter(None, map(process, children_of(os.getpid())))
    return found + [one for one in children if one.alive and one.pid not in seen]


def key(one: Process) -> tuple[int, int]:
    return one.pid, one.started


def is_there(pid: int, started: int) -> bool:
    one = process(pid)
    return one is not None and one.started == started
