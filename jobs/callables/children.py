"""Processes that async and thread callables start: each carries the token of its attempt, and ends with it.

They are children of the host, like those of all others in it. So what `subprocess` starts, for itself or for asyncio,
is given the token here. What is started in other ways (os.fork, multiprocessing) ends with the host only.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import time
from typing import Any

from jobs.callables import streams
from jobs.execution.settle import kill
from jobs.execution.tree import TOKEN_NAME, marked

SIGNATURE = inspect.signature(subprocess.Popen.__init__)
KILL_AGAIN_SECONDS, KILLS = 0.02, 50


def mark() -> None:
    """From now on, in this process."""
    begin = subprocess.Popen.__init__

    def marking(*args: Any, **keywords: Any) -> None:
        attempt = streams.current.get()
        if attempt is None:
            begin(*args, **keywords)
            return
        given = SIGNATURE.bind(*args, **keywords)
        env = given.arguments.get("env")
        given.arguments["env"] = {**(os.environ if env is None else env), TOKEN_NAME: attempt.token}
        attempt.has_children = True
        begin(*given.args, **given.kwargs)

    subprocess.Popen.__init__ = marking  # type: ignore[method-assign]  # a wrapper of it


def end(token: str) -> int:
    """Kill all that carry it. Returns how many there were."""
    ended: set[int] = set()
    for _ in range(KILLS):
        found = marked(token, None)
        if not found:
            break
        ended.update(one.pid for one in found)
        kill(found)
        time.sleep(KILL_AGAIN_SECONDS)
    return len(ended)
