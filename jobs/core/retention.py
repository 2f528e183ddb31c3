"""Which runs that have ended are kept no longer.

A run goes when it is too old, or when so many newer ones of its job are there. What did not succeed has an age of its
own, and until then goes by its number only beyond the newest MOST_FAILURES that did not succeed. Never goes the newest
run of a job (its last result, and what a fixed delay is counted from), nor what has ended within the last hour: whoever
waited for it may still be reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, Self

from jobs.core.states import Status

SUCCEEDED = frozenset({Status.SUCCESS, Status.SKIPPED})
MOST_FAILURES = 10_000
READ_FOR = timedelta(hours=1)
FOR_EVER = 0


class Ended(NamedTuple):
    """A run that has ended. Ids rise with the order in which runs were made."""

    id: int
    status: str
    ended_at: datetime

    @property
    def succeeded(self) -> bool:
        return self.status in SUCCEEDED


class Place(NamedTuple):
    """How many newer runs of its job there are, told by ids: all up to these have that many or more.

    `beyond`: more than are kept; `beyond_failures`: more that did not succeed than MOST_FAILURES. `newest`: of those
    that have ended.
    """

    newest: int
    beyond: int = 0
    beyond_failures: int = 0


@dataclass(frozen=True, slots=True)
class Keep:
    """For how many days, and how many of a job; FOR_EVER: no such bound."""

    days: int
    failed_days: int
    instances: int

    def but(self, days: int | None, failed_days: int | None, instances: int | None) -> Self:
        """What a job says of its own; None: as here."""
        own = (days, failed_days, instances)
        mine = (self.days, self.failed_days, self.instances)
        return type(self)(*(ours if given is None else given for given, ours in zip(own, mine, strict=True)))

    def too_old(self, run: Ended, now: datetime) -> bool:
        days = self.days if run.succeeded else self.failed_days
        return days != FOR_EVER and run.ended_at < now - timedelta(days=days)

    @property
    def longest_days(self) -> int:
        """FOR_EVER if either is."""
        return FOR_EVER if FOR_EVER in (self.days, self.failed_days) else max(self.days, self.failed_days)

    def youngest_too_old(self, now: datetime) -> datetime | None:
        """No run that was made after this can be too old; None: none ever is."""
        days = [days for days in (self.days, self.failed_days) if days != FOR_EVER]
        return now - timedelta(days=min(days)) if days else None


def goes(run: Ended, place: Place, keep: Keep, now: datetime) -> bool:
    """Whether the run is kept no longer, all else aside that may still need it."""
    if run.id >= place.newest or run.ended_at > now - READ_FOR:
        return False
    beyond = place.beyond if run.succeeded else min(place.beyond, place.beyond_failures)
    return keep.too_old(run, now) or run.id <= beyond
