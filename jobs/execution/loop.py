"""A thread that waits in epoll and calls what belongs to what has happened. It polls nothing while all is well."""

from __future__ import annotations

import logging
import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial

from jobs.execution.claim import ForeignHolderError

logger = logging.getLogger(__name__)

LATER_SECONDS = 1.0
STOP_SECONDS = 5.0
Action = Callable[[], None]


class LoopClosedError(RuntimeError):
    def __init__(self) -> None:
        super().__init__("the executor is closed: open another one")


class Loop:
    """All but `post`, `start` and `stop` belong to its own thread."""

    def __init__(self, name: str) -> None:
        self._poll = select.epoll()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._handlers: dict[int, Action] = {}
        self._posted: deque[Action] = deque()
        self._later: deque[tuple[float, Action]] = deque()
        self._running = True
        self._closed = False
        self._gate = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.on_readable(self._wake, self._run_posted)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Do what was posted so far, then end; returns when it has ended, or at the latest after STOP_SECONDS: a thread
        that hangs in the disk must not keep the service from ending.
        """
        self.post(self._stop)
        self._thread.join(STOP_SECONDS)
        with self._gate:
            self._closed = True
            if self._thread.is_alive():  # its descriptors are left to it
                logger.error("the executor's thread did not end in %g s and is left behind", STOP_SECONDS)
                return
            self._poll.close()
            os.close(self._wake)

    def post(self, action: Action) -> None:
        """Have `action` called in the loop's thread, soon and in order. LoopClosedError after `stop`."""
        with self._gate:
            if self._closed:  # its descriptor may be somebody else's by now
                raise LoopClosedError
            self._posted.append(action)
            os.eventfd_write(self._wake, 1)

    def on_readable(self, fd: int, handler: Action) -> None:
        self._handlers[fd] = handler
        self._poll.register(fd, select.EPOLLIN)

    def no_longer(self, fd: int) -> None:
        """To be called before `fd` is closed."""
        del self._handlers[fd]
        self._poll.unregister(fd)

    def later(self, action: Action) -> None:
        """Try again after a pause what the machine refused."""
        self._later.append((time.monotonic() + LATER_SECONDS, action))

    def insist(self, action: Action, refusal: str = "") -> None:
        """Call `action`, again after a pause for as long as the machine refuses it: what is dropped instead is never
        reported, and holds its cores until the next start. `refusal`: what was logged before.
        """
        try:
            action()
        except (OSError, ForeignHolderError) as error:
            if str(error) != refusal:
                logger.warning("tried again until it can be done: %s", error)
            self.later(partial(self.insist, action, str(error)))
        except Exception as error:
            if str(error) != refusal:
                logger.exception("tried again until it can be done, after an error that nobody foresaw")
            self.later(partial(self.insist, action, str(error)))

    def _run(self) -> None:
        while self._running:
            for fd, handler in self._ready():
                if self._handlers.get(fd) is handler:  # else an earlier one of this round has closed it, and its
                    self._guarded(handler)  # number may be that of another file by now, which is not ready
            self._run_later(time.monotonic())

    def _ready(self) -> list[tuple[int, Action]]:
        seconds = max(0.0, self._later[0][0] - time.monotonic()) if self._later else None
        return [(fd, self._handlers[fd]) for fd, _ in self._poll.poll(seconds) if fd in self._handlers]

    def _run_later(self, now: float) -> None:
        """In every round: on a busy node there is always something ready."""
        while self._later and self._later[0][0] <= now:
            self._guarded(self._later.popleft()[1])

    def _guarded(self, action: Action) -> None:
        """What fails for one attempt must not end the thread that watches all of them."""
        try:
            action()
        except Exception:
            logger.exception("the executor goes on after an error")

    def _run_posted(self) -> None:
        os.eventfd_read(self._wake)
        for _ in range(len(self._posted)):  # what comes meanwhile has its turn in the next round
            self._guarded(self._posted.popleft())

    def _stop(self) -> None:
        self._running = False
