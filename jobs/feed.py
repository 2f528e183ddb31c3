"""Committed events after a position, in order. Every reader (relay, engine, API) follows the same feed.

Event ids commit in the order of their numbers (see `jobs.store.events`), so a reader that has seen n never misses a
smaller one later.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from jobs.models import Event, FeedEpoch


class Position(NamedTuple):
    """Where a reader is: event `n` of the feed's life `epoch` (a restored back-up begins another one)."""

    epoch: str
    n: int

    def __str__(self) -> str:
        return f"{self.epoch}:{self.n}"


@dataclass(frozen=True, slots=True)
class FeedEvent:
    """One committed change. What `data` holds for each kind is told in docs/events.md."""

    n: int
    at: datetime
    kind: str
    job_id: int | None
    instance_id: int | None
    attempt: int | None
    from_status: str
    to_status: str
    actor: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Events after the position that was asked for, and the position after them.

    `whole` is False when that position is not in this feed (another epoch, or its events were removed): the reader
    has to build its picture afresh and go on from `position`.
    """

    events: tuple[FeedEvent, ...]
    position: Position
    whole: bool = True


def head() -> Position:
    """The position of the latest committed event; n is 0 while there is none."""
    return Position(epoch(), _latest())


def epoch() -> str:
    """The life of this feed, made at its first use."""
    # Most calls find it: get_or_create would open a transaction, and with it take the write lock, for a read.
    row = FeedEpoch.objects.first() or FeedEpoch.objects.get_or_create(pk=1)[0]
    return str(row.epoch)


def after(position: Position, limit: int = 1000) -> Stretch:
    """At most `limit` events after `position`. Two queries, one more when there is nothing."""
    current = epoch()
    if position.epoch != current:
        return Stretch((), Position(current, _latest()), whole=False)
    rows = Event.objects.filter(id__gte=max(position.n, 1)).order_by("id")[: limit + 1]
    events = [_seen(row) for row in rows]
    if position.n and (not events or events[0].n != position.n):
        return Stretch((), Position(current, _latest()), whole=False)
    fresh = tuple(event for event in events if event.n > position.n)[:limit]
    return Stretch(fresh, Position(current, fresh[-1].n if fresh else position.n))


def data_version() -> int | None:
    """A number that changes when another connection has committed; None where the database has no such thing.

    SQLite's costs no query of the tables, which is what makes a look each second free.
    """
    if connection.vendor != "sqlite":
        return None
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA data_version")
        return int(cursor.fetchone()[0])


def _latest() -> int:
    return Event.objects.order_by("-id").values_list("id", flat=True).first() or 0


def _seen(row: Event) -> FeedEvent:
    return FeedEvent(
        row.pk,
        row.at,
        row.kind,
        row.job_id,
        row.instance_id,
        row.attempt,
        row.from_status,
        row.to_status,
        row.actor,
        row.data,
    )
