"""The size and the end of a folder that a job could do with as it liked. Standard library only.

It may have made folders within folders beyond what a path or a recursion can reach, and have taken its owner's right to
them. Links are never followed, and what is mounted in it is taken down first.
"""

from __future__ import annotations

import errno
import math
import os
import stat
from collections.abc import Container

from jobs.execution import mounts
from jobs.execution.rundir import open_inner

TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)  # a name under which something else lies
BLOCK_BYTES = 512  # what st_blocks counts


def size_of(path: str, enough: float = math.inf, most_entries: float = math.inf, foreign: Container[str] = ()) -> int:
    """The bytes that it takes on the disk with all below it, as far as that can be read; 0 if it is not there. Not
    counted on beyond `enough`, nor after about `most_entries`. foreign: paths that are not asked, see `places_in`.
    """
    total, count, left = 0, 0, [path] if path not in foreign else []
    while left and total <= enough and count < most_entries:
        folder = left.pop()
        try:
            found = os.lstat(folder)
            total += found.st_blocks * BLOCK_BYTES
            if not stat.S_ISDIR(found.st_mode):  # a link in its place by now, or all that was asked for
                continue
            with os.scandir(folder) as entries:
                for count, entry in enumerate(entries, count + 1):  # noqa: B020 it goes on counting
                    if entry.path in foreign:
                        continue
                    found = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(found.st_mode):
                        left.append(entry.path)
                    else:
                        total += found.st_blocks * BLOCK_BYTES
                    if total > enough or count >= most_entries:
                        break
        except OSError:  # removed while we looked, or out of reach
            continue
    return total


def remove_tree(path: str) -> int:
    """Remove it with all below it, and return how many bytes of the disk it took. FileNotFoundError if it is not there,
    OSError if something of it stays.

    A folder two levels down is moved up one before it is emptied: so none is ever too deep.
    """
    mounts.release(path)
    parent, name = os.path.split(path.rstrip("/"))
    at = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        top = open_inner(name, at)
        try:
            freed = os.fstat(top).st_blocks * BLOCK_BYTES + _empty(top)
        finally:
            os.close(top)
        os.rmdir(name, dir_fd=at)
    finally:
        os.close(at)
    return freed


def _empty(top: int) -> int:
    freed, number = 0, 0
    while names := os.listdir(top):
        for name in names:
            more, number = _remove(name, top, top, number)
            freed += more
    return freed


def _remove(name: str, at: int, top: int, number: int) -> tuple[int, int]:
    """Bytes freed, and the number up to which names are taken in `top`, where folders in it go."""
    try:
        found = os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:  # a runner that is just ending clears its workspace
        return 0, number
    freed = found.st_blocks * BLOCK_BYTES
    if not stat.S_ISDIR(found.st_mode):
        os.unlink(name, dir_fd=at)
        return freed, number
    if at != top:
        while True:
            number += 1
            try:
                os.rename(name, f".rota-{number}", src_dir_fd=at, dst_dir_fd=top)
            except OSError as error:
                if error.errno not in TAKEN:
                    raise
            else:
                return 0, number
    folder = open_inner(name, at)
    try:
        for inner in os.listdir(folder):  # noqa: PTH208 by its descriptor
            more, number = _remove(inner, folder, top, number)
            freed += more
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=at)
    return freed, number
