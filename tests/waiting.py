"""Waiting for a condition with a deadline, so that no test sleeps for a guessed time."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_PAUSE_SECONDS = 0.005


def until(condition: Callable[[], T], seconds: float = 10) -> T:
    """The first truthy answer of `condition`; AssertionError when there is none in `seconds`."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"not true within {seconds} s"
        pause.wait(_PAUSE_SECONDS)
    return answer
