"""A launcher with the project loaded: the process of a callable is a fork of one of its runners, and loads nothing.

Otherwise it is a launcher as any, and what it forks are runners as any: time limit, kill, output, adoption are theirs.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from typing import NoReturn

from jobs.callables import calling, process
from jobs.execution import fresh, launcher, warm
from jobs.execution.program import Program
from jobs.execution.spawn import ERROR_FD
from jobs.execution.titles import set_titles


def main(fd: int) -> NoReturn:
    """As that of the launcher."""
    launcher.main(fd, loading())


def loading() -> Iterator[None]:
    process.load_project()
    process.close_connections()
    if threading.active_count() == 1:
        warm.caller = call
    else:
        warm.uncalled = "the project has started a thread when it was loaded, and a fork has none of them"
    yield


def call(program: Program, env: Mapping[str, str]) -> NoReturn:
    """In the fork, with the job's surroundings in place: become the callable. What is raised until ERROR_FD is closed
    tells that it has not begun.
    """
    set_titles(program.argv, env)
    fresh.set_environment(env)
    fresh.set_signals()
    fresh.open_streams(unbuffered=True)
    sys.argv = program.argv[1:]
    os.close(ERROR_FD)
    code = 1
    try:
        code = calling.main()
        threading._shutdown()  # type: ignore[attr-defined]  # as Python does at its end: joins those that are no daemons
        atexit._run_exitfuncs()
        calling.flush()
    except BaseException:  # noqa: BLE001 whatever it is, it must not go on as a second runner
        traceback.print_exc()
    finally:
        os._exit(code)
