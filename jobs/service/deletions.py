"""Jobs that are being deleted go when the last of their processes has ended, on a thread of its own.

A long history takes its time, and no start has to wait for it.
"""

from __future__ import annotations

import logging
import threading

from django.db import DatabaseError, connection

from jobs.service.clock import utc_now
from jobs.store import leaving

log = logging.getLogger(__name__)

# Many instances end in a second; one look for all of them.
REST_SECONDS = 1.0


class Deletions:
    """Asked by the engine at each beat and whenever an instance has ended, and at the start. Each node may do it."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="deletions", daemon=True)

    def open(self) -> None:
        self._asked.set()
        self._thread.start()

    def ask(self) -> None:
        self._asked.set()

    def close(self) -> None:
        self._closing.set()
        self._asked.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while not self._closing.is_set():
            self._asked.wait()
            self._asked.clear()
            if not self._closing.is_set():
                self._try()
            self._closing.wait(REST_SECONDS)
        connection.close()

    def _try(self) -> None:
        try:
            finish_requested()
        except DatabaseError as error:
            log.warning("jobs that are being deleted could not be deleted now, tried again at the next beat: %s", error)
            connection.close()


def finish_requested() -> int:
    """One pass over all that are being deleted; returns how many are gone. Raises django.db.DatabaseError."""
    gone = 0
    for job_id, actor in leaving.requested():
        _, running = leaving.finish(job_id, actor=actor, now=utc_now())
        gone += not running
    return gone
