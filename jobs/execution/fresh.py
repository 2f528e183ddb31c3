"""What a Python looks like that has only begun, noted by a warm launcher and put on by a job. Standard library only."""

from __future__ import annotations

import _warnings
import ctypes
import gc
import io
import os
import posix
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import call, is_
from sys import is_finalizing
from types import ModuleType
from typing import Any, NamedTuple

from jobs.execution.program import Program, explained
from jobs.execution.shelf import Shelf
from jobs.execution.titles import set_titles

SHAPING = ("PYTHON", "_PYTHON", "LANG", "LC_", "LOCPATH", "LD_", "MALLOC_", "GLIBC_", "OPENSSL_", "COVERAGE_",
           "SETUPTOOLS_")  # fmt: skip # what an interpreter, its libraries or a .pth file may read when it starts
NOT_SHAPING = {"PYTHON_CPU_COUNT"}  # Python 3.13 reads it, which is never warm
CALLBACKS = gc.callbacks  # a script may have its own under the name
PYTHON = ctypes.PyDLL(None)
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.fopen.restype = ctypes.c_void_p


class Seen(NamedTuple):
    """`main`: what `__main__` begins with; `path`: sys.path without a script's folder; `shape`: the variables that the
    interpreter was begun with; `logging`: the module, which counts from when it was loaded.
    """

    main: dict[str, Any]
    path: list[str]
    filters: list[Any]
    shape: dict[str, str]
    shelf: Shelf
    logging: Any = None


seen: Seen | None = None  # only in a warm launcher and its children
lacking = "there was no warm launcher"  # while there is none, why


def note(path: list[str], shelf: Shelf) -> None:
    """This process may be forked from now on. `path`: sys.path as it was at first."""
    global seen  # noqa: PLW0603 of the process, as what it describes
    main = {name: value for name, value in vars(sys.modules["__main__"]).items() if name.startswith("__")}
    for folder in [one for one in sys.path_importer_cache if not one.startswith(tuple(path[1:]))]:
        del sys.path_importer_cache[folder]
    seen = Seen(main, path[1:], list(_warnings.filters), shape_of(os.environ), shelf, sys.modules.get("logging"))


def end_here() -> None:
    """Of what C libraries do at the exit, do only what is registered after this: those that were loaded before have
    nothing but memory to give back.
    """
    if on_exit := getattr(LIBC, "on_exit", None):
        on_exit(LIBC._exit, None)
        LIBC.__cxa_atexit(LIBC.fflush, None, None)  # which comes first, and is done by any exit


class End:
    """Ends the process. Held by the module sys under its last name, this goes when all that a finalisation does for a
    script to see is done: what is left would give memory back, page by page of a copy.
    """

    def __init__(self, status: int) -> None:
        self.leave = partial(PYTHON.exit, status)

    def __del__(
        self, quiet: Callable[[], object] = CALLBACKS.clear, collect: Callable[[], object] = gc.collect
    ) -> None:
        quiet()  # Python's own last collection tells nobody
        collect()
        self.leave()


def end_soon(status: int) -> None:
    """At the end of the script, if `as_usual`: let the finalisation end where nobody can see any more of it."""
    vars(sys)["end of the script"] = End(status)  # a name that nobody else takes
    CALLBACKS.append(spare)


def spare(*_: object) -> None:
    """By the first collection of the finalisation, after all functions for the exit: take the modules that were loaded
    in advance out of its sight. It would empty them, name by name.
    """
    if is_finalizing():
        CALLBACKS.remove(spare)
        for name in seen.shelf.untouched() if seen else ():
            sys.modules.pop(name, None)


def as_usual() -> Iterator[bool]:
    """To be made when a job begins, and looked at when its script has ended: whether nobody would see a frame of ours,
    and its streams are those it began with. To flush others may fail, and then the status is another. No frame here.
    """
    looks: list[Callable[[], object]] = [sys.gettrace, sys.getprofile]
    streams = [sys.stdout, sys.stderr]
    looks += [partial(vars(sys).get, name) for name in ("stdout", "stderr")]
    looks += [partial(getattr, stream, "buffer", None) for stream in streams]  # lost by detach()
    return map(all, [map(is_, map(call, looks), [None, None, *streams, *(stream.buffer for stream in streams)])])


def shape_of(env: Mapping[str, str]) -> dict[str, str]:
    """HOME too: by it the user's own site-packages are found."""
    return {name: value for name, value in env.items()
            if name == "HOME" or (name.startswith(SHAPING) and name not in NOT_SHAPING)}  # fmt: skip


def become(program: Program, env: Mapping[str, str], told: int) -> tuple[object, ...]:
    """Have this process look like `python script.py` before its first line; `told` is closed when it does.

    Returns the arguments of PyRun_SimpleFileExFlags.
    """
    assert seen is not None  # noqa: S101 or there is no warm start
    path = program.checked
    set_titles(program.argv, env)
    set_environment(env)
    set_signals()
    open_streams(unbuffered=bool(env.get("PYTHONUNBUFFERED")))
    sys.argv, sys.orig_argv = [path], list(program.argv)
    sys.path[:] = [os.path.dirname(os.path.realpath(path)), *seen.path]  # noqa: PTH120 pathlib costs start-up
    if seen.logging:
        seen.logging._startTime = time.time()
    _warnings.filters[:] = seen.filters
    _warnings._filters_mutated()  # type: ignore[attr-defined]  # what the module warnings calls too
    seen.shelf.hide()
    name = os.fsencode(path)
    file = LIBC.fopen(name, b"rbe")
    if not file:
        number = ctypes.get_errno()
        raise explained(path, OSError(number, os.strerror(number)))
    gc.freeze()  # what was there before is neither seen nor, page by page, copied by a collection
    sys.modules["__main__"] = new_main(seen.main)  # only now: it is to be collected at the end
    os.close(told)
    return file, name, 1, None


def new_main(begun: Mapping[str, Any]) -> ModuleType:
    """Not the old one, emptied: a frame of the launcher's keeps that alive, so it would not be finalised at the end."""
    main = ModuleType("__main__")
    vars(main).update(begun, __annotations__={})
    return main


def set_environment(env: Mapping[str, str]) -> None:
    """Python's and C's. os.environ was filled from posix.environ once."""
    os.environ.clear()
    os.environ.update(env)
    posix.environ.clear()
    posix.environ.update((os.fsencode(name), os.fsencode(value)) for name, value in env.items())
    time.tzset()


def set_signals() -> None:
    """As Python does at its start; all others are at their defaults."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)


def open_streams(*, unbuffered: bool) -> None:
    """As Python does; of the old ones encoding and errors are right, since the locale is."""
    for name, fd, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        old = getattr(sys, name)
        raw = io.FileIO(fd, f"{mode}b", closefd=False)
        raw.name = f"<{name}>"
        buffered = io.BufferedReader if fd == 0 else io.BufferedWriter
        buffer = raw if unbuffered and fd > 0 else buffered(raw)
        lines = not unbuffered and (fd == 2 or buffer.isatty())
        stream = io.TextIOWrapper(buffer, old.encoding, old.errors, "\n", lines, write_through=unbuffered)
        stream.mode = mode  # type: ignore[misc]  # for people to read; Python sets it too
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
