"""What is kept no longer goes, on a thread of its own: a little at a time, so that no start waits for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError, connection

from jobs.actions.keeping import keep_of_site
from jobs.service.clock import utc_now
from jobs.service.every import Every
from jobs.service.sweep import Sweep

log = logging.getLogger(__name__)

# The start has better things to do.
FIRST_AFTER_SECONDS = 60.0
ROOM_EVERY_SECONDS = 300.0
HISTORY_EVERY_SECONDS = 3600.0
ALL_EVERY_SECONDS = 86_400.0
# As long as a portion takes: pages get to write in between.
REST_SECONDS = 0.02
# A huge directory takes longer to remove than anybody waits for a stop; the next look finds what is left of it.
STOP_SECONDS = 5.0


class Closing(Exception):
    """The service stops in the middle of a sweep."""


def sweep_of(actor: str, rest: Callable[[], object]) -> Sweep:
    """As the settings say."""
    return Sweep(settings.DATA_DIR, actor, keep_of_site(), settings.KEEP_RUNS_MB, rest)


class Retention:
    """Each node removes rows, and the run directories that it has itself."""

    def __init__(self, actor: str) -> None:
        self._sweep = sweep_of(actor, self._rest)
        self._history, self._all = Every(HISTORY_EVERY_SECONDS), Every(ALL_EVERY_SECONDS)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="retention", daemon=True)

    def open(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)

    def _work(self) -> None:
        wait = FIRST_AFTER_SECONDS
        while not self._closing.wait(wait):
            try:
                self._turn()
            except Closing:
                break
            except (DatabaseError, OSError) as error:
                log.warning("what is kept no longer could not be removed now, tried again later: %s", error)
                connection.close()
            wait = ROOM_EVERY_SECONDS
        connection.close()

    def _turn(self) -> None:
        now = utc_now()
        if self._history.is_due():
            self._sweep.prune_history(now)
        if self._all.is_due():
            self._sweep.look_at_all(now)
        self._sweep.make_room(now)
        self._sweep.finish(now)

    def _rest(self) -> None:
        if self._closing.wait(REST_SECONDS):
            raise Closing
