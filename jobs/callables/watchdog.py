"""Finds out which async callable keeps the event loop from going on, and where."""

from __future__ import annotations

import sys
import sysconfig
import threading
from collections.abc import Callable
from types import FrameType

from jobs.callables.coroutines import Coroutines
from jobs.callables.hosted import Hosted

BLOCKED_SECONDS = 1.0
LOOK_SECONDS = 0.25
NOT_THEIRS = (sysconfig.get_path("stdlib"), "<frozen")
OURS = ("jobs.callables.", "jobs.execution.")


class Watchdog(threading.Thread):
    """`on_blocked`: called in this thread, once for each time that the loop hangs: whose task it is, if that is known,
    and a sentence.
    """

    def __init__(self, coroutines: Coroutines, on_blocked: Callable[[Hosted | None, str], None]) -> None:
        super().__init__(name="watchdog", daemon=True)
        self._coroutines = coroutines
        self._on_blocked = on_blocked
        self._rest = threading.Event()
        self.needed = threading.Event()

    def run(self) -> None:
        while True:
            self.needed.wait()
            answered = threading.Event()
            self._coroutines.loop.call_soon_threadsafe(answered.set)
            if not answered.wait(BLOCKED_SECONDS) and (place := self._place()):
                self._tell(place)
                answered.wait()
            self._rest.wait(LOOK_SECONDS)

    def _place(self) -> str:
        """Where the loop's thread is, in somebody's code; "" if it is in none: then it only lacks a core."""
        frame = sys._current_frames().get(self._coroutines.thread.ident or 0)
        while frame is not None and not theirs(frame):
            frame = frame.f_back
        if frame is None:
            return ""
        return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"

    def _tell(self, place: str) -> None:
        hosted = self._coroutines.whose()
        self._on_blocked(
            hosted,
            f"has blocked the event loop for {BLOCKED_SECONDS:g} s at {place}: no other async callable of its host can "
            'go on. Await there, move the call into asyncio.to_thread, or declare it with model="thread". '
            "What starts from now on starts in another host",
        )


def theirs(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    library = file.startswith(NOT_THEIRS) and "site-packages" not in file
    return not library and not frame.f_globals.get("__name__", "").startswith(OURS)
