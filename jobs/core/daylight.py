"""What becomes of wall times where clocks are changed: the rule for gaps and folds.

In a gap (clocks forward) wall times do not exist, in a fold (clocks back) they exist twice. A schedule is *wildcard*
if its minute or hour field starts with a star ("every so often"), else *fixed* ("at that time").

    gap    default    fixed: the fires that fall in it happen once, at its end; wildcard: they do not exist
           run_after  they happen once, at its end
           skip       they do not exist
    fold   default    fixed: on the first pass; wildcard: on both
           first, second, both

A gap of more than three hours is a move across the date line: nothing is made up for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple, get_args
from zoneinfo import ZoneInfo

from jobs.core.invalid import InvalidSchedule
from jobs.core.zones import Change, changes, offset_at

Gap = Literal["default", "run_after", "skip"]
Fold = Literal["default", "first", "second", "both"]

LONGEST_MADE_UP_GAP = timedelta(hours=3)
FIRST_YEAR, LAST_YEAR = 2, 9997  # one year from either end of what a datetime can hold, with a neighbour to look at


class Window(NamedTuple):
    """A stretch of time with one offset, and the wall times that count in it.

    opens, closes  UTC; the stretch is [opens, closes)
    first, last    naive wall times; those in [first, last) fire at wall - offset
    made_up        naive wall times [from, to) of a gap that ends at `opens`: if any is due, it fires at `opens`
    """

    opens: datetime
    closes: datetime
    offset: timedelta
    first: datetime
    last: datetime
    made_up: tuple[datetime, datetime] | None


@dataclass(frozen=True)
class ZoneRules:
    """A zone and what a schedule wants of its gaps and folds. Raises InvalidSchedule for an unknown wish."""

    zone: ZoneInfo
    gap: Gap = "default"
    fold: Fold = "default"

    def __post_init__(self) -> None:
        for field, given, known in (("gap", self.gap, get_args(Gap)), ("fold", self.fold, get_args(Fold))):
            if given not in known:
                raise InvalidSchedule(field, f"{given!r} is no rule for a {field}; expected one of {', '.join(known)}.")

    def makes_up(self, *, wildcard: bool) -> bool:
        """Whether fires that fall into a gap happen once, at its end."""
        return self.gap == "run_after" or (self.gap == "default" and not wildcard)

    def windows(self, moment: datetime, *, wildcard: bool) -> Iterator[Window]:
        """The windows from the one that holds `moment` (aware) on, in order, to the end of the calendar."""
        makes_up = self.makes_up(wildcard=wildcard)
        fold = self.fold if self.fold != "default" else "both" if wildcard else "first"
        for year in range(max(moment.astimezone(UTC).year, FIRST_YEAR), LAST_YEAR + 1):
            for window in _windows_of(self.zone, year, makes_up, fold):
                if window.closes > moment:
                    yield window


@lru_cache(maxsize=8192)
def _windows_of(zone: ZoneInfo, year: int, makes_up: bool, fold: Fold) -> tuple[Window, ...]:
    """One UTC year, cut at each change of offset; so a fold may reach over the edge of the year."""
    within = changes(zone, year)
    edges = [datetime(year, 1, 1, tzinfo=UTC), *(change.at for change in within), datetime(year + 1, 1, 1, tzinfo=UTC)]
    around = [*changes(zone, year - 1)[-1:], *within, *changes(zone, year + 1)[:1]]
    windows = []
    for opens, closes in pairwise(edges):
        if opens == closes:
            continue  # a change at the very first instant of the year
        previous = max((change for change in around if change.at <= opens), default=None)
        following = min((change for change in around if change.at >= closes), default=None)
        windows.append(_window(opens, closes, offset_at(zone, opens), previous, following, makes_up, fold))
    return tuple(windows)


def _window(
    opens: datetime,
    closes: datetime,
    offset: timedelta,
    previous: Change | None,
    following: Change | None,
    makes_up: bool,
    fold: Fold,
) -> Window:
    first, last = wall_at(opens, offset), wall_at(closes, offset)
    made_up = None
    if previous and previous.gap < timedelta(0) and fold == "first":
        first = max(first, wall_at(previous.at, previous.before))
    if previous and previous.at == opens and timedelta(0) < previous.gap <= LONGEST_MADE_UP_GAP and makes_up:
        made_up = (wall_at(opens, previous.before), first)
    if following and following.gap < timedelta(0) and fold == "second":
        last = min(last, wall_at(following.at, following.after))
    return Window(opens, closes, offset, first, max(first, last), made_up)


def wall_at(instant: datetime, offset: timedelta) -> datetime:
    """What clocks at that offset show (naive) at an aware instant."""
    return instant.astimezone(UTC).replace(tzinfo=None) + offset
