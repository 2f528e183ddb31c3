"""What a job has mounted in its folders and not let go of. Removing the folder would remove what is mounted there: a
bind mount of /home in a workspace costs the machine its /home. Standard library only.
"""

from __future__ import annotations

import ctypes
import os
import re

LIBC = ctypes.CDLL(None, use_errno=True)
MNT_DETACH = 2
POINT = 4  # the word of a line of mountinfo that says where
ESCAPE = re.compile(rb"\\([0-7]{3})")  # how it writes spaces, line ends and backslashes


def release(path: str) -> None:
    """Take down all mounts at `path` and below, as this process sees them. OSError if one stays."""
    for point in reversed(mounted_in(path)):
        if LIBC.umount2(point, MNT_DETACH) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{os.strerror(number)}; something is mounted there", os.fsdecode(point))


def places_in(path: str) -> set[str]:
    """The same points, as they are reached by `path`. What is mounted there is another's, and may not answer."""
    begin = len(folder_at(path))
    return {path + os.fsdecode(point[begin:]) for point in mounted_in(path)}


def mounted_in(path: str) -> list[bytes]:
    """Mount points at `path` and below, in the order in which they were made. `path` may lead by /proc/self/fd."""
    folder = folder_at(path)
    with open("/proc/self/mountinfo", "rb") as file:  # noqa: PTH123 pathlib costs start-up
        points = [ESCAPE.sub(unescape, line.split(b" ")[POINT]) for line in file]
    return [point for point in points if point == folder or point.startswith(folder + b"/")]


def folder_at(path: str) -> bytes:
    parent, name = os.path.split(os.fsencode(path))
    return os.path.realpath(parent).rstrip(b"/") + b"/" + name  # what its last part may be a link to is not in it


def unescape(found: re.Match[bytes]) -> bytes:
    return bytes([int(found[1], 8)])
