"""The thread that owns the engine: it does what it is left, and sleeps exactly until the next moment.

One thread, the watcher, owns the engine and the ledger, so nothing here needs a lock; others leave it acts in a queue.
Putting there is the one thing that a thread may be interrupted in: a signal handler may call a scheduler whatever its
thread was about, and a Ctrl-C leaves nothing half done.
"""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import TypeVar

from jobs.core.inputs import Input
from jobs.embedded.attempts import sentence
from jobs.embedded.clock import Clock
from jobs.embedded.errors import SchedulerError
from jobs.embedded.waiters import Answer, Condition, Then, Waiters, acquired

logger = logging.getLogger(__name__)

T = TypeVar("T")
Act = Callable[[], object]

# A queue cannot be waited for longer than some 290 years, and nobody minds waking once a day.
LONGEST_SLEEP_SECONDS = 86_400.0


class Watcher(ABC):
    """Public from any thread: `post`, `call`, `wait`, `when`, `finish`. What is left to it, the subclass decides by."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.fault = ""
        self._inbox: SimpleQueue[Act] = SimpleQueue()
        self._outbox: deque[Act] = deque()
        self._waiters = Waiters()
        self._finishing = False
        self._finished = False
        self._after = threading.RLock()
        self._watcher = threading.Thread(target=self._watch, name="rota-watcher", daemon=True)
        clock.on_move(self._moved)

    @abstractmethod
    def next_moment(self) -> datetime | None:
        """When something is due, if nothing happens before."""

    @abstractmethod
    def tell(self, *inputs: Input) -> None:
        """What happened: decide, do what was decided, and the same for what follows from that."""

    # --- from any thread ---

    def start(self) -> None:
        self._watcher.start()

    def post(self, act: Act) -> None:
        """Have it done by the watcher, after all that was posted before. Returns at once."""
        self._inbox.put(act)
        if self._finished:  # an abandoned thread that ends, or a submit that met the stop
            with self._after:
                self._do_what_is_posted()

    def call(self, act: Callable[[], T]) -> T:
        """Have it done, and return what it returned or raise what it raised."""
        if threading.current_thread() is self._watcher:
            return act()
        answer = Answer(act)
        self.post(answer.fill)
        return answer.wait()

    def when(self, condition: Condition, then: Then) -> None:
        """Have `then` called, by the watcher, once the condition holds or there is a fault. It must not block."""
        self.post(lambda: self._waiters.add(condition, then))

    def forget(self, then: Then) -> None:
        """It is not waited for any more."""
        self.post(lambda: self._waiters.forget(then))

    def wait(self, condition: Condition, seconds: float | None) -> bool:
        """Block until the condition holds; whether it does in time."""
        came = threading.Lock()  # not an Event: who is interrupted while it looks at one holds a lock inside it
        came.acquire()
        self.when(condition, came.release)
        in_time = acquired(came, seconds)
        self.forget(came.release)
        self.check_fault()
        return in_time

    def finish(self) -> None:
        """The watcher does what has been posted, and ends."""
        self.post(self._begin_to_finish)
        self._watcher.join()

    def check_fault(self) -> None:
        if self.fault:
            raise SchedulerError(f"the scheduler has broken down and decides nothing more: {self.fault}")

    # --- its thread ---

    def _watch(self) -> None:
        while not self._finishing:
            act = self._next_act()
            if act is not None:
                self._do(act)
            if self._due():
                self._do(self.tell)
            self._waiters.check(release_all=bool(self.fault))
        with self._after:
            self._finished = True
            self._do_what_is_posted()

    def _next_act(self) -> Act | None:
        """What was posted; or None, when the next moment has come before anything was."""
        moment = None if self.fault else self.next_moment()
        seconds = LONGEST_SLEEP_SECONDS if moment is None else self.clock.seconds_until(moment)
        try:
            if seconds is None:
                return self._inbox.get()
            return self._inbox.get(timeout=min(max(0.0, seconds), LONGEST_SLEEP_SECONDS))
        except Empty:
            return None

    def _due(self) -> bool:
        moment = None if self.fault else self.next_moment()
        return moment is not None and moment <= self.clock.now()

    def _do(self, act: Act) -> None:
        """And what follows from it outside: starting jobs, ending them."""
        try:
            act()
            while self._outbox:
                self._outbox.popleft()()
        except Exception as error:
            self.fault = self.fault or sentence(error)
            logger.exception("the scheduler has broken down")

    def _do_what_is_posted(self) -> None:
        while not self._inbox.empty():
            self._do(self._inbox.get())
        self._waiters.check(release_all=bool(self.fault))

    def _begin_to_finish(self) -> None:
        self._finishing = True

    def _moved(self) -> None:
        """The clock was moved by hand: what that brings is decided when this returns."""
        if self._watcher.is_alive():
            self.call(self.tell)
