"""Hands attempts to a launcher, and finds out what became of those that it did not answer for.

Scripts go to one of their own Python that may start them warm, all else to the one that only execs, which is there for
them too should the other be of no use.

Belongs to the executor's loop.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from jobs.core.states import OutcomeKind
from jobs.execution.environment import EnvironmentFileError
from jobs.execution.hosting import Hosts
from jobs.execution.launch import Launch, NotStarted, Report
from jobs.execution.launching import LauncherProcess, Runner
from jobs.execution.line import Answers, Line, Wanted
from jobs.execution.lines import Lines
from jobs.execution.loop import Loop
from jobs.execution.prepare import path_of, prepare
from jobs.execution.settle import not_started
from jobs.execution.unstarted import end_unstarted
from jobs.execution.watcher import Watched, Watcher

logger = logging.getLogger(__name__)

MAX_TRIES = 3  # times that a launcher is asked for one attempt


class Starter:
    def __init__(
        self,
        loop: Loop,
        watcher: Watcher,
        report: Callable[[Report], None],
        runs: Path,
        start_launcher: Callable[[str, bool], LauncherProcess],
        environment: Callable[[Launch], Mapping[str, str]],
        python: str,
        cgroups: Mapping[str, str],
        hosts: Hosts,
        start_project: Callable[[], LauncherProcess],
    ) -> None:
        """start_launcher, start_project: see Lines. environment: that of the job. python: the service's own. cgroups:
        see Spec.
        """
        self._loop = loop
        self._watcher = watcher
        self._report = report
        self._runs = runs
        self._environment = environment
        self._python = python
        self._cgroups = cgroups
        self._hosts = hosts
        cold = hosts.answers = Answers(self._on_forked, self._on_refused, self._again, self._on_refused)
        warm = Answers(self._on_forked, self._on_refused, self._again, self._again)
        self._lines = Lines(loop, start_launcher, python, cold, warm, start_project)

    def start(self, launch: Launch) -> None:
        """Begin, unless it has begun already: then what is there is watched or reported instead."""
        self._again(Wanted(launch, path_of(self._runs, launch.ref)), "")

    def close(self) -> None:
        self._lines.close()

    def nudge(self) -> None:
        self._lines.nudge()

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
            self._begin(wanted, reason)

    def _begin(self, wanted: Wanted, reason: str) -> None:
        wanted.tries += 1
        launch = wanted.launch
        if error := launch.parameters_error or launch.secrets_error:
            self._end_unstarted(launch, OutcomeKind.REJECTED, f"could not be started: {error}")
            return
        if launch.environment_error:
            self._end_unstarted(launch, OutcomeKind.ENVIRONMENT_FAILED, launch.environment_error)
            return
        line, why_cold = self._line_for(wanted, reason)
        try:
            prepare(self._runs, launch, self._env_of(launch), self._python, self._cgroups, why_cold)
        except EnvironmentFileError as error:
            self._end_unstarted(launch, OutcomeKind.REJECTED, f"could not be started: {error}")
        except OSError as error:
            self._node_refused(launch, f"could not be started: no run directory: {error}")
        except ValueError as error:
            self._give_up(launch, OutcomeKind.LOST, f"could not be started: no run directory: {error}")
        else:
            line.add(wanted)

    def _env_of(self, launch: Launch) -> Mapping[str, str]:
        """What runs in a host shares that one's."""
        return {} if launch.hosted else self._environment(launch)

    def _line_for(self, wanted: Wanted, reason: str) -> tuple[Line | Hosts, str]:
        """Whom to ask, and why it will start cold where that is sure. A warm launcher's runner sees to the rest."""
        launch = wanted.launch
        if launch.hosted:
            return self._hosts, ""
        if launch.kind == "command" or launch.run.start == "cold":
            return self._lines.cold, ""
        if wanted.tries > 1:  # what a warm launcher was asked for once may be what ended it
            return self._lines.cold, f"the warm launcher did not start it: {reason}"
        is_callable = launch.kind == "callable"
        line = self._lines.project() if is_callable else self._lines.warm(launch.interpreter or self._python)
        return (self._lines.cold, line) if isinstance(line, str) else (line, "")

    def _on_forked(self, wanted: Wanted, runner: Runner) -> None:
        if runner.pidfd is None:
            self._again(wanted, "there were too few file descriptors")
        else:
            again = partial(self._again, wanted, "its runner ended before it began")
            self._watcher.watch(wanted.launch.ref, Watched(runner.pidfd, runner.notes, again))

    def _on_refused(self, wanted: Wanted, why: str) -> None:
        self._node_refused(wanted.launch, f"could not be started: {why}")

    def _end_unstarted(self, launch: Launch, kind: OutcomeKind, error: str) -> None:
        """As a runner would end it, with a log; on a disk that takes none, without."""
        try:
            path = prepare(self._runs, launch, {}, self._python)
            with self._watcher.settling:
                end_unstarted(path, launch, kind, error)
        except (OSError, ValueError):
            self._give_up(launch, kind, error)
        else:
            self._watcher.settle(launch.ref)

    def _give_up(self, launch: Launch, kind: OutcomeKind, error: str) -> None:
        self._report(NotStarted(launch.ref, not_started(kind, error)))

    def _node_refused(self, launch: Launch, error: str) -> None:
        self._report(NotStarted(launch.ref, not_started(OutcomeKind.LOST, error), node_refused=True))
