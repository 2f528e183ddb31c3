"""Warm start: the job's process is a fork of its runner that runs the script itself, instead of a new Python.

A Python that has only begun takes 12 ms, one with the usual imports 60, with Django 180; a fork takes 3. For this a
second launcher runs beside the one that only execs (launching.py): a plain `python`, with its site-packages, the
locale and the variables that shape an interpreter as a job's own would have them, so that sys.flags, encodings and all
that a Python decides at its start are right. It has loaded in advance what scripts often import (shelf.py), besides
the runner's own modules. Its runners are runners like any other. What they fork becomes `python script.py`:

- **Nothing lies below the script.** The fork is made by a thread of the runner that has no Python frame: C calls the
  interpreter's own function for running a file, and that prints tracebacks, takes SystemExit and ends the process as
  for any script: threads joined, atexit functions called, buffers flushed, 120 if that fails. So there is no frame of
  ours in a traceback or in the stack. What the runner was doing in its other thread is never unwound: nothing of it is
  closed, flushed or finalised in the job.
- **Nothing of us is in it.** Modules, `__main__`, sys.path, argv, environment (also C's and /proc's, by which what is
  left of a killed runner is found), standard streams, signals, warnings filters and time zone are those of a fresh
  Python; all objects from before are frozen out of the garbage collector's sight.
- **The runner does not see a difference**: the same steps as before an exec lead to it, and a pipe tells when it began.

That thread of the runner lives until `let_go`: for the kernel it is the parent, by whose death the job dies.

What differs from a cold start is in docs/running.md. Who asks for something that only a new Python can give (variables
that it reads at its start, another user) gets one: `why_cold`. Python 3.13 and later cannot be ended by a thread that
forked. Standard library only.
"""

from __future__ import annotations

import _thread
import ctypes
import errno
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain, compress, starmap
from operator import call

from jobs.execution import fresh
from jobs.execution.program import ARCHIVE, Program
from jobs.execution.spawn import ERROR_FD, Become
from jobs.execution.spec import Spec

LARGE = 32 * 1024  # characters, of up to four bytes: what exec may refuse even in one variable is its to refuse
caller: Become | None = None  # in a launcher that has the project loaded: see callables/launcher.py
uncalled = "there was no launcher with the project loaded"  # while there is none, why
parent: _thread.LockType | None = None  # on which the thread waits that has forked the job
SMALL_BYTES = 256 * 1024 * 1024
PYTHON = ctypes.PyDLL(None)
LIBC = ctypes.CDLL(None)
RUN = PYTHON.PyRun_SimpleFileExFlags
RUN.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]


Fork = Callable[[Callable[[Become], object]], int]


def warm_fork(spec: Spec, program: Program, env: Mapping[str, str]) -> tuple[str, Fork]:
    """Why the job may not start warm, "" if it may, and how."""
    if spec.kind == "callable":
        return why_not_called(spec), fork_to_call
    return why_cold(spec, program, env), fork_to_run


def why_cold(spec: Spec, program: Program, env: Mapping[str, str]) -> str:
    """Why the job may not be a fork of this process; "" if it may. `env`: all of what it will have."""
    if spec.start == "cold":
        return "it is to start cold"
    if not program.checked:
        return "it is not run by the job's Python"
    if spec.why_cold:
        return spec.why_cold
    if fresh.seen is None:
        return fresh.lacking
    if spec.interpreter != sys.executable:
        return f"the warm launcher is another Python, {sys.executable}"
    if spec.run_as:
        return "it runs as another user"
    if names := sorted(name for name, _ in fresh.shape_of(env).items() ^ fresh.seen.shape.items()):
        return f"a Python reads {', '.join(dict.fromkeys(names))} when it starts"
    if 0 < spec.memory_limit_bytes < SMALL_BYTES:
        return "its memory limit is small, and a warm start begins with memory that it shares"
    if sum(len(name) + len(value) for name, value in env.items()) > LARGE:
        return "its environment is large"
    return "it is an archive" if program.form == ARCHIVE else ""


def why_not_called(spec: Spec) -> str:
    """The same of a callable, which is called in a fork with the project loaded."""
    if spec.start == "cold":
        return "it is to start cold"
    if spec.why_cold:
        return spec.why_cold
    if caller is None:
        return uncalled
    if spec.run_as:
        return "it runs as another user"
    if 0 < spec.memory_limit_bytes < SMALL_BYTES:
        return "its memory limit is small, and a warm start begins with memory that it shares"
    return ""


# --- The fork ---


def fork_to_call(become: Callable[[Become], object]) -> int:
    pid = os.fork()
    if pid == 0:
        assert caller is not None  # noqa: S101 or there is no warm start
        become(caller)
    return pid


def fork_to_run(become: Callable[[Become], object]) -> int:
    """Process id of the job. `become` is called there, with what makes a fresh Python of it."""
    global parent  # noqa: PLW0603 of the process, which has one job at a time
    parent = stay = _thread.allocate_lock()
    forked = _thread.allocate_lock()
    stay.acquire()
    forked.acquire()
    results: list[int | OSError] = []

    def script() -> Iterator[tuple[object, ...]]:
        try:
            pid = os.fork()
        except OSError as error:
            results.append(error)
            forked.release()
            return
        if pid:
            results.append(pid)
            forked.release()
            stay.acquire()
            return
        ready: list[tuple[object, ...]] = []
        become(lambda program, env: ready.append(fresh.become(program, env, ERROR_FD)))
        ends.update({0: ending(0), -1: chain([failed], ending(1))})
        yield ready[0]

    # C all the way down: while RUN runs, the generator is suspended, and no frame is on the stack.
    ends: dict[int, Iterator[Callable[[], object]]] = {}
    steps = map(call, chain.from_iterable(map(ends.__getitem__, starmap(RUN, script()))))
    try:
        _thread.start_new_thread(deque, (steps, 0))
    except RuntimeError as error:
        raise OSError(errno.EAGAIN, str(error)) from error
    forked.acquire()
    if isinstance(results[0], OSError):
        raise results[0]
    return results[0]


def ending(status: int) -> Iterator[Callable[[], object]]:
    return chain(compress([partial(fresh.end_soon, status)], fresh.as_usual()), [partial(PYTHON.Py_Exit, status)])


def let_go() -> None:
    """The job has ended: so may the thread that is its parent."""
    if parent and parent.locked():
        parent.release()


def failed() -> None:
    """The interpreter has printed the traceback. Left alone by a KeyboardInterrupt, Python dies of SIGINT at last."""
    if getattr(sys, "last_type", None) is KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        LIBC.__cxa_atexit(ctypes.cast(LIBC["raise"], ctypes.c_void_p), ctypes.c_void_p(signal.SIGINT), None)
