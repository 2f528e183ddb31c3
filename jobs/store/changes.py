"""What others changed since the engine last looked, read from the feed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import connection

from jobs.models import Event

# More than this at once is taken in the next look, so that a flood does not hold up a pass.
AT_ONCE = 2_000

# Said for people. Two engines that took each other's reasons for changes would answer them for ever.
NO_CHANGE = frozenset({"instance.held", "attempt.began"})


@dataclass(frozen=True, slots=True)
class Changes:
    """`position`: the last event looked at; `more`: there may be others after it.

    The ids of jobs and instances that somebody else changed, and whether that was so of some node, limit or backfill.
    """

    position: int
    jobs: frozenset[int] = frozenset()
    instances: frozenset[int] = frozenset()
    more: bool = False
    node: bool = False
    limits: bool = False
    backfills: bool = False


def newest() -> int:
    """The number of the last event; 0 when there is none."""
    return Event.objects.order_by("-id").values_list("id", flat=True).first() or 0


def since(position: int, *, but_of: str) -> Changes:
    """What events after `position` name, but for those whose actor is `but_of`: the reader's own."""
    after = Event.objects.filter(id__gt=position).order_by("id")
    rows = list(after.values_list("id", "actor", "kind", "job_id", "instance_id")[:AT_ONCE])
    others = [row[3:] for row in rows if row[1] != but_of and row[2] not in NO_CHANGE]
    return Changes(
        position=rows[-1][0] if rows else position,
        jobs=frozenset(job_id for job_id, instance_id in others if job_id is not None and instance_id is None),
        instances=frozenset(instance_id for _, instance_id in others if instance_id is not None),
        more=len(rows) == AT_ONCE,
        node=any(kind.startswith("node.") and actor != but_of for _, actor, kind, *_ in rows),
        limits=any(kind == "limit.changed" for _, _, kind, *_ in rows),
        backfills=any(kind == "backfill.created" for _, _, kind, *_ in rows),
    )


class DataVersion:
    """Whether anybody else wrote to the database since the last look, for less than a query costs.

    SQLite counts commits of other connections in a pragma. PostgreSQL has no such number for one table: there the
    last event's id is asked for.
    """

    def __init__(self) -> None:
        self._seen: Any = None

    def changed(self) -> bool:
        seen = self._read()
        changed: bool = seen != self._seen
        self._seen = seen
        return changed

    def _read(self) -> Any:
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.execute("PRAGMA data_version")
            else:
                cursor.execute("SELECT max(id) FROM jobs_event")
            return cursor.fetchone()
