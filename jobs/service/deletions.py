"""What has to go, on a thread of its own: jobs that are being deleted, and idempotency keys that are a day old.

A job goes when the last of its processes has ended. A long history takes its time, and no start has to wait for it.
"""

from __future__ import annotations

import logging
import threading
from datetime import datetime

from django.db import DatabaseError, connection

from jobs.service.clock import utc_now
from jobs.service.every import Every
from jobs.store import keys, leaving

log = logging.getLogger(__name__)

# Many instances end in a second; one look for all of them.
REST_SECONDS = 1.0
FORGET_EVERY_SECONDS = 600.0


class Deletions:
    """Asked by the engine at each beat and whenever an instance has ended, and at the start. Each node may do it."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._closing = threading.Event()
        self._forget = Every(FORGET_EVERY_SECONDS)
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
            if self._forget.is_due():
                forget_old_keys(utc_now())
        except DatabaseError as error:
            log.warning("what has to go could not be deleted now, tried again later: %s", error)
            connection.close()


def finish_requested() -> int:
    """One pass over all that are being deleted; returns how many are gone. Raises django.db.DatabaseError."""
    gone = 0
    for job_id, actor in leaving.requested():
        _, running = leaving.finish(job_id, actor=actor, now=utc_now())
        gone += not running
    return gone


def forget_old_keys(now: datetime) -> int:
    """Delete all idempotency keys that are a day old, a portion at a time. Raises django.db.DatabaseError."""
    gone = 0
    while portion := keys.forget_some(now):
        gone += portion
    return gone
