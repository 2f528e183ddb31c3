"""Writing the feed: event rows go in last, in the transaction that makes the change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from jobs.store import wake
from jobs.store.rows import parameter, relation

COLUMNS = {
    "at": "moment",
    "kind": "text",
    "job_id": "int",
    "instance_id": "int",
    "attempt": "int",
    "from_status": "text",
    "to_status": "text",
    "actor": "text",
    "data": "json",
}

# Any fixed number, the same for every writer: it makes event ids commit in order on PostgreSQL.
FEED_LOCK = 0x524F5441


@dataclass(frozen=True, slots=True)
class NewEvent:
    """One line of the feed. `data` is a JSON object; what may be in it is told in docs/events.md."""

    at: datetime
    kind: str
    job_id: int | None = None
    instance_id: int | None = None
    attempt: int | None = None
    from_status: str = ""
    to_status: str = ""
    actor: str = ""
    data: dict[str, Any] = field(default_factory=dict)


def record(events: Sequence[NewEvent]) -> None:
    """Insert the events, in order. Last statement of its transaction; readers are woken when that commits.

    Raises TransactionManagementError outside a transaction: an event without its change, or the other way round,
    would be a lie.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("an event is recorded in the transaction of its change")
    if not events:
        return
    rows = [
        (e.at, e.kind, e.job_id, e.instance_id, e.attempt, e.from_status, e.to_status, e.actor, e.data) for e in events
    ]
    names = ", ".join(COLUMNS)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [FEED_LOCK])
        cursor.execute(
            f"INSERT INTO jobs_event ({names}) SELECT {names} FROM {relation(connection, COLUMNS)}",
            [parameter(connection, COLUMNS, rows)],
        )
    wake.after_commit()
