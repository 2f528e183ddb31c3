"""A few threads that do what they are given, one after another, begun when there is something to do."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)

Task = Callable[[], object]


class Workers:
    def __init__(self, name: str, count: int) -> None:
        self._name = name
        self._count = count
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._gate = threading.Lock()

    def put(self, task: Task) -> None:
        with self._gate:
            if len(self._threads) < self._count:
                thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._threads.append(thread)
                thread.start()
        self._tasks.put(task)

    def close(self, seconds: float = 2.0) -> None:
        """Let each end after what it does now, for so long in all at most: one that hangs in the disk is left."""
        last = time.monotonic() + seconds
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join(max(0.0, last - time.monotonic()))

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                task()
            except OSError as error:  # as of a full disk, which says what there is to say
                logger.error("%s goes on after an error: %s", self._name, error)
            except Exception:
                logger.exception("%s goes on after an error", self._name)
