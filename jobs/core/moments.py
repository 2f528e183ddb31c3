"""Reads the moments that people write: with an offset as it is, else local to a zone; a bare date is a whole day."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from jobs.core import timewords
from jobs.core.daylight import LONGEST_MADE_UP_GAP, Fold, Gap
from jobs.core.invalid import END, START, InvalidSchedule
from jobs.core.zones import Change, changes, zone_named

FIRST_YEAR, LAST_YEAR = 1900, 9996


def parse_moment(text: str, zone: str, *, end_of_day: bool, gap: Gap = "default", fold: Fold = "default") -> datetime:
    """The UTC moment of an ISO text. Raises InvalidSchedule, for end_date if `end_of_day`, else for start_date.

    Without an offset it is local to `zone`: in a fold the first pass is meant (the second if `fold` says so), in a gap
    its end (with `skip` it is refused). A bare date is the first moment of that day, or its last microsecond if
    `end_of_day`.
    """
    field = END if end_of_day else START
    where = zone_named(zone)
    day, moment = _read(text.strip(), field)
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise InvalidSchedule(field, f"{text!r} lies outside the years {FIRST_YEAR} to {LAST_YEAR}; is it a slip?")
    if day is not None:
        return end_of(day, where) if end_of_day else start_of(day, where)
    if moment.tzinfo is not None:
        return moment.astimezone(UTC)
    skipped = gap_at(where, moment)
    if skipped is not None and skipped.gap > LONGEST_MADE_UP_GAP:
        raise InvalidSchedule(field, f"{text!r} does not exist in {zone}: the calendar skips it there.")
    if skipped is not None and gap == "skip":
        raise InvalidSchedule(field, f"{text!r} does not exist in {zone}: clocks go forward then, and gap is skip.")
    return second_pass(where, moment) if fold == "second" and skipped is None else earliest(where, moment)


def moment_marks(text: str, zone: str, *, fold: Fold = "default") -> tuple[str, ...]:
    """What is worth a word about a text that `parse_moment` has read: that clocks skip it, or show it twice."""
    where = zone_named(zone)
    day, moment = _read(text.strip(), START)
    if day is not None or moment.tzinfo is not None:
        return ()
    gap = gap_at(where, moment)
    if gap is not None:
        meant = timewords.clock(gap.at.astimezone(where))
        return (f"clocks go forward: {timewords.clock(moment)} does not exist, {meant} is meant",)
    if first_pass(where, moment) == second_pass(where, moment):
        return ()
    which = "second" if fold == "second" else "first"
    return (f"clocks go back: {timewords.clock(moment)} comes twice, the {which} pass is meant",)


def pass_of(zone: ZoneInfo, instant: datetime) -> str:
    """The words first or second, of an instant whose wall time comes twice; else nothing."""
    wall = instant.astimezone(zone).replace(tzinfo=None, fold=0)
    first, second = first_pass(zone, wall), second_pass(zone, wall)
    return "" if first == second else "second" if instant == second else "first"


def _read(text: str, field: str) -> tuple[date | None, datetime]:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        pass
    else:
        return day, datetime.combine(day, time())
    try:
        return None, datetime.fromisoformat(text)
    except ValueError as error:
        expected = "expected 2026-05-31, 2026-05-31T14:30 or 2026-05-31T14:30+02:00"
        raise InvalidSchedule(field, f"{text!r} is no date or time; {expected}.") from error


def not_before_moment(logical_at: datetime, clock: time, zone: ZoneInfo) -> datetime:
    """That time of day on the local day of a logical date, but never before the logical date itself. UTC.

    Where clocks skip that time it is the end of the gap, where they repeat it the first pass.
    """
    day = logical_at.astimezone(zone).date()
    return max(logical_at.astimezone(UTC), earliest(zone, datetime.combine(day, clock)))


def first_pass(zone: ZoneInfo, wall: datetime) -> datetime:
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC)


def second_pass(zone: ZoneInfo, wall: datetime) -> datetime:
    """The same as the first, where the wall time is not repeated."""
    return wall.replace(tzinfo=zone, fold=1).astimezone(UTC)


def earliest(zone: ZoneInfo, wall: datetime) -> datetime:
    """The first instant at which clocks show this naive wall time; where they skip it, the end of the gap."""
    gap = gap_at(zone, wall)
    return gap.at if gap else first_pass(zone, wall)


def latest(zone: ZoneInfo, wall: datetime) -> datetime:
    """The last instant at which clocks show this naive wall time; where they skip it, the end of the gap."""
    gap = gap_at(zone, wall)
    return gap.at if gap else second_pass(zone, wall)


def gap_at(zone: ZoneInfo, wall: datetime) -> Change | None:
    """The change that skips this naive wall time, if one does."""
    early, late = second_pass(zone, wall), first_pass(zone, wall)
    if early >= late:
        return None
    years = sorted({early.year, late.year})
    return next(change for year in years for change in changes(zone, year) if early < change.at <= late)


def start_of(day: date, zone: ZoneInfo) -> datetime:
    return earliest(zone, datetime.combine(day, time()))


def end_of(day: date, zone: ZoneInfo) -> datetime:
    """Its last microsecond. Where clocks go back over midnight, its last hour comes again after the next has begun."""
    next_day = day + timedelta(days=1)
    once_more = latest(zone, datetime.combine(next_day, time())) - datetime.resolution
    if once_more.astimezone(zone).date() == day:
        return once_more
    return start_of(next_day, zone) - datetime.resolution
