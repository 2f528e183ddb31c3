"""Reads logical dates: as they are with an offset, else local to the zone of the job's schedule."""

from __future__ import annotations

from datetime import datetime

from jobs.actions.answers import InvalidInput, Problem
from jobs.actions.reading import shown
from jobs.core.invalid import InvalidSchedule
from jobs.core.moments import parse_moment
from jobs.store import read, workflows

EXPECTED = "a date or a moment in ISO 8601"


def read_date(job_id: int, field: str, text: str, *, end_of_day: bool = False) -> datetime:
    """A bare date is its first moment, or its last if `end_of_day`. Raises InvalidInput, for `field`."""
    try:
        return parse_moment(text, workflows.zone_of(read.workflows(), job_id), end_of_day=end_of_day)
    except InvalidSchedule as refusal:
        raise InvalidInput([Problem(field, shown(text), EXPECTED, f"{field}: {refusal.sentence}")]) from None
