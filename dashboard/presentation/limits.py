"""What is in use of each limit: the part of its page that moves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.presentation.rows import Regions
from jobs.limituse import LimitUse, uses
from jobs.models import Limit


@dataclass(frozen=True, slots=True)
class UseRow:
    """`used` of `most` run, or of a rate `used` tokens of `most` are there."""

    is_rate: bool
    used: int
    most: int
    waiting: int


def read_limits(now: datetime) -> Regions:
    """A region for each limit, with one row."""
    return {f"limit:{use.limit.pk}": [("use", _row(use))] for use in uses(Limit.objects.all(), now)}


def _row(use: LimitUse) -> UseRow:
    is_rate = use.limit.kind == Limit.Kind.RATE
    used, most = (use.tokens, use.limit.burst) if is_rate else (use.in_use, use.limit.maximum)
    return UseRow(is_rate, round(used or 0), most or 0, use.waiting)
