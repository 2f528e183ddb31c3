"""A host's end of the socket to the service, and its sense of time. Standard library only.

service -> host   {"start": token, "path": run directory}   {"cancel": token}   {"stop": true}
host -> service   {"ready": true}   {"began": token, "at": ...}   {"ended": token, "result": ...}
                  {"abandoned": token, "result": ...}   {"released": token}   {"returned": token}
                  {"blocked": sentence}
"""

from __future__ import annotations

import heapq
import json
import os
import select
import socket
import threading
import time
import traceback
from collections.abc import Callable
from itertools import count
from typing import Any

from jobs.execution.moment import LONGEST_WAIT_SECONDS

LONGEST_MESSAGE = 1 << 20
Action = Callable[[], object]


class Link:
    """`send` and `later` from any thread, the rest from the host's main thread."""

    def __init__(self, fd: int) -> None:
        self._socket = socket.socket(fileno=fd)
        self._sending = threading.Lock()
        self._timing = threading.Lock()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._poll = select.poll()
        self._handlers: dict[int, Action] = {}
        self.watch(self._wake, self._woken)
        self._moments: list[tuple[float, int, Action]] = []
        self._numbers = count()

    def send(self, **message: Any) -> None:
        """To a service that is gone, nothing: the host is about to end."""
        data = json.dumps(message, ensure_ascii=False).encode("utf-8", "backslashreplace")
        with self._sending:
            try:
                self._socket.send(data)
            except (BrokenPipeError, ConnectionResetError):
                return

    def later(self, seconds: float, action: Action) -> None:
        """Have `action` called in the main thread in so many seconds."""
        with self._timing:
            heapq.heappush(self._moments, (time.monotonic() + seconds, next(self._numbers), action))
        os.eventfd_write(self._wake, 1)

    def watch(self, fd: int, handler: Action) -> None:
        """Have `handler` called whenever `fd` can be read."""
        self._handlers[fd] = handler
        self._poll.register(fd, select.POLLIN)

    def no_longer(self, fd: int) -> None:
        """To be called before `fd` is closed."""
        del self._handlers[fd]
        self._poll.unregister(fd)

    def serve(
        self, start: Callable[[str, str], object], cancel: Callable[[str], object], stop: Callable[[], object]
    ) -> None:
        """Call what messages ask for, and what is due, until the service is gone. start: with token and path; cancel:
        with the token.
        """
        here = True

        def receive() -> None:
            nonlocal here
            try:
                data = self._socket.recv(LONGEST_MESSAGE)
            except ConnectionResetError:
                data = b""
            here = bool(data)
            match json.loads(data) if data else {}:
                case {"start": token, "path": path}:
                    start(token, path)
                case {"cancel": token}:
                    cancel(token)
                case {"stop": _}:
                    stop()

        self.watch(self._socket.fileno(), receive)
        while here:
            for fd, _ in self._poll.poll(self._milliseconds()):
                if handler := self._handlers.get(fd):
                    guarded(handler)
            self._run_due()

    def _woken(self) -> None:
        os.eventfd_read(self._wake)

    def _milliseconds(self) -> float | None:
        with self._timing:
            if not self._moments:
                return None
            left = self._moments[0][0] - time.monotonic()
            return 1000 * max(0.0, min(left, LONGEST_WAIT_SECONDS))

    def _run_due(self) -> None:
        while True:
            with self._timing:
                if not self._moments or self._moments[0][0] > time.monotonic():
                    return
                _, _, action = heapq.heappop(self._moments)
            guarded(action)


def guarded(action: Action) -> None:
    """What fails for one attempt must not end the thread that serves all of them."""
    try:
        action()
    except Exception:  # noqa: BLE001 whatever it is: see above
        traceback.print_exc()
