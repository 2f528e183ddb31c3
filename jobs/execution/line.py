"""One launcher, what waits to be asked of it and what it has not answered. Belongs to the executor's loop."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jobs.execution.launch import Launch
from jobs.execution.launching import LauncherGoneError, LauncherProcess, Refused, Runner
from jobs.execution.loop import Loop

logger = logging.getLogger(__name__)

MAX_UNANSWERED = 16  # requests in the launcher's socket: a send must never wait


@dataclass(slots=True)
class Wanted:
    """An attempt that is to be started. `tries`: how often a launcher was to be asked for it."""

    launch: Launch
    path: Path
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Answers:
    """What becomes of it: a runner was forked; it was not, for a reason of the node; or that is not known."""

    forked: Callable[[Wanted, Runner], None]
    refused: Callable[[Wanted, str], None]
    unsure: Callable[[Wanted, str], None]


class Line:
    def __init__(self, loop: Loop, start_launcher: Callable[[], LauncherProcess], answers: Answers) -> None:
        """start_launcher: OSError if it cannot be started."""
        self._loop = loop
        self._start_launcher = start_launcher
        self._answers = answers
        self.launcher: LauncherProcess | None = None
        self._waiting: deque[Wanted] = deque()
        self._unanswered: deque[Wanted] = deque()

    def add(self, wanted: Wanted) -> None:
        self._waiting.append(wanted)
        self._ask()

    def close(self) -> None:
        if self.launcher:
            self.launcher.close()

    def nudge(self) -> None:
        if self.launcher:
            self.launcher.go_on()

    def _ask(self) -> None:
        """Pass on what waits, as far as the launcher's socket has room for it."""
        while self._waiting and len(self._unanswered) < MAX_UNANSWERED:
            wanted = self._waiting[0]
            try:
                self._running_launcher().ask(wanted.path, wanted.launch.secrets)
            except LauncherGoneError:
                return  # its socket is readable now: _on_launcher comes here again
            except OSError as error:
                self._waiting.popleft()
                self._answers.refused(wanted, f"no launcher: {error}")
            else:
                self._unanswered.append(self._waiting.popleft())

    def _running_launcher(self) -> LauncherProcess:
        if self.launcher is None:
            self.launcher = self._start_launcher()
            self._loop.on_readable(self.launcher.socket.fileno(), self._on_launcher)
        return self.launcher

    def _on_launcher(self) -> None:
        launcher = self._running_launcher()
        try:
            answer = launcher.answer()
        except LauncherGoneError as error:
            self._on_launcher_gone(launcher, error)
            return
        wanted = self._unanswered.popleft()
        if isinstance(answer, Refused):
            self._answers.refused(wanted, f"no process: {answer.error}")
        else:
            self._answers.forked(wanted, answer)
        self._ask()

    def _on_launcher_gone(self, launcher: LauncherProcess, error: LauncherGoneError) -> None:
        logger.warning("%s", error)
        self.launcher = None
        self._loop.no_longer(launcher.socket.fileno())
        unsure, self._unanswered = self._unanswered, deque()
        for wanted in unsure:
            self._answers.unsure(wanted, str(error))
        self._ask()
        launcher.close()
