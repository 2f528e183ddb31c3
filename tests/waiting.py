"""Waiting for a condition with a deadline, so that no test sleeps for a guessed time."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
DEADLINE_SECONDS = 90  # for all that tests wait for: a machine that does ten other things is no fault
_PAUSE_SECONDS = 0.005


def until(condition: Callable[[], T]) -> T:
    """The first truthy answer of `condition`; AssertionError when there is none before the deadline."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    pause = threading.Event()
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"not true within {DEADLINE_SECONDS} s"
        pause.wait(_PAUSE_SECONDS)
    return answer
