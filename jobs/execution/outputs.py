"""The files that a job leaves in `$ROTA_OUTPUT`, which is the folder output/ of the run directory.

They are kept with the attempt, up to a number of bytes and of files; at its end the runner removes what is beyond, the
largest first. Links, sockets and FIFOs are never followed or opened, and removed. Standard library only.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

from jobs.execution import mounts
from jobs.execution.foldertree import remove_tree
from jobs.execution.mask import Mask
from jobs.execution.rundir import FOLDER, OUTPUT, RunDir, open_directory, open_inner

MOST_FILES = 1000
MOST_LEVELS = 20
MOST_SAID = 10
UNTELLABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")  # in a name: no address and no page could have it


class OutputFile(NamedTuple):
    """`name`: its path in the folder, with `/` between; `modified_at`: seconds since the epoch."""

    name: str
    size: int
    modified_at: float


def listed(path: str | os.PathLike[str]) -> list[OutputFile]:
    """Those in the run directory `path`, by name, at most MOST_FILES; none if there is no such folder (any more)."""
    try:
        fd = open_directory(f"{os.fspath(path)}/{OUTPUT}")
    except FileNotFoundError:
        return []
    try:
        return sorted(files_in(fd))
    finally:
        os.close(fd)


def files_in(fd: int) -> list[OutputFile]:
    found: list[OutputFile] = []
    for name, entry in walk(fd):
        if stat.S_ISREG(entry.st_mode) and not UNTELLABLE.search(name):
            found.append(OutputFile(name, entry.st_size, entry.st_mtime))
            if len(found) >= MOST_FILES:
                break
    return found


def open_output(path: str | os.PathLike[str], name: str) -> int:
    """Descriptor of a file, to be closed by the caller. FileNotFoundError for anything else: step by step, so that no
    link on the way leads out of the folder.
    """
    folders, _, file = name.rpartition("/")
    steps = [part for part in folders.split("/") if part] if folders else []
    if file in ("", ".", "..") or any(part in (".", "..") for part in steps) or "\0" in name:
        raise FileNotFoundError(errno.ENOENT, "no such output", name)
    at = open_directory(f"{os.fspath(path)}/{OUTPUT}")
    try:
        for part in steps:
            inner = os.open(part, FOLDER, dir_fd=at)
            os.close(at)
            at = inner
        fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    except OSError as error:
        raise FileNotFoundError(errno.ENOENT, "no such output", name) from error
    finally:
        os.close(at)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise FileNotFoundError(errno.ENOENT, "no such output", name)
    return fd


def settle(rundir: RunDir, cap_bytes: int, notice: Callable[[str], None], mask: Mask) -> None:
    """At the end of an attempt: keep what may be kept, remove the rest and say so. An empty folder goes. `mask`: of the
    secrets, which no name of a file may tell.
    """
    try:
        if remove_if_empty(rundir):
            return
        mounts.release(f"/proc/self/fd/{rundir.fd}/{OUTPUT}")
        fd = rundir.open(OUTPUT, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        notice(f"outputs could not be looked through: {error}")
        return
    try:
        gone = trim(fd, cap_bytes, mask)
        for line in gone[:MOST_SAID]:
            notice(line)
        if len(gone) > MOST_SAID:
            notice(f"and {len(gone) - MOST_SAID} more outputs were not kept")
    except OSError as error:
        notice(f"outputs could not be looked through: {error}")
    finally:
        os.close(fd)
    remove_if_empty(rundir)


def remove_if_empty(rundir: RunDir) -> bool:
    """Remove the folder if it is empty; whether it is gone."""
    try:
        os.rmdir(OUTPUT, dir_fd=rundir.fd)
    except FileNotFoundError:
        return True
    except OSError:  # it has something in it
        return False
    return True


def trim(fd: int, cap_bytes: int, mask: Mask) -> list[str]:
    """Remove what is no file, and files until the rest fits; sentences about what was removed."""
    said, files, total = [], [], 0
    for name, entry in list(walk(fd)):
        if stat.S_ISREG(entry.st_mode) and not UNTELLABLE.search(name):
            if (told := mask.text(name)) != name:
                os.unlink(name, dir_fd=fd)
                said.append(f"output {told!r} was not kept: its name has a secret in it")
                continue
            files.append((entry.st_size, name))
            total += entry.st_size
        elif stat.S_ISREG(entry.st_mode):
            os.unlink(name, dir_fd=fd)
            said.append(f"output {name!r} was not kept: control characters and bytes that are no UTF-8 make no name")
        elif not stat.S_ISDIR(entry.st_mode):
            os.unlink(name, dir_fd=fd)
            said.append(f"output {name!r} was not kept: it is no file")
        elif name.count("/") == MOST_LEVELS:
            remove_tree(f"/proc/self/fd/{fd}/{name}")
            said.append(f"output {name!r} was not kept: folders may be {MOST_LEVELS} deep")
    files.sort()
    while files and (total > cap_bytes or len(files) > MOST_FILES):
        size, name = files.pop()
        os.unlink(name, dir_fd=fd)
        total -= size
        why = f"together they may have {cap_bytes:,}" if total + size > cap_bytes else f"there may be {MOST_FILES:,}"
        said.append(f"output {name!r} of {size:,} bytes was not kept: {why}")
    return said


def walk(fd: int, under: str = "", level: int = 0) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below the folder with its path; folders after what is in them. Not into links. A job that runs may
    remove meanwhile what was found.
    """
    for name in sorted(os.listdir(fd)):
        path = f"{under}{name}"
        try:
            found = os.stat(name, dir_fd=fd, follow_symlinks=False)
            inner = open_inner(name, fd) if stat.S_ISDIR(found.st_mode) and level < MOST_LEVELS else None
        except (FileNotFoundError, NotADirectoryError):
            continue
        if inner is not None:
            try:
                yield from walk(inner, f"{path}/", level + 1)
            finally:
                os.close(inner)
        yield path, found
