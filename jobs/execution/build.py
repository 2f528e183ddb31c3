"""One build of an environment, seen from the service: what uv is told, and what came of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from uv import find_uv_bin

from jobs.core.packages import PackagesNeeded
from jobs.execution.building import FAILED, TOO_LONG, UNWANTED
from jobs.execution.environment import PATH, read_file
from jobs.execution.installed import LOG, MAKING, EnvironmentFolder, Facts, bytes_on_disk, remove
from jobs.execution.launching import PROJECT
from jobs.execution.limits import home
from jobs.execution.masking import masked
from jobs.execution.pythons import MissingPythonError, Python, choose, find, own, read, write

MAIN = "import sys; sys.path.insert(0, sys.argv[1]); from jobs.execution.building import main; main()"
# What a build is told of an environment: where packages come from, and how to get there.
TOLD = re.compile(r"UV_.*|SSL_CERT_(FILE|DIR)|NETRC|(?i:(HTTPS?|ALL|NO)_PROXY)")
AS_PIP = {"PIP_INDEX_URL": "UV_DEFAULT_INDEX", "PIP_EXTRA_INDEX_URL": "UV_INDEX", "PIP_FIND_LINKS": "UV_FIND_LINKS"}
LONGEST_ERROR, MOST_LINES = 1000, 400
CACHE_AT_FAULT = re.compile("cache entry")  # of what uv says of a failure
HINT = re.compile(r"\.? hint: ")
BEGINS = re.compile(r"^\s*(\N{MULTIPLICATION SIGN}|error:)")
# uv is not at hand for whoever reads this: what can be set here says the same.
FLAG_FOR_CERTIFICATES = re.compile(r"hint: [^;]*`--system-certs`[^;]*")
TRUST_THE_SYSTEM = "hint: write UV_SYSTEM_CERTS=1 into {}"
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

    def look_for_pythons(self) -> list[Python]:
        """Those that there are now. OSError if it cannot be written down, ValueError if the node's file is wrong."""
        found = find(uv(), self._env())
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
        self._folder.make()
        made = self._folder.new(key)
        log = made.with_name(f"{made.name}.log{MAKING}")
        try:
            commands = self._commands(needed, python, made)
            status, lines = self._run(commands, log, wish)
            if status == FAILED and CACHE_AT_FAULT.search(message_in(lines, self._node_file)):
                remove(made)
                status, lines = self._run([[uv(), "cache", "clean"], *commands], log, wish)
            self._check(status, lines)
            log.rename(made / LOG)
            seconds = time.monotonic() - began
            wanted = list(needed.requirements)
            facts = Facts(python.version, needed.python, wanted, time.time(), seconds, bytes_on_disk(made))
            self._folder.complete(made, key, facts)
        finally:
            remove(made)
            remove(log)
        what = ", ".join(wanted) or "no packages"
        return (f"Python {python.version} with {what} was made ready in {seconds:.1f} s", *lines)

    def _check(self, status: int, lines: tuple[str, ...]) -> None:
        """Raises BuildFailed, or Unwanted, unless it succeeded."""
        if status == UNWANTED:
            raise Unwanted
        if status == TOO_LONG:
            raise BuildFailed(f"its packages were not installed within {self._timeout:g} s", lines)
        if status:
            killed = f"the process that does it was killed by signal {-status}"
            why = message_in(lines, self._node_file) if status > 0 else killed
            raise BuildFailed(f"its packages could not be installed: {why}", lines)

    def _commands(self, needed: PackagesNeeded, python: Python, made: Path) -> list[list[str]]:
        venv = [uv(), "venv", "--no-project", "--relocatable", "--python", python.path, str(made)]
        install = [uv(), "pip", "install", "--compile-bytecode", "--python", str(made / "bin/python")]
        return [venv, [*install, *needed.requirements]] if needed.requirements else [venv]

    def _run(self, commands: list[list[str]], log: Path, wish: Wish) -> tuple[int, tuple[str, ...]]:
        """Its status and, line by line, what it printed, after what is in the log already."""
        order = json.dumps({"commands": commands, "log": str(log), "seconds": self._timeout})
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-X", "utf8", "-c", MAIN, str(PROJECT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._env(),
            cwd="/",
            umask=0o022,
            start_new_session=True,
        )
        assert process.stdin is not None  # noqa: S101 it was asked for
        assert process.stdout is not None  # noqa: S101 it was asked for
        with process.stdout:
            try:
                process.stdin.write(order.encode() + b"\n")
                process.stdin.flush()
                wish.attach(process.stdin)
                status = process.wait()
            finally:
                process.stdin.close()
            told = process.stdout.read().decode("utf-8", "replace")
        return status, (*lines_of(log), *told.splitlines())

    def _env(self) -> dict[str, str]:
        """Built from nothing, as that of a job is."""
        file = read_file(self._node_file)
        return sources(os.environ, file) | {
            "PATH": ":".join(filter(None, (file.get("PATH"), os.environ.get("PATH"), PATH))),
            "HOME": home(),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "UV_NO_PROGRESS": "1",
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_CACHE_DIR": str(self._folder.cache),
        }


def sources(service: Mapping[str, str], file: Mapping[str, str]) -> dict[str, str]:
    """Where packages come from: as the node's environment file says, else as the service was told, who was installed
    from there itself. Of that nothing that may be secret: any job of its user can read what a build was given.
    """
    by_file = _told(file)
    spelt = {name.upper() for name in by_file}  # those of proxies are written both ways
    by_service = {
        name: value
        for name, value in _told(service).items()
        if name.upper() not in spelt and "@" not in value and masked(name, value) == value
    }
    return by_service | by_file


def _told(variables: Mapping[str, str]) -> dict[str, str]:
    as_pip = {AS_PIP[name]: value for name, value in variables.items() if name in AS_PIP}
    return as_pip | {name: value for name, value in variables.items() if TOLD.fullmatch(name)}


def uv() -> str:
    """Where it is. One that is not installed with us may be on the PATH; else the build says that it is not there."""
    try:
        return find_uv_bin()
    except FileNotFoundError:
        return "uv"


def lines_of(log: Path) -> tuple[str, ...]:
    """The first and the last of them."""
    try:
        lines = log.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return ()
    half = MOST_LINES // 2
    return tuple(lines if len(lines) <= MOST_LINES else [*lines[:half], "...", *lines[-half:]])


def message_in(lines: tuple[str, ...], node_file: Path) -> str:
    """What uv says of a failure, in one line. node_file: as of Builder."""
    begins = [number for number, line in enumerate(lines) if BEGINS.match(line)]
    said = DRAWN.sub(" ", " ".join(lines[begins[0] :] if begins else lines[-5:])).strip()
    said = said.removeprefix("error: ").replace(" cause: ", ": ")
    said = HINT.sub("; hint: ", said)
    said = FLAG_FOR_CERTIFICATES.sub(lambda _: TRUST_THE_SYSTEM.format(node_file), said)
    return said[:LONGEST_ERROR] or "uv said nothing"
