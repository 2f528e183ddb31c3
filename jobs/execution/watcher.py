"""Watches attempts until their runners are through with them, and settles what these leave. Belongs to the executor's
loop.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from jobs.execution import cgroups
from jobs.execution.launch import AttemptRef, Ended, NotStarted, Report, Started
from jobs.execution.loop import Action, Loop
from jobs.execution.prepare import path_of
from jobs.execution.rundir import CANCEL, CANCEL_SIGNAL, RESULT, RunDir
from jobs.execution.settle import (
    NEVER_RAN,
    Gone,
    Holder,
    kill,
    left_of,
    lost,
    outcome_of,
    read_result,
    settle,
    started_facts,
    utc,
)
from jobs.execution.spec import Result
from jobs.execution.tree import Process, is_traced


class Watched:
    """An attempt that a runner has. `notes`: the socket to it, which ends with the attempt; None for an adopted one,
    whose runner ends with it. `again`: what to do if it ends before it began, None once it has.
    """

    def __init__(self, pidfd: int, notes: int | None = None, again: Action | None = None) -> None:
        self.pidfd = pidfd
        self.notes = notes
        self.again = again

    def read_note(self) -> dict[str, Any] | None:
        """What the runner wrote when the job started, None when it is through."""
        if self.notes is None:
            return None
        try:
            note = os.read(self.notes, 4096)  # of one write, with room for it: whole or not at all
        except (ConnectionResetError, BlockingIOError):  # it left a cancel unread; its job, not yet gone, holds the end
            return None
        return json.loads(note) if note else None

    def signal(self, number: int) -> None:
        """Fine if it has ended."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, number)

    def go_on(self) -> None:
        """A stopped process takes a TERM only when it goes on; one that runs does not notice."""
        self.signal(signal.SIGCONT)

    def cancel(self) -> None:
        """Not by the file alone: it may be where the runner does not see it, if its job has removed the run directory
        or put another in its place. One that its job traces and holds can only be killed.
        """
        if self.notes is None:
            self.signal(CANCEL_SIGNAL)
        else:  # a signal could come when the runner has the next attempt already
            try:
                os.write(self.notes, CANCEL.encode())
            except (BrokenPipeError, ConnectionResetError):
                return
        self.go_on()
        if is_traced(self.pidfd):
            self.signal(signal.SIGKILL)

    def close(self) -> None:
        for fd in (self.pidfd, self.notes):
            if fd is not None:
                os.close(fd)


