"""One writer at a time within a process, the engine first.

SQLite lets one connection write and makes the others poll with growing pauses: with four page writers beside it an
engine commit took 700 ms. Here they wait in a queue of this process, in order of arrival but behind the engine, and
the one that ends hands over to the next at once.
"""

import threading
from collections import deque

_this_thread = threading.local()


def mark_engine_thread() -> None:
    """From now on the calling thread goes first wherever it waits to write."""
    _this_thread.is_engine = True


def is_engine_thread() -> bool:
    return getattr(_this_thread, "is_engine", False)


class WriteLock:
    """A lock with owners, a queue for engine threads and one for all others.

    It belongs to an owner (a database connection) and not to a thread: a connection may be closed by another thread
    than the one that opened it. It is handed over and never just dropped, so a thread that comes along in between
    cannot take it before one that has waited.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._owner: object | None = None
        self._engine_queue: deque[_Turn] = deque()
        self._page_queue: deque[_Turn] = deque()

    def acquire(self, owner: object, timeout_seconds: float) -> bool:
        """True when `owner` holds the lock (also if it did before), False when the time is over."""
        with self._mutex:
            if self._owner is None or self._owner is owner:
                self._owner = owner
                return True
            turn = _Turn(owner)
            queue = self._engine_queue if is_engine_thread() else self._page_queue
            queue.append(turn)
        try:
            turn.came.acquire(timeout=timeout_seconds)
        finally:
            # Also after Ctrl-C: a turn left behind would be handed the lock and never give it back.
            with self._mutex:
                if turn in queue:
                    queue.remove(turn)
        return self._owner is owner  # also when it was handed over just as the time ended

    def release(self, owner: object) -> None:
        """Hand the lock to the next that waits; nothing happens if `owner` does not hold it."""
        with self._mutex:
            if self._owner is not owner:
                return
            queue = self._engine_queue or self._page_queue
            if not queue:
                self._owner = None
                return
            turn = queue.popleft()
            self._owner = turn.owner
            turn.came.release()

    def held_by(self, owner: object) -> bool:
        return self._owner is owner

    def waiting(self) -> int:
        """How many owners wait now."""
        with self._mutex:
            return len(self._engine_queue) + len(self._page_queue)


class _Turn:
    __slots__ = ("came", "owner")

    def __init__(self, owner: object) -> None:
        self.owner = owner
        self.came = threading.Lock()  # an Event does the same in five times the time
        self.came.acquire()


_locks: dict[str, WriteLock] = {}
_locks_mutex = threading.Lock()


def of_database(name: str) -> WriteLock:
    """The one lock of this process for the database file of this absolute name."""
    with _locks_mutex:
        return _locks.setdefault(name, WriteLock())


def forget_all() -> None:
    """For a process that was just forked: its locks may be held by threads that it does not have."""
    global _locks, _locks_mutex
    _locks, _locks_mutex = {}, threading.Lock()
