"""Threads that a callable starts belong to its attempt: what they print and start is the attempt's."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from jobs.callables import streams


def install() -> None:
    """From now on, in this process."""
    start, submit = threading.Thread.start, ThreadPoolExecutor.submit

    def starts(thread: threading.Thread) -> None:
        if attempt := streams.current.get():
            thread.run = partial(run_for, attempt, thread.run)  # type: ignore[method-assign]  # of this one
        start(thread)

    def submits(pool: ThreadPoolExecutor, call: Callable[..., Any], /, *args: Any, **keywords: Any) -> Future[Any]:
        """Its threads may be older than the attempt, and serve others beside it."""
        return submit(pool, run_for, streams.current.get(), call, *args, **keywords)

    threading.Thread.start = starts  # type: ignore[assignment,method-assign]  # a wrapper of it
    ThreadPoolExecutor.submit = submits  # type: ignore[assignment,method-assign]  # the same


def run_for(attempt: streams.Printing | None, call: Callable[..., Any], /, *args: Any, **keywords: Any) -> Any:
    before = streams.current.set(attempt)
    try:
        return call(*args, **keywords)
    finally:
        streams.current.reset(before)
