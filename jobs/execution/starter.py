"""Hands attempts to the launcher, and finds out what became of those that it did not answer for.

Belongs to the executor's loop.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from jobs.core.states import OutcomeKind
from jobs.execution.environment import EnvironmentFileError
from jobs.execution.launch import Launch, NotStarted, Report
from jobs.execution.launching import LauncherGoneError, LauncherProcess, Refused
from jobs.execution.loop import Loop
from jobs.execution.prepare import path_of, prepare
from jobs.execution.settle import not_started
from jobs.execution.watcher import Watched, Watcher

logger = logging.getLogger(__name__)

MAX_UNANSWERED = 16  # requests in the launcher's socket: a send must never wait
MAX_TRIES = 3  # times that a launcher is asked for one attempt


@dataclass(slots=True)
class Wanted:
    """An attempt that is to be started. `tries`: how often a launcher was to be asked for it."""

    launch: Launch
    tries: int = 0


class Starter:
    def __init__(
        self,
        loop: Loop,
        watcher: Watcher,
        report: Callable[[Report], None],
        runs: Path,
        start_launcher: Callable[[], LauncherProcess],
        environment: Callable[[Launch], Mapping[str, str]],
        python: str,
        cgroups: Mapping[str, str],
    ) -> None:
        """start_launcher: OSError if it cannot be started. environment: that of the job. cgroups: see Spec."""
        self._loop = loop
        self._watcher = watcher
        self._report = report
        self._runs = runs
        self._start_launcher = start_launcher
        self._environment = environment
        self._python = python
        self._cgroups = cgroups
        self._launcher: LauncherProcess | None = None
        self._waiting: deque[Wanted] = deque()
        self._unanswered: deque[Wanted] = deque()

    def start(self, launch: Launch) -> None:
        """Begin, unless it has begun already: then what is there is watched or reported instead."""
        self._again(Wanted(launch), "")

    def close(self) -> None:
        if self._launcher:
            self._launcher.close()

    def nudge(self) -> None:
        if self._launcher:
            self._launcher.go_on()

    def _again(self, wanted: Wanted, reason: str) -> None:
        """Whether it was forked is not known, or its runner ended without a word: if it never ran, begin again."""
        self._loop.insist(partial(self._if_it_never_ran, wanted, reason))

    def _if_it_never_ran(self, wanted: Wanted, reason: str) -> None:
        ref = wanted.launch.ref
        if self._watcher.settle(ref):
            return
        if self._watcher.is_cancelled(ref):
            self._give_up(wanted.launch, OutcomeKind.CANCELLED, "was cancelled before it was started")
        elif wanted.tries >= MAX_TRIES:
            self._node_refused(wanted.launch, f"could not be started in {MAX_TRIES} tries: {reason}")
        else:
            self._begin(wanted)

    def _begin(self, wanted: Wanted) -> None:
        wanted.tries += 1
        launch = wanted.launch
        try:
            prepare(self._runs, launch, self._environment(launch), self._python, self._cgroups)
        except EnvironmentFileError as error:
            self._give_up(launch, OutcomeKind.REJECTED, f"could not be started: {error}")
        except OSError as error:
            self._node_refused(launch, f"could not be started: no run directory: {error}")
        except ValueError as error:
            self._give_up(launch, OutcomeKind.LOST, f"could not be started: no run directory: {error}")
        else:
            self._waiting.append(wanted)
            self._ask()

    def _ask(self) -> None:
        """Pass on what waits, as far as the launcher's socket has room for it."""
        while self._waiting and len(self._unanswered) < MAX_UNANSWERED:
            launch = self._waiting[0].launch
            try:
                self._running_launcher().ask(path_of(self._runs, launch.ref))
            except LauncherGoneError:
                return  # its socket is readable now: _on_launcher comes here again
            except OSError as error:
                self._waiting.popleft()
                self._node_refused(launch, f"could not be started: no launcher: {error}")
            else:
                self._unanswered.append(self._waiting.popleft())

    def _running_launcher(self) -> LauncherProcess:
        if self._launcher is None:
            self._launcher = self._start_launcher()
            self._loop.on_readable(self._launcher.socket.fileno(), self._on_launcher)
        return self._launcher

    def _on_launcher(self) -> None:
        launcher = self._running_launcher()
        try:
            answer = launcher.answer()
        except LauncherGoneError as error:
            self._on_launcher_gone(launcher, error)
            return
        wanted = self._unanswered.popleft()
        if isinstance(answer, Refused):
            self._node_refused(wanted.launch, f"could not be started: no process: {answer.error}")
        elif answer.pidfd is None:
            self._again(wanted, "there were too few file descriptors")
        else:
            again = partial(self._again, wanted, "its runner ended before it began")
            self._watcher.watch(wanted.launch.ref, Watched(answer.pidfd, answer.notes, again))
        self._ask()

    def _on_launcher_gone(self, launcher: LauncherProcess, error: LauncherGoneError) -> None:
        logger.warning("%s", error)
        self._launcher = None
        self._loop.no_longer(launcher.socket.fileno())
        unsure, self._unanswered = self._unanswered, deque()
        for wanted in unsure:
            self._again(wanted, str(error))
        self._ask()
        launcher.close()

    def _give_up(self, launch: Launch, kind: OutcomeKind, error: str) -> None:
        self._report(NotStarted(launch.ref, not_started(kind, error)))

    def _node_refused(self, launch: Launch, error: str) -> None:
        self._report(NotStarted(launch.ref, not_started(OutcomeKind.LOST, error), node_refused=True))
