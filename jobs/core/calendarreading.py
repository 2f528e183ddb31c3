"""Reads a calendar from what admin, API and database hold of it: a mapping that JSON can carry.

timezone       the name of an IANA zone; UTC if it is left out
blackouts      a list of {"from": ..., "to": ...}: dates or moments, a bare date being the whole day, and a moment in
               "to" the first that is open again
               or {"days": "sat,sun", "from": "22:00", "to": "06:00"}: each week; "to" may be 24:00;
               both may have a "name"
business_days  such as mon-fri; every day if it is left out
holidays       a list of dates
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta

from jobs.core.calendars import Calendar, DateRange, WeeklyWindow
from jobs.core.invalid import BLACKOUTS, BUSINESS_DAYS, HOLIDAYS, ZONE, InvalidSchedule
from jobs.core.moments import FIRST_YEAR, LAST_YEAR, parse_moment
from jobs.core.weektimes import parse_clock, parse_weekdays
from jobs.core.zones import zone_named

FIELDS = (ZONE, BLACKOUTS, BUSINESS_DAYS, HOLIDAYS)
KEYS = ("days", "from", "to", "name")
MOST_BLACKOUTS, MOST_HOLIDAYS, LONGEST_NAME = 200, 2000, 100


def parse_calendar(name: str, definition: Mapping[str, object]) -> Calendar:
    """Raises InvalidSchedule, for the key at fault."""
    for key in definition:
        if key not in FIELDS:
            raise InvalidSchedule(str(key), f"A calendar has no {key!r}; it has {', '.join(FIELDS)}.")
    zone = zone_named(_text(definition, ZONE, ZONE) or "UTC").key
    blackouts = _list(definition, BLACKOUTS, MOST_BLACKOUTS)
    found = [_blackout(given, number, zone) for number, given in enumerate(blackouts, 1)]
    business = _text(definition, BUSINESS_DAYS, BUSINESS_DAYS)
    calendar = Calendar(
        name,
        zone,
        tuple(blackout for blackout in found if isinstance(blackout, DateRange)),
        tuple(blackout for blackout in found if isinstance(blackout, WeeklyWindow)),
        parse_weekdays(business, BUSINESS_DAYS, "{}") if business else frozenset(),
        frozenset(_holiday(given) for given in _list(definition, HOLIDAYS, MOST_HOLIDAYS)),
    )
    _refuse_if_always_closed(calendar)
    return calendar


def _blackout(given: object, number: int, zone: str) -> DateRange | WeeklyWindow:
    """Its sentences say which of the list it is."""
    if not isinstance(given, Mapping) or not set(given) <= set(KEYS):
        raise InvalidSchedule(BLACKOUTS, f"Closed time {number}: {given!r} is none; it has {', '.join(KEYS)}.")
    try:
        return closed_time(given, zone)
    except InvalidSchedule as refusal:
        raise InvalidSchedule(BLACKOUTS, f"Closed time {number}: {refusal.sentence}") from refusal


def closed_time(given: Mapping[str, object], zone: str) -> DateRange | WeeklyWindow:
    """One of `blackouts`. Raises InvalidSchedule, whose sentence goes on after what names it."""
    days, begins, ends, name = (_text(given, key, BLACKOUTS) for key in KEYS)
    if len(name) > LONGEST_NAME:
        raise InvalidSchedule(BLACKOUTS, f"its name has {len(name):,} characters; at most {LONGEST_NAME} are kept.")
    if not (begins and ends):
        raise InvalidSchedule(BLACKOUTS, "it needs both a 'from' and a 'to'.")
    return _weekly(days, begins, ends, name) if "days" in given else _range(begins, ends, name, zone)


def _weekly(days: str, begins: str, ends: str, name: str) -> WeeklyWindow:
    first = parse_clock(begins, BLACKOUTS)
    last = time() if ends in ("24:00", "24:00:00") else parse_clock(ends, BLACKOUTS)
    if first == last and not ends.startswith("24"):
        raise InvalidSchedule(BLACKOUTS, f"it begins and ends at {begins}; write 00:00 to 24:00 for the whole day.")
    return WeeklyWindow(parse_weekdays(days.replace(" ", ""), BLACKOUTS, "{}"), first, last, name)


def _range(begins: str, ends: str, name: str, zone: str) -> DateRange:
    first = parse_moment(begins, zone, end_of_day=False)
    last = parse_moment(ends, zone, end_of_day=True, fold="second")
    if _is_date(ends):
        last += datetime.resolution
    if first >= last:
        raise InvalidSchedule(BLACKOUTS, f"it ends ({ends}) before it has begun ({begins}).")
    return DateRange(first, last, name)


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _holiday(given: object) -> date:
    try:
        day = date.fromisoformat(given.strip() if isinstance(given, str) else "")
    except ValueError as error:
        raise InvalidSchedule(HOLIDAYS, f"{given!r} is no date; expected such as 2026-12-25.") from error
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise InvalidSchedule(HOLIDAYS, f"{given!r} lies outside the years {FIRST_YEAR} to {LAST_YEAR}; is it a slip?")
    return day


def _text(given: Mapping[str, object], key: str, field: str) -> str:
    text = given.get(key, "")
    if not isinstance(text, str):
        raise InvalidSchedule(field, f"{key} is {text!r}; expected a text.")
    return text.strip()


def _list(definition: Mapping[str, object], field: str, most: int) -> list[object]:
    given = definition.get(field, [])
    if not isinstance(given, list):
        raise InvalidSchedule(field, f"{field} is {given!r}; expected a list.")
    if len(given) > most:
        raise InvalidSchedule(field, f"{field} has {len(given):,} entries; at most {most:,} are kept.")
    return given


def _refuse_if_always_closed(calendar: Calendar) -> None:
    """Judged after all that has a date, when only what comes again each week is left."""
    dated = [found.ends for found in calendar.ranges]
    dated += [datetime.combine(day, time(), zone_named("UTC")) for day in calendar.holidays]
    settled = max(dated, default=datetime(2000, 1, 1, tzinfo=zone_named("UTC"))) + timedelta(days=3)
    if calendar.end_of(settled) is None:
        field = BLACKOUTS if calendar.weekly else BUSINESS_DAYS
        raise InvalidSchedule(field, "It would be closed at every moment of the week; leave some time open.")
