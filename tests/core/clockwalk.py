"""An independent reading of the rules for wall times: look at every minute, and ask whether it fires.

Slow and plain on purpose; the triggers are held against it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Fields:
    """One cron expression, as text and as the values that its author meant."""

    text: str
    minutes: set[int]
    hours: set[int]
    dates: set[int]
    months: set[int]
    weekdays: set[int]
    starred_day: bool
    wildcard: bool

    def match(self, wall: datetime) -> bool:
        return self.match_day(wall) and wall.hour in self.hours and wall.minute in self.minutes

    def match_day(self, day: date) -> bool:
        by_date, by_weekday = day.day in self.dates, day.isoweekday() % 7 in self.weekdays
        return day.month in self.months and (by_date and by_weekday if self.starred_day else by_date or by_weekday)

    def ever(self) -> bool:
        """Within the 28 years after which dates fall on the same weekdays again."""
        return any(self.match_day(date(2000, 1, 1) + timedelta(days=day)) for day in range(28 * 366))


def walk(fields: Fields, zone: str, after: datetime, until: datetime, gap: str, fold: str) -> Iterator[datetime]:
    """Every fire in (after, until]; both are whole minutes of UTC."""
    if gap == "default":
        gap = "skip" if fields.wildcard else "run_after"
    if fold == "default":
        fold = "both" if fields.wildcard else "first"
    moment = after + MINUTE
    while moment <= until:
        local, before = moment.astimezone(ZoneInfo(zone)), (moment - MINUTE).astimezone(ZoneInfo(zone))
        wall, skipped_from = local.replace(tzinfo=None, fold=0), before.replace(tzinfo=None, fold=0) + MINUTE
        due = fields.match(wall) and is_wanted_pass(local, fold)
        if timedelta(0) < wall - skipped_from <= timedelta(hours=3) and gap == "run_after":
            due = due or any(fields.match(missing) for missing in minutes(skipped_from, wall))
        if due:
            yield moment
        moment += MINUTE


def is_wanted_pass(local: datetime, fold: str) -> bool:
    other = local.replace(fold=1 - local.fold)
    exists_twice = other.utcoffset() != local.utcoffset() and other.astimezone(UTC).astimezone(local.tzinfo) == other
    return not exists_twice or fold == "both" or (fold == "second") == bool(local.fold)


def minutes(start: datetime, stop: datetime) -> Iterator[datetime]:
    while start < stop:
        yield start
        start += MINUTE
