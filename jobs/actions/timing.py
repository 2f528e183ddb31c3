"""Reads when a job runs: type, expression, dates and zone."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings

from jobs.actions.answers import Problem
from jobs.actions.reading import Reader, shown
from jobs.core.expressions import SCHEDULE_TYPES, parse_moment, parse_trigger
from jobs.core.invalid import InvalidSchedule
from jobs.core.triggers import Trigger
from jobs.core.zones import zone_named
from jobs.store.specs import JobSpec, ScheduleSpec

TIMING_FIELDS = ("schedule_type", "schedule_expression", "start_date", "end_date", "timezone")

# A form's minute always lies a little back: that still runs. What lies further back is a slip.
MISFIRE_GRACE = timedelta(seconds=60)

# `H` is hashed from the row's id, which only a stored schedule has. Whether the line is one does not depend on it.
HASHED_BEFORE_STORED = "0"

TO_COME = "a moment to come"
EXPECTED = {
    "schedule_type": f"one of {', '.join(SCHEDULE_TYPES)}",
    "timezone": "the name of an IANA time zone, such as Europe/Berlin",
    "start_date": "a date or a moment in ISO 8601",
    "end_date": "a date or a moment in ISO 8601, not before the start",
}
EXPECTED_EXPRESSION = {
    "interval": "such as 30s, 5m, 2h, 1d, 1h30m",
    "cron": "five cron fields, or six with seconds first",
    "daily": "HH:MM or HH:MM:SS",
    "weekly": "such as mon,wed,fri HH:MM",
    "once": "no expression",
}


def read_schedule(reader: Reader, *, now: datetime, before: JobSpec | None = None) -> ScheduleSpec | None:
    """None for a `once` without a date. `before`: the definition that is edited. Notes what is wrong in the reader."""
    spec = read_timing(reader, anchor=now)
    if spec is None or (before is not None and spec == before.schedule):
        return spec
    if spec.type == "once" and spec.start_at is not None:
        _refuse_past(reader, spec.start_at.astimezone(zone_named(spec.zone)), now, is_edit=before is not None)
    elif parsed(spec, anchor=now).next_after(now) is None:
        reader.refuse("end_date", "an end that leaves a fire", "The schedule would never fire: it ends before it does.")
    return spec


def read_timing(reader: Reader, *, anchor: datetime) -> ScheduleSpec | None:
    """What the fields say, whether or not it makes sense now. None for `once` without a date, and if refused."""
    count = len(reader.problems)
    type_ = _read_type(reader)
    is_known = len(reader.problems) == count
    zone = _read_zone(reader)
    start_at = _read_moment(reader, "start_date", zone)
    end_at = _read_moment(reader, "end_date", zone)
    expression = reader.text("schedule_expression", longest=500)
    if type_ == "once" and reader.has("end_date"):
        reader.refuse("end_date", "no end", "A schedule of type once has no end_date; say in start_date when it runs.")
    spec = ScheduleSpec(type_, expression, zone, start_at, end_at)
    if is_known:
        _check(reader, spec, anchor)
    if len(reader.problems) > count:
        return None
    return None if type_ == "once" and start_at is None else spec


def parsed(spec: ScheduleSpec, *, anchor: datetime) -> Trigger:
    """Raises InvalidSchedule. `anchor`: what an interval without a start is counted from."""
    return parse_trigger(
        spec.type,
        spec.expression,
        zone=spec.zone,
        anchor=anchor,
        start=spec.start_at,
        end=spec.end_at,
        hash_id=HASHED_BEFORE_STORED,
    )


def _check(reader: Reader, spec: ScheduleSpec, anchor: datetime) -> None:
    """Also beside a zone or a date that was refused: who mends one must not be told of the other only then."""
    refused = {problem.field for problem in reader.problems}
    try:
        parsed(spec, anchor=anchor)
    except InvalidSchedule as refusal:
        if refusal.field not in refused:
            _note(reader, refusal, spec.type)


def _read_type(reader: Reader) -> str:
    if reader.raw.get("schedule_type") == "fixed_delay":
        sentence = "The type fixed_delay cannot be scheduled; take interval, which counts from start to start."
        reader.refuse("schedule_type", EXPECTED["schedule_type"], sentence)
        return "once"
    return reader.choice("schedule_type", "once", SCHEDULE_TYPES)


def _read_zone(reader: Reader) -> str:
    """The zone; the default one where what is given is refused, so that the dates can be read all the same."""
    count = len(reader.problems)
    name = reader.text("timezone", settings.DEFAULT_TIME_ZONE, longest=64)
    try:
        zone_named(name)
    except InvalidSchedule as refusal:
        if len(reader.problems) == count:
            _note(reader, refusal)
        return str(settings.DEFAULT_TIME_ZONE)
    return name


def _read_moment(reader: Reader, field: str, zone: str) -> datetime | None:
    text = reader.text(field, longest=64)
    if not text:
        return None
    try:
        return parse_moment(text, zone, end_of_day=field == "end_date")
    except InvalidSchedule as refusal:
        _note(reader, refusal)
        return None


def _refuse_past(reader: Reader, start_at: datetime, now: datetime, *, is_edit: bool) -> None:
    """`start_at` is in the schedule's zone, in which whoever gave it reads a clock."""
    if is_edit and start_at <= now:
        sentence = f"start_date ({start_at.isoformat()}) has passed, and an edit starts nothing; run the job by hand."
        reader.refuse("start_date", TO_COME, sentence)
    elif start_at < now - MISFIRE_GRACE:
        sentence = f"start_date ({start_at.isoformat()}) lies in the past; leave it out to run the job at once."
        reader.refuse("start_date", TO_COME, sentence)


def _note(reader: Reader, refusal: InvalidSchedule, type_: str = "") -> None:
    expected = EXPECTED.get(refusal.field) or EXPECTED_EXPRESSION.get(type_, "")
    given = shown(reader.raw.get(refusal.field))
    reader.problems.append(Problem(refusal.field, given, expected, refusal.sentence))