class Watcher:
    def __init__(self, loop: Loop, report: Callable[[Report], None], runs: Path, bases: Mapping[str, str]) -> None:
        """`bases`: by controller the folder with the cgroups of attempts."""
        self.settling = threading.Lock()  # record locks are the process's: two threads would both get one
        self._loop = loop
        self._report = report
        self._runs = runs
        self._bases = bases
        self._watched: dict[AttemptRef, Watched] = {}

    def path(self, ref: AttemptRef) -> str:
        return str(path_of(self._runs, ref))

    def watch(self, ref: AttemptRef, watched: Watched) -> None:
        """Instead of what was watched for `ref` before, whose descriptors would report one end for ever."""
        self.forget(ref)
        self._watched[ref] = watched
        self._loop.on_readable(watched.pidfd, partial(self._on_gone, ref, watched))
        if watched.notes is not None:
            self._loop.on_readable(watched.notes, partial(self._on_note, ref, watched))
        self._loop.insist(partial(self._pass_on, ref))

    def adopt(self, ref: AttemptRef, holder: Holder, *, started: bool = False) -> None:
        """`started`: whoever asked knows that already; else Started is reported when it has."""
        watched = Watched(holder.pidfd)
        self.watch(ref, watched)
        if not started:
            self._loop.insist(partial(self._look_for_start, ref, watched))

    def _look_for_start(self, ref: AttemptRef, watched: Watched) -> None:
        """It has no pipe to this process: its file says so, a moment after it was adopted if it had not begun."""
        if self._watched.get(ref) is not watched:
            return
        if facts := started_facts(self.path(ref)):
            self._report(Started(ref, facts["pid"], utc(facts["at"])))
        else:
            self._loop.later(partial(self._loop.insist, partial(self._look_for_start, ref, watched)))

    def forget(self, ref: AttemptRef) -> None:
        if watched := self._watched.pop(ref, None):
            self._loop.no_longer(watched.pidfd)
            if watched.notes is not None:
                self._loop.no_longer(watched.notes)
            watched.close()

    def forget_all(self) -> None:
        for ref in list(self._watched):
            self.forget(ref)

    def _on_note(self, ref: AttemptRef, watched: Watched) -> None:
        """The job has started; or its runner is through with it."""
        if facts := watched.read_note():
            watched.again = None  # it began: never again
            self._report(Started(ref, facts["pid"], utc(facts["at"])))
        else:
            self._on_through(ref, watched)

    def _on_gone(self, ref: AttemptRef, watched: Watched) -> None:
        """What it has said before comes first."""
        if watched.notes is None:
            self._on_through(ref, watched)
        else:
            self._on_note(ref, watched)

    def _on_through(self, ref: AttemptRef, watched: Watched) -> None:
        self.forget(ref)
        self._loop.insist(partial(self._conclude, ref, watched.again))

    def _conclude(self, ref: AttemptRef, again: Action | None) -> None:
        """No runner has it any more: `again` if nothing says that one began."""
        found = read_result(self.path(ref))
        if isinstance(found, Result):
            self.ended(ref, found)
        elif isinstance(found, Gone):
            self.sweep(ref, found.why)
        elif again:
            again()
        elif self.settle(ref) is NEVER_RAN:  # it did: somebody has removed its run directory
            self.sweep(ref)

    # --- Who has the say ---

    def settle(self, ref: AttemptRef) -> Holder | Result | Gone | None:
        """Find out, and take it from there; NEVER_RAN is left to the caller."""
        with self.settling:
            settled = settle(self.path(ref))
        if isinstance(settled, Holder):
            self.adopt(ref, settled)
        elif isinstance(settled, Result):
            self.ended(ref, settled)
        elif isinstance(settled, Gone):
            self.sweep(ref, settled.why)
        return settled

    def ended(self, ref: AttemptRef, result: Result) -> None:
        outcome = outcome_of(result)
        never = result.started_at is None
        self._report(NotStarted(ref, outcome, result.node_refused) if never else Ended(ref, outcome))

    def sweep(self, ref: AttemptRef, why: str = "") -> None:
        """End what a killed runner left; Ended is reported once nothing of it is seen. `why`: see `lost`."""
        self._loop.insist(partial(self._sweep, ref, set(), why))

    def _sweep(self, ref: AttemptRef, ended: set[tuple[int, int]], why: str) -> None:
        path = self.path(ref)
        while found := self.left_of(ref):
            ended.update((one.pid, one.started) for one in found)
            kill(found)
            for folder in cgroups.folders_of(self._bases, ref.token):
                cgroups.kill_members(folder)
            with suppress(ProcessLookupError):
                pidfd = os.pidfd_open(found[0].pid)
                self._loop.on_readable(pidfd, partial(self._sweep_on, ref, ended, why, pidfd))
                return
        cgroups.remove(self._bases, ref.token)
        self._report(Ended(ref, lost(path, ref.token, len(ended), why)))

    def sweep_all(self, find: Callable[[], list[Process]], then: Action) -> None:
        """End what `find` finds, until it finds nothing; then `then`."""
        while found := find():
            kill(found)
            with suppress(ProcessLookupError):
                pidfd = os.pidfd_open(found[0].pid)
                self._loop.on_readable(pidfd, partial(self._sweep_all_on, find, then, pidfd))
                return
        then()

    def _sweep_all_on(self, find: Callable[[], list[Process]], then: Action, pidfd: int) -> None:
        self._loop.no_longer(pidfd)
        os.close(pidfd)
        self._loop.insist(partial(self.sweep_all, find, then))

    def left_of(self, ref: AttemptRef) -> list[Process]:
        """What is alive of an attempt whose runner is gone."""
        inside = [one for folder in cgroups.folders_of(self._bases, ref.token) for one in cgroups.living(folder)]
        return left_of(self.path(ref), ref.token, inside)

    def _sweep_on(self, ref: AttemptRef, ended: set[tuple[int, int]], why: str, pidfd: int) -> None:
        self._loop.no_longer(pidfd)
        os.close(pidfd)
        self._loop.insist(partial(self._sweep, ref, ended, why))

    # --- The wish to end ---

    def cancel(self, ref: AttemptRef) -> None:
        """Written again and again until it is, or the attempt has ended: a disk may be full for a while."""
        self._loop.insist(partial(self._cancel, ref))

    def _cancel(self, ref: AttemptRef) -> None:
        watched = self._watched.get(ref)
        try:
            with suppress(FileNotFoundError), RunDir(self.path(ref)) as rundir:
                ended = not watched and rundir.has(RESULT)  # while it is watched, only its job can have written one
                if not (ended or rundir.has(CANCEL)):
                    os.close(rundir.open(CANCEL, os.O_WRONLY | os.O_CREAT))
        finally:
            if watched:
                watched.cancel()

    def nudge(self) -> None:
        """Have every runner go on that its job has stopped: it holds the job to no time limit, nor sees its end."""
        for watched in self._watched.values():
            watched.go_on()

    def _pass_on(self, ref: AttemptRef) -> None:
        """A wish from before there was a pidfd to say so."""
        if (watched := self._watched.get(ref)) and self.is_cancelled(ref):
            watched.cancel()

    def is_cancelled(self, ref: AttemptRef) -> bool:
        with suppress(FileNotFoundError), RunDir(self.path(ref)) as rundir:
            return rundir.has(CANCEL)
        return False
