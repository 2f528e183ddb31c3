"""What is to come, simulated for somebody who waits for the answer; and what would come of a change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from threading import RLock
from typing import Any

from jobs import forecast
from jobs.actions.answers import InvalidInput, Problem, Refused
from jobs.actions.options import OPTION_FIELDS
from jobs.actions.reading import Reader, shown
from jobs.actions.timing import TIMING_FIELDS, Timing, read_timing
from jobs.actions.unknown import refuse_unknown
from jobs.budget import Budget
from jobs.core.present import GUESS_SECONDS, Present
from jobs.core.whatif import Change
from jobs.store import present
from jobs.store.schedules import policy_of

FIELDS = ("job", "at", *TIMING_FIELDS, "cores", "memory_mb", "duration_seconds", "days", "guess_seconds")
MOST_CORES, MOST_MEMORY_MB, MOST_DAYS = 4096, 2**31 - 1, 31

# One at a time in a process, which has an engine and pages to serve beside; whoever waits longer is told to come again.
_ONE_AT_A_TIME = RLock()
PATIENCE_SECONDS = 2 * forecast.SECONDS_WHILE_SOMEBODY_WAITS


@dataclass(frozen=True, slots=True)
class Asked:
    change: Change
    days: float
    guess_seconds: float


def foretell(*, days: float, guess_seconds: float = GUESS_SECONDS, now: datetime) -> dict[str, Any]:
    """The next days, computed for a few seconds at most: see `jobs.forecast`. Raises Refused."""
    with alone():
        budget = Budget(forecast.SECONDS_WHILE_SOMEBODY_WAITS)
        found = _load(now, days)
        return forecast.forecast(found, days=days, guess_seconds=guess_seconds, budget=budget)


def foretell_change(raw: Mapping[str, Any], *, now: datetime) -> dict[str, Any]:
    """What `read_what_if` reads, compared with things as they are. Raises InvalidInput, Refused."""
    asked = read_what_if(raw, now=now)
    with alone():
        budget = Budget(forecast.SECONDS_WHILE_SOMEBODY_WAITS)
        found = _load(now, asked.days, asked.change.name)
        if asked.change.trigger is None and found.job_named(asked.change.name) is None:
            sentence = f"There is no job {asked.change.name!r} yet; say when it would run, such as at 02:00."
            raise InvalidInput([Problem("at", shown(raw.get("at")), "a time of day, or a schedule", sentence)])
        return forecast.compared(found, asked.change, days=asked.days, guess_seconds=asked.guess_seconds, budget=budget)


@contextmanager
def alone() -> Iterator[None]:
    """Nobody else computes one until the block ends; within it, the same thread may. Raises Refused."""
    if not _ONE_AT_A_TIME.acquire(timeout=PATIENCE_SECONDS):
        raise Refused("Other forecasts are being computed; ask again in some seconds.")
    try:
        yield
    finally:
        _ONE_AT_A_TIME.release()


def _load(now: datetime, days: float, job_name: str = "") -> Present:
    try:
        return present.load(now, days=days, job_name=job_name)
    except present.NoNodeYet as error:
        raise Refused(f"{str(error).partition(';')[0]}; start one with manage.py runscheduler.") from error


def read_what_if(raw: Mapping[str, Any], *, now: datetime) -> Asked:
    """`job` is the name of one that there is, or of a new one; `at` ("02:00") is short for daily at that time.

    Raises InvalidInput.
    """
    reader = Reader(raw)
    refuse_unknown(reader, FIELDS)
    name = reader.text("job", longest=200)
    if not name:
        reader.refuse("job", "a name", "job is missing; say the name of a job, or of one that there is not yet.")
    cores = reader.whole("cores", -1, lowest=0, highest=MOST_CORES)
    memory_mb = reader.whole("memory_mb", -1, lowest=0, highest=MOST_MEMORY_MB)
    duration = reader.seconds("duration_seconds", None, zero=False)
    days = _days(reader)
    guess = reader.seconds("guess_seconds", GUESS_SECONDS, zero=False)
    timing = _timing(reader, raw, now)
    reader.check()
    change = Change(
        name,
        timing.trigger(anchor=now, at_once=now) if timing else None,
        timing.spec.zone if timing else "UTC",
        policy_of(timing.spec) if timing and any(reader.has(field) for field in OPTION_FIELDS) else None,
        None if cores < 0 else cores,
        None if memory_mb < 0 else memory_mb,
        duration,
    )
    return Asked(change, days, guess)


def _days(reader: Reader) -> float:
    days = reader.raw.get("days")
    if days is None:
        return 7.0
    if isinstance(days, bool) or not isinstance(days, int | float) or not 0 < days <= MOST_DAYS:
        reader.expected("days", f"a number above 0, up to {MOST_DAYS}")
        return 7.0
    return float(days)


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
