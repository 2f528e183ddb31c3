"""Reads what a change is that somebody asks about, before it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.actions.options import OPTION_FIELDS
from jobs.actions.reading import Reader, shown
from jobs.actions.timing import TIMING_FIELDS, Timing, read_timing
from jobs.core.catchup import CatchUp
from jobs.core.policies import FirePolicy, Overlap
from jobs.core.present import GUESS_SECONDS
from jobs.core.whatif import Change
from jobs.store.specs import ScheduleSpec

FIELDS = ("job", "at", *TIMING_FIELDS, "cores", "memory_mb", "duration_seconds", "days", "guess_seconds")
MOST_CORES, MOST_MEMORY_MB, MOST_DAYS = 4096, 2**31 - 1, 31


@dataclass(frozen=True, slots=True)
class Asked:
    change: Change
    days: float
    guess_seconds: float


def read_what_if(raw: Mapping[str, Any], *, now: datetime) -> Asked:
    """`job` is the name of one that there is, or of a new one; `at` ("02:00") is short for daily at that time.

    Raises InvalidInput.
    """
    reader = Reader(raw)
    for field in raw:
        if field not in FIELDS:
            reader.refuse(field, "a known field", f"There is no field {shown(field)}; known are {', '.join(FIELDS)}.")
    name = reader.text("job", longest=200)
    if not name:
        reader.refuse("job", "a name", "job is missing; say the name of a job, or of one that there is not yet.")
    cores = reader.whole("cores", -1, lowest=0, highest=MOST_CORES)
    memory_mb = reader.whole("memory_mb", -1, lowest=0, highest=MOST_MEMORY_MB)
    duration = reader.seconds("duration_seconds", None, zero=False)
    days = reader.whole("days", 7, lowest=1, highest=MOST_DAYS)
    guess = reader.seconds("guess_seconds", GUESS_SECONDS, zero=False)
    timing = _timing(reader, raw, now)
    reader.check()
    change = Change(
        name,
        timing.trigger(anchor=now, at_once=now) if timing else None,
        timing.spec.zone if timing else "UTC",
        _policy(timing.spec) if timing and any(reader.has(field) for field in OPTION_FIELDS) else None,
        None if cores < 0 else cores,
        None if memory_mb < 0 else memory_mb,
        duration,
    )
    return Asked(change, float(days), guess)


def _timing(reader: Reader, raw: Mapping[str, Any], now: datetime) -> Timing | None:
    """None where nothing is said of when it runs."""
    given = {name: value for name, value in raw.items() if name in TIMING_FIELDS}
    says = any(value is not None for name, value in given.items() if name != "timezone")
    if reader.has("at"):
        if reader.has("schedule_type") or reader.has("schedule_expression"):
            reader.refuse("at", "no other timing", "at is short for a daily schedule; leave out type and expression.")
            return None
        given |= {"schedule_type": "daily", "schedule_expression": raw["at"]}
    elif not says:
        return None
    inner = Reader(given)
    timing = read_timing(inner, anchor=now)
    reader.problems.extend(inner.problems)
    if timing is None and not inner.problems:
        reader.refuse("start_date", "a moment", "A schedule of type once needs the moment at which it runs.")
    return timing


def _policy(spec: ScheduleSpec) -> FirePolicy:
    return FirePolicy(
        CatchUp(spec.catch_up),
        spec.catch_up_limit,
        spec.misfire_grace_seconds,
        Overlap(spec.overlap),
        spec.queue_bound,
        spec.jitter_seconds,
    )
