"""Reads when a job runs: type, expression, dates and zone, with the finer choices of `options`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from jobs.actions.answers import Problem
from jobs.actions.options import ELAPSED, OPTION_FIELDS, read_options, refuse_without_schedule
from jobs.actions.reading import Reader, shown
from jobs.core.calendars import Calendar
from jobs.core.expressions import SCHEDULE_TYPES, parse_moment, parse_trigger
from jobs.core.invalid import InvalidSchedule
from jobs.core.jitter import check_jitter
from jobs.core.triggers import Trigger, first_after
from jobs.core.zones import zone_named
from jobs.store.specs import JobSpec, ScheduleSpec

TIMING_FIELDS = ("schedule_type", "schedule_expression", "start_date", "end_date", "timezone", *OPTION_FIELDS)

# `H` is hashed from the row's id, which only a stored schedule has. Whether the line is one does not depend on it.
HASHED_BEFORE_STORED = "0"

MOST_SECONDS = 10**15  # more digits than any interval has

TO_COME = "a moment to come"
EXPECTED = {
    "schedule_type": f"one of {', '.join(SCHEDULE_TYPES)}",
    "timezone": "the name of an IANA time zone, such as Europe/Berlin",
    "start_date": "a date or a moment in ISO 8601",
    "end_date": "a date or a moment in ISO 8601, not before the start",
}
EXPECTED_EXPRESSION = {
    "interval": "such as 30s, 5m, 2h, 1d, 1h30m",
    "fixed_delay": "such as 30s, 5m, 2h, 1d, 1h30m",
    "cron": "five cron fields, or six with seconds first",
    "daily": "HH:MM or HH:MM:SS",
    "weekly": "such as mon,wed,fri HH:MM",
    "once": "no expression",
}


@dataclass(frozen=True, slots=True)
class Timing:
    """A schedule that reads, with the calendar that it goes by."""

    spec: ScheduleSpec
    calendar: Calendar | None = None

    def trigger(
        self, *, anchor: datetime, hash_id: str = HASHED_BEFORE_STORED, at_once: datetime | None = None
    ) -> Trigger:
        """Raises InvalidSchedule. `anchor`: what an interval without a start is counted from."""
        spec = self.spec
        return parse_trigger(
            spec.type, spec.expression, zone=spec.zone, anchor=anchor, start=spec.start_at, end=spec.end_at,
            hash_id=hash_id, gap=spec.gap, fold=spec.fold, at_once=at_once if spec.first_at_once else None,
            calendar=self.calendar, calendar_action=spec.calendar_action,
        )  # fmt: skip

    @property
    def once_at(self) -> datetime | None:
        """When what happens once does."""
        return self.spec.start_at if self.spec.type == "once" else None

    def since(self, moment: datetime) -> datetime:
        """From when it is watched if it is made at that moment: with a first at once, from just before it."""
        return moment - datetime.resolution if self.spec.first_at_once else moment


def read_schedule(
    reader: Reader, *, now: datetime, before: JobSpec | None = None, lenient: bool = True
) -> ScheduleSpec | None:
    """None for a `once` without a date. `before`: the definition that is edited. Notes what is wrong in the reader.

    `lenient`: a `once` may lie up to its misfire grace back, as a form's minute always does a little.
    """
    timing = read_timing(reader, anchor=now)
    if timing is None:
        return None
    spec = timing.spec
    if before is not None and spec == before.schedule:
        return spec
    if timing.once_at is not None:
        check_once(reader, timing, timing.once_at, now, is_edit=before is not None, lenient=lenient)
    else:
        check_fires(reader, timing, timing.trigger(anchor=now, at_once=now), now)
    return spec


def check_fires(reader: Reader, timing: Timing, trigger: Trigger, now: datetime) -> None:
    """Refuse what never fires if it is watched from now on."""
    if first_after(trigger, timing.since(now)) is None:
        _refuse_no_fire(reader, timing)


def read_timing(
    reader: Reader, *, anchor: datetime, inline: bool = False, hash_id: str = HASHED_BEFORE_STORED
) -> Timing | None:
    """What the fields say, whether or not it makes sense now. None for `once` without a date, and if refused.

    `inline`: a calendar may also be spelled out.
    """
    count = len(reader.problems)
    type_ = reader.choice("schedule_type", "once", SCHEDULE_TYPES)
    is_known = len(reader.problems) == count
    zone = _read_zone(reader)
    options = read_options(reader, type_ if is_known else "", inline=inline)
    start_at = _read_moment(reader, "start_date", zone, options.values if type_ == "once" else {})
    end_at = _read_moment(reader, "end_date", zone, {})
    expression = _read_expression(reader, type_)
    if type_ == "once" and reader.has("end_date"):
        reader.refuse("end_date", "no end", "A schedule of type once has no end_date; say in start_date when it runs.")
    if is_known and type_ == "once" and not reader.has("start_date"):
        refuse_without_schedule(reader)
    name = options.calendar.name if options.calendar else ""
    spec = ScheduleSpec(type_, expression, zone, start_at, end_at, calendar_name=name, **options.values)
    timing = Timing(spec, options.calendar)
    if is_known:
        _check(reader, timing, anchor, hash_id)
    if len(reader.problems) > count:
        return None
    return None if type_ == "once" and start_at is None else timing


def _check(reader: Reader, timing: Timing, anchor: datetime, hash_id: str) -> None:
    """Also beside a zone or a date that was refused: who mends one must not be told of the other only then."""
    refused = {problem.field for problem in reader.problems}
    try:
        check_jitter(timing.spec.jitter_seconds, timing.trigger(anchor=anchor, hash_id=hash_id, at_once=anchor))
    except InvalidSchedule as refusal:
        if refusal.field not in refused:
            _note(reader, refusal, timing.spec.type)


def _read_expression(reader: Reader, type_: str) -> str:
    """Seconds may also be a number."""
    given = reader.raw.get("schedule_expression")
    if (
        type_ in ELAPSED
        and isinstance(given, int | float)
        and not isinstance(given, bool)
        and abs(given) < MOST_SECONDS
    ):
        return f"{given:.10g}" if isinstance(given, float) else str(given)
    return reader.text("schedule_expression", longest=500, tabs=True)


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


def _read_moment(reader: Reader, field: str, zone: str, clocks: Mapping[str, Any]) -> datetime | None:
    """`clocks`: the gap and fold that say what a time means which clocks skip or show twice."""
    text = reader.text(field, longest=64)
    if not text:
        return None
    wish = {name: clocks[name] for name in ("gap", "fold") if name in clocks}
    try:
        return parse_moment(text, zone, end_of_day=field == "end_date", **wish)
    except InvalidSchedule as refusal:
        _note(reader, refusal)
        return None


def check_once(
    reader: Reader, timing: Timing, start_at: datetime, now: datetime, *, lenient: bool, is_edit: bool = False
) -> None:
    """Refuse a moment that has passed, or in which its calendar is closed.

    The moment is said in the schedule's zone, in which whoever gave it reads a clock.
    """
    grace = timedelta(seconds=timing.spec.misfire_grace_seconds) if lenient else timedelta(0)
    said = start_at.astimezone(zone_named(timing.spec.zone)).isoformat()
    if is_edit and start_at <= now:
        sentence = f"start_date ({said}) has passed, and an edit starts nothing; run the job by hand."
        reader.refuse("start_date", TO_COME, sentence)
    elif start_at < now - grace:
        sentence = f"start_date ({said}) lies in the past; leave it out to run the job at once."
        reader.refuse("start_date", TO_COME, sentence)
    elif first_after(timing.trigger(anchor=now), start_at - datetime.resolution) is None:
        _refuse_no_fire(reader, timing)


def _refuse_no_fire(reader: Reader, timing: Timing) -> None:
    if timing.calendar is None:
        reader.refuse("end_date", "an end that leaves a fire", "The schedule would never fire: it ends before it does.")
        return
    name = shown(timing.calendar.name)
    sentence = f"The schedule would never fire: calendar {name} is closed whenever it is due, or it ends before."
    reader.refuse("calendar", "a calendar that leaves a fire", sentence)


def _note(reader: Reader, refusal: InvalidSchedule, type_: str = "") -> None:
    expected = EXPECTED.get(refusal.field) or EXPECTED_EXPRESSION.get(type_, "")
    given = shown(reader.raw.get(refusal.field))
    reader.problems.append(Problem(refusal.field, given, expected, refusal.sentence))
