"""The last line that an attempt printed: mostly it says more than how it ended."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

from dashboard.live.places import path_of
from dashboard.presentation.logtext import plain
from jobs.execution import log
from jobs.execution.rundir import BrokenFileError
from jobs.models import Attempt

LOOKED_AT_CHARS = 1000
LONGEST = 240


def last_lines(ended: Collection[int]) -> dict[int, str]:
    """Of these instances that have ended, by id: what their latest attempt printed last, "" for nothing. One query."""
    attempts = Attempt.objects.filter(instance_id__in=ended).order_by("number")
    tokens = {pk: (number, token) for pk, number, token in attempts.values_list("instance_id", "number", "token")}
    return {pk: _last_line(path_of(pk, *place)) for pk, place in tokens.items()}


@lru_cache(maxsize=512)  # the log of an attempt that has ended stays as it is
def _last_line(path: Path) -> str:
    try:
        text = plain(log.tail_text(path, LOOKED_AT_CHARS))
    except (BrokenFileError, OSError):  # what cannot be read is said on the instance's own page
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:LONGEST] if lines else ""
