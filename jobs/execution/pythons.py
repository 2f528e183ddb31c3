"""The Pythons that a node has, and which of them a job gets. None is downloaded."""

from __future__ import annotations

import json
import logging
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version

logger = logging.getLogger(__name__)

LIST_SECONDS = 60.0
CONCEIVABLE = [f"3.{minor}.{micro}" for minor in range(40) for micro in range(30)]


@dataclass(frozen=True, slots=True)
class Python:
    """An interpreter: its version such as 3.12.4, and where it is."""

    version: str
    path: str


class MissingPythonError(Exception):
    """This node has no Python that will do."""

    def __init__(self, wanted: str, there: Sequence[Python]) -> None:
        needs = f"it needs Python {in_words(wanted)}"
        listed = ", ".join(one.version for one in there)
        if may_be(wanted):
            super().__init__(f"{needs}, and this node has {listed}; install it there, or ask for one of these")
        else:
            super().__init__(f"{needs}, which no version is: these contradict each other; change one of them")


def own() -> Python:
    """That of the service, without its virtual environment."""
    return Python(platform.python_version(), str(getattr(sys, "_base_executable", sys.executable)))


def find(uv: str, env: Mapping[str, str]) -> list[Python]:
    """The service's own, then all others by version, newest first: on PATH, or installed by uv. `env`: for uv."""
    command = [uv, "python", "list", "--only-installed", "--output-format", "json", "--no-config"]
    try:
        done = subprocess.run(command, env=dict(env), capture_output=True, timeout=LIST_SECONDS, cwd="/")
        listed = json.loads(done.stdout or "[]")
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        logger.warning("the Pythons of this node cannot be listed, so there is but the service's own: %s", error)
        listed = []
    found = {own().version: own()}
    for one in listed:
        if one.get("implementation") == "cpython" and one.get("variant", "default") == "default" and one.get("path"):
            found.setdefault(one["version"], Python(one["version"], os.path.realpath(one["path"])))
    others = sorted(list(found.values())[1:], key=lambda one: Version(one.version), reverse=True)
    return [own(), *others]


def choose(wanted: str, there: Sequence[Python]) -> Python:
    """The service's own if that will do, else the newest that does. Raises MissingPythonError."""
    versions = SpecifierSet(wanted)
    for one in there:
        if versions.contains(one.version, prereleases=True):
            return one
    raise MissingPythonError(wanted, there)


def may_be(wanted: str) -> bool:
    """Whether some version will do, there or not: one that is named, or any that Python may have some day."""
    versions = SpecifierSet(wanted)
    named = [one.version.removesuffix(".*") for one in versions]
    return len(named) < 2 or any(versions.contains(one, prereleases=True) for one in (*named, *CONCEIVABLE))


def in_words(wanted: str) -> str:
    """Such as "3.12" or "3.12 and >=3.11" of specifiers."""
    return " and ".join(part.removeprefix("==").removesuffix(".*") for part in wanted.split(",")) or "of any version"


def write(file: Path, found: Sequence[Python]) -> None:
    """For the pages, which look for nothing themselves."""
    beside = file.with_suffix(".tmp")
    beside.write_text(json.dumps([asdict(one) for one in found]))
    beside.replace(file)


def read(file: Path) -> list[Python]:
    try:
        return [Python(**one) for one in json.loads(file.read_text())]
    except (OSError, ValueError, TypeError):
        return []
