"""What people may do to calendars: make, change and delete them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from jobs.actions.answers import ChangedMeanwhile, InvalidInput, NotFound, Problem, Refused
from jobs.actions.reading import Reader, fault_of, shown, texts_in
from jobs.actions.unknown import refuse_unknown
from jobs.core.calendarreading import FIELDS as DEFINED
from jobs.core.calendarreading import parse_calendar
from jobs.core.calendars import Calendar as CalendarRead
from jobs.core.invalid import InvalidSchedule
from jobs.models import Calendar
from jobs.store import calendars as store

CALENDAR_FIELDS = ("name", *DEFINED)
LONGEST_NAME = 100
EXPECTED = {
    "timezone": "the name of an IANA time zone, such as Europe/Berlin",
    "blackouts": 'a list of {"from": ..., "to": ...} or {"days": ..., "from": ..., "to": ...}',
    "business_days": "such as mon-fri",
    "holidays": "a list of dates, such as 2026-12-25",
}


@dataclass(frozen=True, slots=True)
class CalendarStored:
    """`changed` names what is different now; empty: all was so already."""

    calendar_id: int
    name: str
    changed: tuple[str, ...] = ()


def create_calendar(raw: Mapping[str, Any], *, actor: str, now: datetime) -> CalendarStored:
    """`raw` has CALENDAR_FIELDS, as docs/scheduling.md tells them. Raises InvalidInput with nothing stored."""
    name, definition = check_calendar(raw)
    try:
        calendar = store.insert(name, definition, actor=actor, now=now)
    except IntegrityError:
        raise _name_taken(name) from None
    return CalendarStored(calendar.pk, name, ("name", "definition"))


def change_calendar(
    calendar_id: int, patch: Mapping[str, Any], *, actor: str, now: datetime, revision: str | None = None
) -> CalendarStored:
    """Change what is in `patch`; null takes it away. The schedules that go by it follow, and nothing is started.

    `revision`: the one that was edited, if whoever edits saw the whole: another's edit since then is not undone.
    Raises InvalidInput, Refused, NotFound.
    """
    try:
        with transaction.atomic():
            calendar = store.lock(calendar_id)
            if revision is not None and revision != revision_of(calendar):
                raise ChangedMeanwhile(f"Calendar {calendar.name}")
            name, definition = check_calendar({"name": calendar.name, **calendar.definition, **patch}, calendar_id)
            changed = store.change(calendar, name, definition, actor=actor, now=now)
    except Calendar.DoesNotExist:
        raise NotFound("calendar", calendar_id) from None
    except IntegrityError:
        raise _name_taken(name) from None
    return CalendarStored(calendar_id, name, tuple(changed))


def revision_of(calendar: Calendar) -> str:
    """Of what it says: another as soon as it says something else."""
    said = json.dumps([calendar.name, calendar.definition], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def delete_calendar(calendar_id: int, *, actor: str, now: datetime) -> str:
    """Returns its name. Raises Refused while schedules go by it, NotFound."""
    try:
        return store.delete(calendar_id, actor=actor, now=now)
    except Calendar.DoesNotExist:
        raise NotFound("calendar", calendar_id) from None
    except store.CalendarInUseError as used:
        more = f" and {used.more} more" if used.more else ""
        sentence = f"The schedules of {', '.join(used.jobs)}{more} go by this calendar; change these jobs first."
        raise Refused(sentence) from None


def check_calendar(raw: Mapping[str, Any], calendar_id: int | None = None) -> tuple[str, dict[str, Any]]:
    """The name and the definition that would be stored, for `calendar_id` if it is that one. Raises InvalidInput."""
    reader = Reader(raw)
    refuse_unknown(reader, CALENDAR_FIELDS)
    count = len(reader.problems)
    name = reader.text("name", longest=LONGEST_NAME)
    if not name and len(reader.problems) == count:
        reader.refuse("name", "1 to 100 characters", "A calendar needs a name of 1 to 100 characters; give one.")
    elif Calendar.objects.filter(name=name).exclude(pk=calendar_id or 0).exists():
        reader.problems += _name_taken(name).problems
    definition = {field: raw[field] for field in DEFINED if raw.get(field) is not None}
    try:
        read_definition(name, definition)
    except InvalidSchedule as refusal:
        given = shown(raw.get(refusal.field))
        reader.problems.append(Problem(refusal.field, given, EXPECTED.get(refusal.field, ""), refusal.sentence))
    reader.check()
    return name, definition


def read_definition(name: str, definition: Mapping[str, Any]) -> CalendarRead:
    """As `parse_calendar`, but what no column can hold is refused, too. Raises InvalidSchedule."""
    for field, value in definition.items():
        if fault := next(filter(None, map(fault_of, texts_in(value))), ""):
            raise InvalidSchedule(field, f"{shown(field)} contains {fault}; remove it.")
    return parse_calendar(name, definition)


def _name_taken(name: str) -> InvalidInput:
    sentence = f"There is a calendar named {shown(name)} already; choose another name, or change that one."
    return InvalidInput([Problem("name", shown(name), "a name that no other calendar has", sentence)])
