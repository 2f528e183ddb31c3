"""What a callable is told of its attempt, and what it may tell: its parameter named `context`."""

from __future__ import annotations

import _thread
import asyncio
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from jobs.embedded.cancellation import CancellationToken

LONGEST_WAIT_SECONDS = 1.0


class Cancelled(CancellationToken):
    """Set when the attempt is to end: cancelled, out of time, or because the service stops. `await` it on a loop."""

    def __init__(self) -> None:
        super().__init__()
        self._gate = threading.Lock()
        self._wakes: list[Callable[[], object]] = []

    def __bool__(self) -> bool:
        return self.cancelled

    def __await__(self) -> Any:
        return self._waited().__await__()

    def wait(self, seconds: float | None = None) -> bool:
        """As any token's. In parts: a TERM that comes just before a wait for a lock does not end that."""
        end = float("inf") if seconds is None else time.monotonic() + seconds
        while not self.cancelled and (left := end - time.monotonic()) > 0:
            super().wait(min(left, LONGEST_WAIT_SECONDS))
        return self.cancelled

    def cancel(self) -> None:
        with self._gate:
            super().cancel()
            wakes, self._wakes = self._wakes, []
        for wake in wakes:
            with suppress(RuntimeError):  # its loop is closed: nobody waits there any more
                wake()

    async def _waited(self) -> None:
        event = asyncio.Event()
        wake = partial(asyncio.get_running_loop().call_soon_threadsafe, event.set)
        with self._gate:
            if self.cancelled:
                return
            self._wakes.append(wake)
        await event.wait()


def cancel_by_term(cancelled: Cancelled) -> None:
    """For a callable that has its process to itself: one that asks whether it is cancelled wants to end by itself,
    others end by the signal.
    """

    def on_term(_number: int, _frame: object) -> None:
        """It interrupts a wait for `cancelled` too, and that has its lock for a moment: not to be waited for here."""
        try:
            _thread.start_new_thread(cancelled.cancel, ())
        except RuntimeError:  # the machine gives no more threads
            cancelled.cancel()

    signal.signal(signal.SIGTERM, on_term)


class Context:
    """`attempt`: 1 for the first try. `parameters`: the values of this run, complete. `upstream_results`: what the jobs
    that it waits for gave, by their names, as JSON has it; none without such. `output`: a folder whose files are kept.
    `cancelled`: truthy from the moment at which it is to end; `cancelled.wait(seconds)` sleeps until then at most,
    `await cancelled` on a loop, `cancelled.check()` raises.
    """

    def __init__(
        self,
        instance_id: int,
        attempt: int,
        parameters: Mapping[str, Any],
        cancelled: Cancelled,
        tell: Callable[[float, str], None],
        output: Callable[[], Path],
        listen: Callable[[], None] = lambda: None,
        upstream_results: Mapping[str, Any] | None = None,
    ) -> None:
        """output: makes the folder, called when it is first asked for. listen: called when it is first asked whether it
        is cancelled.
        """
        self.instance_id = instance_id
        self.attempt = attempt
        self.parameters = dict(parameters)
        self.upstream_results = dict(upstream_results or {})
        self._cancelled = cancelled
        self._tell = tell
        self._make_output = output
        self._listen: Callable[[], None] | None = listen

    @property
    def cancelled(self) -> Cancelled:
        if self._listen:
            listen, self._listen = self._listen, None
            listen()
        return self._cancelled

    @cached_property
    def output(self) -> Path:
        return self._make_output()

    def progress(self, done: float, text: str = "") -> None:
        """How far it is, from 0 to 1, and in words; as often as you like. Raises ValueError for another number."""
        if not (isinstance(done, int | float) and 0 <= done <= 1):
            raise ValueError(f"progress is {done!r}, expected a number from 0 to 1")
        self._tell(float(done), str(text))
