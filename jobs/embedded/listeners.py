"""Tells whoever wants to know, on a thread of its own: one that raises or blocks harms neither scheduler nor jobs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue

from jobs.embedded.handles import Event

logger = logging.getLogger(__name__)

Listener = Callable[[Event], object]

# Of listeners that have stopped listening, so that they do not fill the memory.
MOST_WAITING = 100_000


class Listeners:
    """Events in order, one at a time. `told`: called, from their thread, whenever all have been told of everything.

    dropped     events that nobody was told of, because too many waited
    """

    def __init__(self, told: Callable[[], None]) -> None:
        self._all_told = told
        self._listeners: tuple[Listener, ...] = ()
        self._events: SimpleQueue[Event | None] = SimpleQueue()
        self._put = 0  # by the scheduler's thread only
        self._told = 0  # by the listeners' thread only
        self._thread = threading.Thread(target=self._tell_all, name="rota-listeners", daemon=True)
        self._starting = threading.Lock()
        self.dropped = 0

    @property
    def idle(self) -> bool:
        return self._put == self._told

    def add(self, listener: Listener) -> None:
        with self._starting:
            if self._thread.ident is None:
                self._thread.start()
            self._listeners = (*self._listeners, listener)

    def remove(self, listener: Listener) -> None:
        """What waits to be told does not reach it any more. Raises ValueError if it was not there."""
        with self._starting:
            listeners = list(self._listeners)
            listeners.remove(listener)
            self._listeners = tuple(listeners)

    def put(self, event: Event) -> None:
        """Return at once. Without listeners there is nothing to keep."""
        if not self._listeners:
            return
        if self._put - self._told >= MOST_WAITING:
            self.dropped += 1
            return
        self._put += 1
        self._events.put(event)

    def close(self, seconds: float) -> None:
        """Tell what there is to tell, for so long at most."""
        self._events.put(None)
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join(seconds)

    def _tell_all(self) -> None:
        while (event := self._events.get()) is not None:
            for listener in self._listeners:
                _tell(listener, event)
            self._told += 1
            if self.idle:
                self._all_told()


def _tell(listener: Listener, event: Event) -> None:
    try:
        listener(event)
    except Exception:
        logger.exception("a listener raised: %s", getattr(listener, "__qualname__", repr(listener)))
