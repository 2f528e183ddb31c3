"""What /proc tells of this process: its command line and its environment. Standard library only."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Mapping, Sequence
from functools import cache

PR_SET_MM, PR_SET_MM_MAP = 35, 14
NO_FILE = 0xFFFFFFFF
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.sbrk.restype = ctypes.c_void_p
kept: list[object] = []  # the memory that the kernel reads from


class MemoryMap(ctypes.Structure):
    """struct prctl_mm_map."""

    _fields_ = [
        *((name, ctypes.c_uint64) for name in (
            "start_code", "end_code", "start_data", "end_data", "start_brk", "brk", "start_stack",
            "arg_start", "arg_end", "env_start", "env_end", "auxv",
        )),
        ("auxv_size", ctypes.c_uint32), ("exe_fd", ctypes.c_uint32),
    ]  # fmt: skip


def set_titles(argv: Sequence[str], env: Mapping[str, str]) -> None:
    """OSError where the kernel does not let a process do this (without CONFIG_CHECKPOINT_RESTORE), or is none of which
    we know where it tells its places.
    """
    arguments = b"".join(os.fsencode(one) + b"\0" for one in argv)
    variables = b"".join(os.fsencode(name) + b"=" + os.fsencode(value) + b"\0" for name, value in env.items())
    memory = ctypes.create_string_buffer(arguments + variables)
    start = ctypes.addressof(memory)
    middle, end = start + len(arguments), start + len(arguments) + len(variables)
    new = MemoryMap(*places(), LIBC.sbrk(0), stack_start(), start, middle, middle, end, 0, 0, NO_FILE)
    if LIBC.prctl(PR_SET_MM, PR_SET_MM_MAP, ctypes.byref(new), ctypes.sizeof(new), 0):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    kept[:] = [memory]


@cache
def stat_words() -> list[int]:
    """As proc(5) counts from 1, of this process and of those that it forks: an exec would be needed to change them.
    OSError if they are not all there: an emulated kernel may tell less.
    """
    with open("/proc/self/stat", "rb") as file:  # noqa: PTH123 pathlib costs start-up
        words = file.read().rpartition(b")")[2].split()
    if len(words) < 45 or not all(word.lstrip(b"-").isdigit() for word in words[1:]):
        raise OSError(errno.ENODATA, "/proc/self/stat is not as in proc(5)")
    return [0, 0, 0, 0, *map(int, words[1:])]


def places() -> list[int]:
    """start_code, end_code, start_data, end_data, start_brk."""
    return [stat_words()[number] for number in (26, 27, 45, 46, 47)]


def stack_start() -> int:
    return stat_words()[28]
