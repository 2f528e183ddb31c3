"""Moving SQLite's log into its file, on a thread of its own: 10 ms that no start has to wait for."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection

log = logging.getLogger(__name__)

# A log of this size costs readers nothing yet, and a checkpoint of it is short.
WAL_BYTES = 4 * 1024 * 1024


class Checkpointer:
    """Asked now and then by the engine; works only when the log has grown."""

    def __init__(self) -> None:
        self._wal = Path(f"{settings.DATABASES['default']['NAME']}-wal")
        self._asked = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="checkpoint", daemon=True)

    def open(self) -> None:
        if connection.vendor == "sqlite":
            self._thread.start()

    def ask(self) -> None:
        self._asked.set()

    def close(self) -> None:
        self._closing = True
        self._asked.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while True:
            self._asked.wait()
            self._asked.clear()
            if self._closing:
                break
            self._checkpoint_if_grown()
        connection.close()

    def _checkpoint_if_grown(self) -> None:
        try:
            if self._wal.stat().st_size >= WAL_BYTES:
                with connection.cursor() as cursor:
                    cursor.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except FileNotFoundError:
            return
        except DatabaseError as error:
            log.warning("the database's log could not be moved into its file now: %s", error)
