"""The triggers of series, as counted from the moment at which they are made."""

from __future__ import annotations

from datetime import datetime, timedelta

from jobs.core.expressions import parse_trigger
from jobs.core.fixeddelay import FixedDelay
from jobs.core.intervals import check_interval
from jobs.core.triggers import AtOnce, FixedRate, Trigger
from jobs.embedded.checks import check_text, is_seconds
from jobs.embedded.errors import InvalidJob

INSTANT = datetime.resolution  # what an interval must be at least


def rate(now: datetime, every_seconds: float, start_in: float | None) -> Trigger:
    """First after `start_in` seconds (0: now), else after one period. Raises InvalidJob, InvalidSchedule."""
    every = _interval(every_seconds)
    fixed = FixedRate(_first(now, every, start_in), every)
    return AtOnce(fixed, now) if fixed.anchor <= now else fixed


def delay(now: datetime, seconds: float, start_in: float | None) -> Trigger:
    """First after `start_in` seconds (0: now), else after one delay. Raises InvalidJob, InvalidSchedule."""
    every = _interval(seconds)
    return FixedDelay(every, _first(now, every, start_in))


def wall_clock(now: datetime, expression: str, zone: str, hash_id: str) -> Trigger:
    """A cron expression in a zone. Raises InvalidJob, InvalidSchedule."""
    check_text("expression", expression)
    check_text("zone", zone)
    return parse_trigger("cron", expression, zone=zone, anchor=now, start=None, end=None, hash_id=hash_id)


def _interval(seconds: float) -> timedelta:
    if not is_seconds(seconds):
        raise InvalidJob(f"an interval of {seconds!r} s was given; seconds above 0, at most a century, are expected")
    return check_interval(timedelta(seconds=seconds), INSTANT)


def _first(now: datetime, every: timedelta, start_in: float | None) -> datetime:
    if start_in is None:
        return now + every
    if not is_seconds(start_in) or start_in < 0:
        raise InvalidJob(f"start_in {start_in!r} was given; 0 (at once) or seconds, at most a century, are expected")
    return now + timedelta(seconds=start_in)
