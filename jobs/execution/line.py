"""One launcher, what waits to be asked of it and what it has not answered. Belongs to the executor's loop."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jobs.execution.launch import Launch
from jobs.execution.launching import LauncherGoneError, LauncherProcess, Refused, Runner
from jobs.execution.loop import Loop

logger = logging.getLogger(__name__)

MAX_UNANSWERED = 16  # requests in the launcher's socket: a send must never wait
ANSWER_SECONDS = 30.0  # more than one import of a large package takes on a busy machine
REST_SECONDS = 300.0  # after a launcher that was of no use


@dataclass(slots=True)
class Wanted:
    """An attempt that is to be started. `tries`: how often a launcher was to be asked for it."""

    launch: Launch
    path: Path
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Answers:
    """What becomes of it: a runner was forked; it was not, for a reason of the node; that is not known; or nobody could
    be asked.
    """

    forked: Callable[[Wanted, Runner], None]
    refused: Callable[[Wanted, str], None]
    unsure: Callable[[Wanted, str], None]
    no_launcher: Callable[[Wanted, str], None]


class Line:
    def __init__(self, loop: Loop, name: str, start_launcher: Callable[[], LauncherProcess], answers: Answers) -> None:
        """name: of its launcher, in the service's log. start_launcher: OSError if it cannot be started."""
        self._loop = loop
        self._name = name
        self._start_launcher = start_launcher
        self._answers = answers
        self.launcher: LauncherProcess | None = None
        self._waiting: deque[Wanted] = deque()
        self._unanswered: deque[Wanted] = deque()
        self._since = 0.0  # monotonic: its last answer, or the first request after it
        self._has_answered = False
        self._failure, self._failed_at = "", 0.0

    def add(self, wanted: Wanted) -> None:
        self._waiting.append(wanted)
        self._ask()

    @property
    def idle_seconds(self) -> float:
        """Since its last answer; 0 while it has work."""
        return 0.0 if self._waiting or self._unanswered else time.monotonic() - self._since

    @property
    def failure(self) -> str:
        """Why its last launcher was of no use, if that was only just now."""
        return self._failure if time.monotonic() < self._failed_at + REST_SECONDS else ""

    def nudge(self) -> None:
        if self.launcher is None:
            return
        self.launcher.go_on()
        if self._unanswered and time.monotonic() > self._since + ANSWER_SECONDS:
            self._fail(f"the launcher did not answer for {ANSWER_SECONDS:g} s and was killed")
            self.end(self._failure)

    def end(self, why: str) -> None:
        """End its launcher, if it has one. What this was asked and has not answered is unsure."""
        if self.launcher:
            self._on_gone(self.launcher, why)

    def leave(self) -> None:
        """Let its launcher do what it was asked, and end."""
        if self.launcher:
            self.launcher.leave()

    def close(self, seconds: float) -> None:
        """After `leave`: see that it ends."""
        if self.launcher:
            self.launcher.close(seconds)

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
                self._answers.no_launcher(wanted, f"no launcher: {error}")
            else:
                if not self._unanswered:
                    self._since = time.monotonic()
                self._unanswered.append(self._waiting.popleft())

    def _running_launcher(self) -> LauncherProcess:
        if self.launcher is None:
            self.launcher = self._start_launcher()
            self._has_answered = False
            self._loop.on_readable(self.launcher.socket.fileno(), self._on_launcher)
        return self.launcher

    def _on_launcher(self) -> None:
        launcher = self._running_launcher()
        try:
            answer = launcher.answer()
        except LauncherGoneError as error:
            self._on_gone(launcher, str(error))
            return
        self._since, self._has_answered = time.monotonic(), True
        wanted = self._unanswered.popleft()
        if isinstance(answer, Refused):
            self._answers.refused(wanted, f"no process: {answer.error}")
        else:
            self._answers.forked(wanted, answer)
        self._ask()

    def _on_gone(self, launcher: LauncherProcess, why: str) -> None:
        self.launcher = None
        self._loop.no_longer(launcher.socket.fileno())
        status = launcher.end()
        logger.log(logging.WARNING if self._unanswered else logging.INFO, "%s: %s", self._name, why)
        if status and not self._has_answered:
            self._fail(why)
        unsure, self._unanswered = self._unanswered, deque()
        if self.failure:
            unsure += self._waiting
            self._waiting.clear()
        for wanted in unsure:
            self._answers.unsure(wanted, why)
        self._ask()

    def _fail(self, why: str) -> None:
        self._failure, self._failed_at = why, time.monotonic()
