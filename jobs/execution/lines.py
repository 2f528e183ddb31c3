"""The launchers of a node: one that only execs, with the service's Python, and for each Python that scripts are run by
a warm one of that very Python. Each is started when it is first needed; the service's own two stay, the warm ones of
environments end when nothing was asked of them for a while. Belongs to the executor's loop.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from jobs.execution.launching import END_SECONDS, LauncherProcess
from jobs.execution.line import Answers, Line
from jobs.execution.loop import Loop
from jobs.execution.preload import UNFIT, VERSIONS

MOST_WARM = 8  # of environments, at once: each has some 30 MB
IDLE_SECONDS = 300.0


class Lines:
    def __init__(
        self,
        loop: Loop,
        start_launcher: Callable[[str, bool], LauncherProcess],
        python: str,
        cold: Answers,
        warm: Answers,
        start_project: Callable[[], LauncherProcess],
    ) -> None:
        """start_launcher: of which interpreter, and whether a warm one; OSError if it cannot be started. python: the
        service's own. start_project: the same of one that has the project loaded. cold, warm: what becomes of what
        such a launcher was asked.
        """
        self._loop = loop
        self._start_launcher = start_launcher
        self._python = python
        self._answers = warm
        self.cold = Line(loop, "the launcher", partial(start_launcher, python, False), cold)
        self._project = Line(loop, "the launcher of callables", start_project, warm)
        self._warm: dict[str, Line] = {}  # by interpreter, the one that was used last at the end

    def warm(self, interpreter: str) -> Line | str:
        """The line for scripts of `interpreter`, or why there is none, for now or for ever."""
        line = self._warm.pop(interpreter, None) or self._new(interpreter)
        self._warm[interpreter] = line
        if line.failure:
            return f"the warm launcher was of no use: {line.failure}"
        if line.launcher is None:
            if (version := version_of(interpreter)) and version not in VERSIONS:
                return f"Python {version[0]}.{version[1]} {UNFIT}"
            if not self._make_room():
                return f"all {MOST_WARM} warm launchers of other environments are busy"
        return line

    def project(self) -> Line | str:
        """The line for callables that have a process of their own, or why there is none for now."""
        if self._project.failure:
            return f"the launcher of callables was of no use: {self._project.failure}"
        return self._project

    def nudge(self) -> None:
        """To be called now and then: see that all go on, and end those that nobody has asked for a while."""
        for line in self._all():
            line.nudge()
        if self._project.idle_seconds > IDLE_SECONDS:
            self._project.end(f"not used for {IDLE_SECONDS:g} s")
        for interpreter, line in self._of_environments():
            if line.idle_seconds > IDLE_SECONDS:
                line.end(f"not used for {IDLE_SECONDS:g} s")
                if not line.failure:
                    del self._warm[interpreter]

    def close(self) -> None:
        lines = self._all()
        for line in lines:
            line.leave()
        last = time.monotonic() + END_SECONDS
        for line in lines:
            line.close(max(0.0, last - time.monotonic()))

    def _all(self) -> tuple[Line, ...]:
        return self.cold, self._project, *self._warm.values()

    def _new(self, interpreter: str) -> Line:
        name = f"the warm launcher of {interpreter}"
        return Line(self._loop, name, partial(self._start_launcher, interpreter, True), self._answers)

    def _make_room(self) -> bool:
        alive = [line for _, line in self._of_environments() if line.launcher]
        if len(alive) < MOST_WARM:
            return True
        idle = next((line for line in alive if line.idle_seconds), None)
        if idle:
            idle.end(f"the one of {MOST_WARM} that was used longest ago")
        return idle is not None

    def _of_environments(self) -> list[tuple[str, Line]]:
        return [(interpreter, line) for interpreter, line in self._warm.items() if interpreter != self._python]


def version_of(interpreter: str) -> tuple[int, int] | None:
    """Of a virtual environment's Python, as its pyvenv.cfg says; None if it is in none."""
    try:
        text = (Path(interpreter).parents[1] / "pyvenv.cfg").read_text("utf-8", "replace")
    except (OSError, IndexError):
        return None
    found = re.search(r"^version(?:_info)? *= *(\d+)\.(\d+)", text, re.MULTILINE)
    return (int(found[1]), int(found[2])) if found else None
