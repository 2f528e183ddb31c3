"""When the clock was set, here or while nothing ran: mends what is stored by how it went before, and says so."""

from __future__ import annotations

import logging
from datetime import datetime

from django.db import transaction

from jobs.models import Node
from jobs.service.clock import ClockChange
from jobs.store import reanchoring
from jobs.store.events import NewEvent, record
from jobs.store.schedules import FOLLOWED_BACK

log = logging.getLogger(__name__)


def mend(node: Node, change: ClockChange, now: datetime) -> None:
    """Forward and suspended, nothing is to be mended but waits; the catch-up policies decide. Back, schedules begin
    anew if they have got too far ahead.

    `change`: since this service last looked; it cannot know what was done before it started.
    """
    actor, agrees = f"node:{node.name}", _database_agrees(node, now)
    with transaction.atomic():
        reanchored = reanchoring.count_ahead(now) if agrees else 0
        if change.set_by:
            reanchoring.keep_waits(node.pk, change.set_by)
        if agrees:
            reanchoring.reach_former_marks(now)
            reanchoring.bound_waits(now)
            reanchoring.keep_places(now)
            reanchoring.keep_delays(now)
        if change or reanchored:
            _tell(node, change, reanchored, now)
    if reanchored:
        reanchoring.reanchor(now, actor)


def _tell(node: Node, change: ClockChange, reanchored: int, now: datetime) -> None:
    data = {
        "node": node.pk,
        "set_by_seconds": change.set_by.total_seconds(),
        "suspended_seconds": change.suspended.total_seconds(),
        "reanchored": reanchored,
    }
    log.warning(
        "the clock was set by %+.0f s and the machine suspended for %.0f s; %d schedules begin anew",
        data["set_by_seconds"],
        data["suspended_seconds"],
        reanchored,
    )
    record([NewEvent(now, "clock.changed", actor=f"node:{node.name}", data=data)])


def _database_agrees(node: Node, now: datetime) -> bool:
    """One machine's clock that is wrong must not set back the schedules of all others."""
    at = reanchoring.clock_of_database()
    if at is None or abs(at - now) <= FOLLOWED_BACK:
        return True
    log.error("the clock of node %s says %s, that of the database %s: set it right", node.name, now, at)
    return False
