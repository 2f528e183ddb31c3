"""What runs in a process of the pool: one call after another, until nobody is left at the other end."""

from __future__ import annotations

import os
import pickle
from multiprocessing.connection import Connection
from typing import Any

from jobs.embedded.errors import NonRetryableError


def serve(connection: Connection) -> None:
    """Answer calls. The program's death ends the connection, and with it the worker, when it is idle."""
    os.setpgrp()  # so that a kill reaches what the job has started, and the terminal's Ctrl-C only the program
    while True:
        try:
            payload = connection.recv_bytes()
        except EOFError:
            return
        connection.send_bytes(_packed(*_called(payload)))


def _called(payload: bytes) -> tuple[bool, Any]:
    try:
        fn, args, kwargs = pickle.loads(payload)  # noqa: S301 - from our own parent, through an anonymous pipe
        return True, fn(*args, **kwargs)
    except BaseException as error:  # noqa: BLE001 - the executor's border: SystemExit too is an outcome of the job
        return False, error


def _packed(good: bool, value: Any) -> bytes:
    """What cannot be pickled, or could not be read at the other end, is told in words."""
    try:
        packed = pickle.dumps((good, value))
        pickle.loads(packed)  # noqa: S301 - what this very process has just written
    except Exception as error:  # noqa: BLE001 - whatever the objects' own pickling raises
        return pickle.dumps((False, _in_words(good, value, error)))
    return packed


def _in_words(good: bool, value: Any, error: Exception) -> Exception:
    if good:
        return NonRetryableError(f"its result, of type {type(value).__name__}, cannot be sent back: {error}")
    words = f"{type(value).__name__}: {value}"
    return NonRetryableError(words) if isinstance(value, NonRetryableError) else RuntimeError(words)
