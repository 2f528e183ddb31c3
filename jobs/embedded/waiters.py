"""Those who wait: for an answer, or for something to become true; blocked threads and coroutines alike."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
Condition = Callable[[], bool]
Then = Callable[[], object]


# Python runs no signal handler in a thread that has just begun to wait when the signal comes: only when the wait ends.
# A program that waits for its jobs for ever would never see its Ctrl-C, so it looks up this often.
LOOK_UP_SECONDS = 1.0


def acquired(lock: threading.Lock, seconds: float | None) -> bool:
    """Wait for a lock, for so long or for ever; whether it came."""
    until = math.inf if seconds is None else time.monotonic() + seconds
    while True:
        left = max(0.0, until - time.monotonic())
        if lock.acquire(timeout=min(left, LOOK_UP_SECONDS)):
            return True
        if left <= LOOK_UP_SECONDS:
            return False


class Answer(Generic[T]):
    """What another thread finds out for the one that waits.

    A bare lock, not an Event or a Future: those hold a lock of their own for moments, and a signal handler that came in
    such a moment and asked something else would wait for ever.
    """

    def __init__(self, question: Callable[[], T]) -> None:
        self._question = question
        self._answered = threading.Lock()
        self._answered.acquire()
        self._answer: T
        self._error: Exception | None = None

    def fill(self) -> None:
        """Of the thread that answers. An error is the asker's."""
        try:
            self._answer = self._question()
        except Exception as error:  # noqa: BLE001 - raised again where it was asked
            self._error = error
        finally:
            self._answered.release()

    def wait(self) -> T:
        acquired(self._answered, None)
        if self._error is not None:
            raise self._error
        return self._answer


class Waiters:
    """Of one thread: the one on which what conditions ask about changes."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Condition, Then]] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, condition: Condition, then: Then) -> None:
        """`then` is called once, when a check finds that the condition holds. It must not block."""
        self._waiting.append((condition, then))

    def forget(self, then: Then) -> None:
        self._waiting = [waiter for waiter in self._waiting if waiter[1] != then]

    def check(self, *, release_all: bool = False) -> None:
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        for condition, then in waiting:
            if release_all or condition():
                then()
            else:
                self._waiting.append((condition, then))
