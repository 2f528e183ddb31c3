"""Reads the finer choices of a schedule: what clocks, calendars, late fires and unfinished runs do to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from jobs.actions.answers import Problem
from jobs.actions.calendars import LONGEST_NAME, read_definition
from jobs.actions.reading import Reader, shown
from jobs.core.calendared import CalendarAction
from jobs.core.calendarreading import parse_calendar
from jobs.core.calendars import Calendar
from jobs.core.catchup import CatchUp
from jobs.core.daylight import Fold, Gap
from jobs.core.invalid import InvalidSchedule
from jobs.core.policies import Overlap
from jobs.models import Calendar as StoredCalendar
from jobs.store.specs import ScheduleSpec

OPTION_FIELDS = (
    "gap", "fold", "calendar", "calendar_action", "catch_up", "catch_up_limit", "misfire_grace_seconds", "overlap",
    "queue_bound", "jitter_seconds", "first_at_once",
)  # fmt: skip
# What each is unless it is given, by its name in a ScheduleSpec.
DEFAULTS = ScheduleSpec("once", "", "UTC")

MOST_CAUGHT_UP, MOST_QUEUED = 1000, 1000
# Every fire is seen a little late; what is missed after less than this would be all of them.
SHORTEST_GRACE = 1.0
ELAPSED = ("interval", "fixed_delay")
INLINE = "the one that is given"


@dataclass(frozen=True, slots=True)
class Options:
    """`values` are those of a ScheduleSpec; `calendar` is what its calendar_id stands for, or what was spelled out."""

    values: dict[str, Any] = field(default_factory=dict)
    calendar: Calendar | None = None


def read_options(reader: Reader, type_: str, *, inline: bool = False) -> Options:
    """`inline`: a calendar may also be spelled out, for a preview. Notes what is wrong in the reader."""
    calendar_id, calendar = _read_calendar(reader, inline=inline)
    values = {
        "gap": reader.choice("gap", DEFAULTS.gap, get_args(Gap)),
        "fold": reader.choice("fold", DEFAULTS.fold, get_args(Fold)),
        "calendar_id": calendar_id,
        "calendar_action": reader.choice("calendar_action", DEFAULTS.calendar_action, get_args(CalendarAction)),
        "catch_up": reader.choice("catch_up", DEFAULTS.catch_up, [policy.value for policy in CatchUp]),
        "catch_up_limit": reader.whole("catch_up_limit", DEFAULTS.catch_up_limit, lowest=1, highest=MOST_CAUGHT_UP),
        "misfire_grace_seconds": _read_grace(reader),
        "overlap": reader.choice("overlap", DEFAULTS.overlap, [policy.value for policy in Overlap]),
        "queue_bound": reader.whole("queue_bound", DEFAULTS.queue_bound, lowest=1, highest=MOST_QUEUED),
        "jitter_seconds": reader.seconds("jitter_seconds", DEFAULTS.jitter_seconds),
        "first_at_once": reader.flag("first_at_once", DEFAULTS.first_at_once),
    }
    _refuse_what_does_nothing(reader, type_, values)
    return Options(values, calendar)


def refuse_without_schedule(reader: Reader) -> None:
    """What runs only when it is asked has no fires that a choice could be about."""
    given = read_options(Reader(reader.raw), "cron").values
    for name, value in given.items():
        field_ = "calendar" if name == "calendar_id" else name
        if value != getattr(DEFAULTS, name):
            sentence = f"{field_} is about fires of a schedule, and there is none; leave it out, or say when it runs."
            reader.refuse(field_, "a schedule", sentence)


def stored_calendar(calendar_id: int | None) -> Calendar | None:
    """Raises InvalidSchedule for a stored definition that no longer reads."""
    row = StoredCalendar.objects.filter(pk=calendar_id).first() if calendar_id is not None else None
    return None if row is None else parse_calendar(row.name, row.definition)


def _read_grace(reader: Reader) -> float:
    grace = reader.seconds("misfire_grace_seconds", DEFAULTS.misfire_grace_seconds)
    if grace < SHORTEST_GRACE:
        least = f"{SHORTEST_GRACE:g}"
        sentence = f"misfire_grace_seconds is {grace:g}, expected at least {least}: no fire is seen at its very moment."
        reader.refuse("misfire_grace_seconds", f"{least} or more", sentence)
    return grace


def _read_calendar(reader: Reader, *, inline: bool) -> tuple[int | None, Calendar | None]:
    given = reader.raw.get("calendar")
    if inline and isinstance(given, Mapping):
        return None, _spelled_out(reader, given)
    name = reader.text("calendar", longest=LONGEST_NAME)
    if not name:
        return None, None
    row = StoredCalendar.objects.filter(name=name).first()
    if row is None:
        known = list(StoredCalendar.objects.values_list("name", flat=True)[:10])
        hint = f"known are {', '.join(known)}." if known else "there is none yet; make one first."
        reader.refuse("calendar", "the name of a calendar", f"calendar is {shown(name)}, which is no calendar; {hint}")
        return None, None
    try:
        return row.pk, parse_calendar(row.name, row.definition)
    except InvalidSchedule as refusal:
        sentence = f"The calendar {shown(name)} cannot be read; change it first: {refusal.sentence}"
        reader.refuse("calendar", "a calendar that can be read", sentence)
        return None, None


def _spelled_out(reader: Reader, given: Mapping[str, Any]) -> Calendar | None:
    inner = Reader(given)
    name = inner.text("name", INLINE, longest=LONGEST_NAME)
    reader.problems += [replace(problem, field="calendar") for problem in inner.problems]
    definition = {key: value for key, value in given.items() if key != "name" and value is not None}
    try:
        return read_definition(name, definition)
    except InvalidSchedule as refusal:
        reader.problems.append(Problem("calendar", shown(given), "a calendar", f"calendar: {refusal.sentence}"))
        return None


def _refuse_what_does_nothing(reader: Reader, type_: str, values: Mapping[str, Any]) -> None:
    for name in ("gap", "fold"):
        if type_ in ELAPSED and values[name] != "default":
            sentence = f"{name} is about changes of clocks, and type {type_} counts elapsed time; leave it out."
            reader.refuse(name, "default", sentence)
    if values["first_at_once"] and type_ and type_ not in ELAPSED:
        sentence = f"first_at_once is for interval and fixed_delay; a schedule of type {type_} says itself when."
        reader.refuse("first_at_once", "false", sentence)
