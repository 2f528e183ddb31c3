"""One build of an environment, seen from the service: what uv is told, and what came of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

from uv import find_uv_bin

from jobs.core.packages import PackagesNeeded
from jobs.execution.building import TOO_LONG, UNWANTED
from jobs.execution.environment import PATH, read_file
from jobs.execution.installed import LOG, MAKING, EnvironmentFolder, Facts, remove, size_of
from jobs.execution.launching import PROJECT
from jobs.execution.limits import home
from jobs.execution.pythons import MissingPythonError, Python, choose, find, own, read, write

MAIN = "import sys; sys.path.insert(0, sys.argv[1]); from jobs.execution.building import main; main(sys.argv[2])"
# Of the node's environment file, what a build is told: where packages come from, and how to get there.
TOLD = re.compile(r"UV_.*|SSL_CERT_(FILE|DIR)|NETRC|(?i:(HTTPS?|ALL|NO)_PROXY)")
AS_PIP = {"PIP_INDEX_URL": "UV_DEFAULT_INDEX", "PIP_EXTRA_INDEX_URL": "UV_INDEX", "PIP_FIND_LINKS": "UV_FIND_LINKS"}
LONGEST_ERROR, MOST_LINES = 1000, 400
BEGINS = re.compile(r"^\s*(\N{MULTIPLICATION SIGN}|error:)")
DRAWN = re.compile(r"[\s│├╰─▶\N{MULTIPLICATION SIGN}]+")


class BuildFailed(Exception):
    """An environment cannot be made; the sentence says why. `log`: what was printed, line by line."""

    def __init__(self, sentence: str, log: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.log = log


class Unwanted(Exception):
    """Nobody waits for it any more."""


class Wish:
    """That a build end, from another thread: the process that runs it sees the end of its standard input."""

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._to_close: IO[bytes] | None = None
        self.to_end = False

    def end(self) -> None:
        with self._gate:
            self.to_end = True
            if self._to_close:
                self._to_close.close()

    def attach(self, standard_input: IO[bytes]) -> None:
        with self._gate:
            self._to_close = standard_input
            if self.to_end:
                standard_input.close()


class Builder:
    """Makes environments of one node, in the threads of who asks."""

    def __init__(self, folder: EnvironmentFolder, node_file: Path, timeout_seconds: float) -> None:
        """node_file: the node's environment file."""
        self._folder = folder
        self._node_file = node_file
        self._timeout = timeout_seconds
        self._uv = find_uv_bin()

    def look_for_pythons(self) -> list[Python]:
        """Those that there are now. OSError if it cannot be written down, ValueError if the node's file is wrong."""
        found = find(self._uv, self._env())
        write(self._folder.pythons, found)
        return found

    def make(self, needed: PackagesNeeded, key: str, wish: Wish) -> tuple[str, ...]:
        """Build it; returns what was printed. Raises BuildFailed, or Unwanted where it was to end."""
        try:
            python = self._python(needed.python)
            return self._make(needed, key, python, wish)
        except MissingPythonError as error:
            raise BuildFailed(str(error)) from error
        except (OSError, ValueError) as error:
            raise BuildFailed(f"its packages could not be installed: {error}") from error

    def _python(self, wanted: str) -> Python:
        """One that was not there a while ago may be now, and one that was there may be gone."""
        known = [own(), *(one for one in read(self._folder.pythons) if Path(one.path).exists())]
        try:
            return choose(wanted, known)
        except MissingPythonError:
            return choose(wanted, self.look_for_pythons())

    def _make(self, needed: PackagesNeeded, key: str, python: Python, wish: Wish) -> tuple[str, ...]:
        began = time.monotonic()
        made = self._folder.new(key)
        log = made.with_name(f"{made.name}.log{MAKING}")
        try:
            status = self._run(self._commands(needed, python, made), log, wish)
            lines = lines_of(log)
            if status == UNWANTED:
                raise Unwanted
            if status == TOO_LONG:
                raise BuildFailed(f"its packages were not installed within {self._timeout:g} s", lines)
            if status:
                raise BuildFailed(f"its packages could not be installed: {message_in(lines)}", lines)
            log.rename(made / LOG)
            seconds = time.monotonic() - began
            wanted = list(needed.requirements)
            facts = Facts(python.version, needed.python, wanted, time.time(), seconds, size_of(made))
            self._folder.complete(made, key, facts)
        finally:
            remove(made)
            remove(log)
        what = ", ".join(wanted) or "no packages"
        return (f"Python {python.version} with {what} was made ready in {seconds:.1f} s", *lines)

    def _commands(self, needed: PackagesNeeded, python: Python, made: Path) -> list[list[str]]:
        venv = [self._uv, "venv", "--no-project", "--relocatable", "--python", python.path, str(made)]
        install = [self._uv, "pip", "install", "--compile-bytecode", "--python", str(made / "bin/python")]
        return [venv, [*install, *needed.requirements]] if needed.requirements else [venv]

    def _run(self, commands: list[list[str]], log: Path, wish: Wish) -> int:
        order = json.dumps({"commands": commands, "log": str(log), "seconds": self._timeout})
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-X", "utf8", "-c", MAIN, str(PROJECT), order],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=self._env(),
            cwd="/",
            umask=0o022,
            start_new_session=True,
        )
        assert process.stdin is not None  # noqa: S101 it was asked for
        wish.attach(process.stdin)
        try:
            return process.wait()
        finally:
            process.stdin.close()

    def _env(self) -> dict[str, str]:
        """Built from nothing, as that of a job is."""
        file = read_file(self._node_file)
        given = {AS_PIP[name]: value for name, value in file.items() if name in AS_PIP}
        given |= {name: value for name, value in file.items() if TOLD.fullmatch(name)}
        return given | {
            "PATH": ":".join(filter(None, (file.get("PATH"), os.environ.get("PATH"), PATH))),
            "HOME": home(),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "UV_NO_PROGRESS": "1",
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_CACHE_DIR": str(self._folder.cache),
        }


def lines_of(log: Path) -> tuple[str, ...]:
    """The first and the last of them."""
    try:
        lines = log.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return ()
    half = MOST_LINES // 2
    return tuple(lines if len(lines) <= MOST_LINES else [*lines[:half], "...", *lines[-half:]])


def message_in(lines: tuple[str, ...]) -> str:
    """What uv says of a failure, in one line."""
    begins = [number for number, line in enumerate(lines) if BEGINS.match(line)]
    said = DRAWN.sub(" ", " ".join(lines[begins[0] :] if begins else lines[-5:])).strip()
    said = said.removeprefix("error: ").replace(" cause: ", ": ").replace(" hint: ", "; hint: ")
    return said[:LONGEST_ERROR] or "uv said nothing"
