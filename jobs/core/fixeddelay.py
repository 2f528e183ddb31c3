"""So long after the last one ended: the only schedule whose next moment is not on the calendar."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from jobs.core import timewords


@dataclass(frozen=True)
class FixedDelay:
    """First at `start`, then `every` after each end, whatever that end was.

    A trigger is a value and knows of no run, so as a `Trigger` this one has a single fire, its start. Whoever watches
    it asks `after_end` for all others: with the end of the last attempt, or, while nothing of it has run since, with
    the moment from which it is watched (it was made, edited or resumed then; none of these starts anything at once).
    """

    every: timedelta
    start: datetime
    end: datetime | None = None

    def next_after(self, moment: datetime) -> datetime | None:
        return self._bounded(self.start) if self.start > moment else None

    def after_end(self, ended_at: datetime) -> datetime | None:
        """The next fire after an end at that moment; None = never again."""
        try:
            return self._bounded(self.start if self.start > ended_at else ended_at + self.every)
        except OverflowError:
            return None

    def count_between(self, after: datetime, until: datetime) -> int:
        """Time in which it was not watched holds no missed runs, only a start that is late."""
        fire = self.next_after(after)
        return int(fire is not None and fire <= until)

    def describe(self) -> str:
        return timewords.after_end(self.every)

    def _bounded(self, fire: datetime) -> datetime | None:
        return fire.astimezone(UTC) if self.end is None or fire <= self.end else None
