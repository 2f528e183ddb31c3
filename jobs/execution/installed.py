"""The environments on this node's disk: <data folder>/environments/<key>/, each a virtual environment with

    rota.json     what it has and when it was built: it is there when all else is, since the folder is renamed last
    in-use        has a shared flock on it for as long as a runner uses the environment; its time is the last use
    build.log     what the build printed

Beside them lie what is being built (.making), what is being removed (.gone), uv's cache, and pythons.json.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from jobs.execution.foldertree import remove_tree
from jobs.execution.inuse import IN_USE

ENVIRONMENTS = "environments"
FACTS, LOG = "rota.json", "build.log"
USABLE = (IN_USE, "pyvenv.cfg", "lib")  # without one of these no runner can start in it, or finds no package
MAKING, GONE, CACHE, PYTHONS = ".making", ".gone", "cache", "pythons.json"
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Facts:
    """`version`: of its Python. `wanted`: versions that would have done. `built_at` in seconds since the epoch."""

    version: str
    wanted: str
    requirements: list[str]
    built_at: float
    seconds: float
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Installed:
    """One that is complete. `used_at` in seconds since the epoch."""

    key: str
    path: Path
    facts: Facts
    used_at: float
    in_use: bool


class EnvironmentFolder:
    def __init__(self, data_dir: Path) -> None:
        self.root = data_dir / ENVIRONMENTS
        self.cache = self.root / CACHE
        self.pythons = self.root / PYTHONS

    def make(self) -> None:
        """Others than the service's user see no names in it, and nothing of what has been fetched."""
        self.root.mkdir(mode=0o711, exist_ok=True)
        self.cache.mkdir(mode=0o700, exist_ok=True)

    def path(self, key: str) -> Path:
        return self.root / key

    def find(self, key: str) -> Path | None:
        """Where it is, if it is complete. One whose Python is gone, as after an upgrade of the system's, is not, nor is
        one of which somebody has removed what it cannot do without.
        """
        path = self.path(key)
        whole = facts_in(path) and all((path / name).exists() for name in USABLE)
        return path if whole and os.access(path / "bin/python", os.X_OK) else None

    def new(self, key: str) -> Path:
        """Where to make one; nobody else makes one there."""
        return self.root / f"{key}.{secrets.token_hex(4)}{MAKING}"

    def complete(self, made: Path, key: str, facts: Facts) -> Path:
        """Put it in its place, where a power cut leaves it whole: all of it is on the disk before it has its name.
        OSError if the disk does not let us. Takes as long as the disk takes for all that it has not written yet.
        """
        (made / IN_USE).touch()
        (made / FACTS).write_text(json.dumps(asdict(facts)))
        write_out(made)
        place = self.path(key)
        if os.path.lexists(place):  # without its facts or its Python, so nothing could use it
            self.put_away(place)
        return made.rename(place)

    def used(self, key: str) -> None:
        """Somebody is about to use it. Where the disk takes no note of that, it is used nevertheless."""
        with suppress(OSError):
            os.utime(self.path(key) / IN_USE)

    def all(self) -> Iterator[Installed]:
        """Those that are complete."""
        with suppress(FileNotFoundError):
            for entry in sorted(self.root.iterdir()):
                if (found := look(entry)) is not None:
                    yield found

    def put_away(self, path: Path) -> Path:
        """Under a name at which nobody looks; what is left of it is removed by `sweep`."""
        gone = self.root / f"{path.name}.{secrets.token_hex(4)}{GONE}"
        with suppress(FileNotFoundError):
            path.rename(gone)
        return gone

    def left_over(self) -> list[Path]:
        """What was being made or removed when the service ended, for `remove`. To be called before anything is made.

        What uv had fetched for a build that ended with its machine may be empty files by now, which uv would take for
        the packages: then the cache is put away.
        """
        left = [entry for entry in self.root.iterdir() if entry.name.endswith((MAKING, GONE))]
        booted_at = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
        if any(entry.name.endswith(MAKING) and entry.lstat().st_mtime < booted_at for entry in left):
            left.append(self.put_away(self.cache))
            self.make()
        return left


def write_out(folder: Path) -> None:
    """Have the disk keep all that was written to its file system so far: an environment is thousands of files."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if LIBC.syncfs(fd):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    finally:
        os.close(fd)


def look(path: Path) -> Installed | None:
    facts = facts_in(path)
    if facts is None:
        return None
    try:
        return Installed(path.name, path, facts, (path / IN_USE).stat().st_mtime, is_used(path))
    except OSError:
        return None  # it has just been put away


def facts_in(path: Path) -> Facts | None:
    try:
        return Facts(**json.loads((path / FACTS).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def is_used(path: Path) -> bool:
    """By a runner, of whatever incarnation of the service."""
    fd = os.open(path / IN_USE, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def bytes_on_disk(*folders: Path) -> int:
    """Bytes on the disk, what is linked from several places once."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                with suppress(FileNotFoundError):
                    found = (Path(place) / name).lstat()
                    if (found.st_dev, found.st_ino) not in seen:
                        seen.add((found.st_dev, found.st_ino))
                        total += found.st_blocks * 512
    return total


def days_ago(seconds: float) -> float:
    return (time.time() - seconds) / 86_400


def remove(path: Path) -> None:
    """What cannot be removed now, the next sweep will."""
    with suppress(OSError):
        if path.is_dir():
            remove_tree(str(path))
        else:
            path.unlink()
