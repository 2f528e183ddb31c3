"""When a schedule would fire, before it is saved."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from jobs.actions.answers import Problem
from jobs.actions.reading import Reader, shown
from jobs.actions.timing import TIMING_FIELDS, parsed, read_timing
from jobs.core.expressions import parse_moment
from jobs.core.invalid import InvalidSchedule
from jobs.core.triggers import fires
from jobs.store.specs import ScheduleSpec

MOST_FIRES = 500
HASHED = " (H stands for a value of each job's own: once it is saved it may be another than here)"
EXPECTED_AFTER = "a date or a moment in ISO 8601"


@dataclass(frozen=True, slots=True)
class Preview:
    """`fires` are in the schedule's zone, so that their offsets show where clocks change."""

    fires: tuple[datetime, ...]
    description: str


def preview(raw: Mapping[str, Any], *, now: datetime) -> Preview:
    """The next fires as if the schedule were saved at `after` (now, unless given). Raises InvalidInput.

    Fields: those of a schedule, `after` and `count`. `H` in a cron expression is hashed from the schedule, so its
    value may be another one once there is a schedule.
    """
    reader = Reader(raw)
    for field in raw:
        if field not in (*TIMING_FIELDS, "after", "count"):
            known = ", ".join((*TIMING_FIELDS, "after", "count"))
            reader.refuse(field, "a known field", f"There is no field {shown(field)}; known are {known}.")
    count = reader.whole("count", 10, lowest=1, highest=MOST_FIRES)
    spec = read_timing(reader, anchor=now)
    zone = ZoneInfo(spec.zone) if spec else ZoneInfo("UTC")
    after = _read_after(reader, zone, now)
    reader.check()
    if spec is None:
        return Preview((after.astimezone(UTC),), "once, as soon as it is submitted")
    trigger = parsed(spec, anchor=after)
    words = trigger.describe() + (HASHED if is_hashed(spec) else "")
    return Preview(tuple(fire.astimezone(zone) for fire in fires(trigger, after, count)), words)


def is_hashed(spec: ScheduleSpec) -> bool:
    return spec.type == "cron" and re.search(r"\bH\b", spec.expression) is not None


def _read_after(reader: Reader, zone: ZoneInfo, now: datetime) -> datetime:
    text = reader.text("after", longest=64)
    try:
        return parse_moment(text, zone.key, end_of_day=False) if text else now
    except InvalidSchedule as refusal:
        reader.problems.append(Problem("after", shown(text), EXPECTED_AFTER, refusal.sentence))
        return now
