"""Waiting for a condition with a deadline, so that no test sleeps for a guessed time."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
DEADLINE_SECONDS = 90  # for all that tests wait for: a machine that does ten other things is no fault
_SHORTEST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.005, 0.05


def until(condition: Callable[[], T]) -> T:
    """The first truthy answer of `condition`; AssertionError when there is none before the deadline.

    It looks more and more seldom: what is waited for needs the processor that looking takes.
    """
    begun = time.monotonic()
    pause = threading.Event()
    while not (answer := condition()):
        waited = time.monotonic() - begun
        assert waited < DEADLINE_SECONDS, f"not true within {DEADLINE_SECONDS} s"
        pause.wait(min(max(_SHORTEST_PAUSE_SECONDS, waited / 20), _LONGEST_PAUSE_SECONDS))
    return answer
