"""The run directories of this node as a whole: whose they are, how large, and the end of those kept no longer."""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from jobs.execution.claim import has_runner
from jobs.execution.foldertree import remove_tree
from jobs.execution.limits import set_io_priority
from jobs.execution.program import StartError

log = logging.getLogger(__name__)

ID = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
VOID = re.compile(r".+\.void[0-9]+")  # where an attempt never ran: see prepare.set_aside
LATE_SECONDS = 3600.0  # no runner comes so late to a directory that was set aside


@contextmanager
def idle() -> Iterator[None]:
    """Within the block this thread has the disk when nobody else wants it, as far as its scheduler heeds that."""
    with suppress(StartError):  # a machine where it cannot be said
        set_io_priority("idle")
    try:
        yield
    finally:
        with suppress(StartError):
            set_io_priority("normal")


def instances_in(runs: Path) -> Iterator[int]:
    """The ids of all instances that have a directory here, in no order. None if there is no folder yet."""
    try:
        with os.scandir(runs) as entries:
            for entry in entries:
                if ID.fullmatch(entry.name):
                    yield int(entry.name)
    except FileNotFoundError:
        return


def remove(folder: Path) -> int:
    """Remove it, and return how many bytes it took. What cannot be removed is logged, and found again by the next look
    at all of them.
    """
    try:
        return remove_tree(str(folder))
    except FileNotFoundError:
        return 0
    except OSError as error:
        log.warning("the run directory %s could not be removed: %s", folder, error)
        return 0


def is_held(folder: Path) -> bool:
    """Whether an attempt of this instance has a runner that is alive."""
    return any(has_runner(str(path)) for path in attempts_in(folder))


def attempts_in(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()]
    except (FileNotFoundError, NotADirectoryError):
        return []


def clear_voids(folder: Path) -> int:
    """Of an instance that has ended: remove where attempts never ran. The bytes that these took."""
    voids = [path for path in attempts_in(folder) if VOID.fullmatch(path.name)]
    return sum(remove(path) for path in voids if _age(path) > LATE_SECONDS and not has_runner(str(path)))


def is_fresh(folder: Path) -> bool:
    return _age(folder) < LATE_SECONDS


def _age(path: Path) -> float:
    """Seconds since something was last made or removed in it."""
    try:
        return time.time() - path.lstat().st_mtime
    except FileNotFoundError:
        return 0.0
