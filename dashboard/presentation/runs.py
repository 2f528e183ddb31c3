"""Runs of a job as bars: how long each took by its height, how it ended by colour, shape and word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from dashboard.presentation import amounts, looks
from dashboard.presentation.looks import Look
from jobs.core.states import TERMINAL, Status
from jobs.models import Instance

BAD = (Status.FAILED, Status.TIMEOUT, Status.UPSTREAM_FAILED)
# From here on it is trouble, and not one run that took a little longer than its interval.
MANY_SKIPPED = 2
MANY_FAILED = 2
# A drawing's units; its size on the page is the style sheet's.
STEP, HEIGHT, LEAST = 10, 30, 3


@dataclass(frozen=True, slots=True)
class RunMark:
    """`seconds` is None for what has not ended or never started."""

    instance_id: int
    look: Look
    seconds: float | None
    ended: bool
    bad: bool
    at: datetime

    @property
    def lasted(self) -> str:
        return "" if self.seconds is None else amounts.duration(self.seconds)

    @property
    def said(self) -> str:
        """Such as "#812 failed after 2.3 s"."""
        after = f" after {self.lasted}" if self.lasted else ""
        return f"#{self.instance_id} {self.look.word}{after}"


@dataclass(frozen=True, slots=True)
class Bar:
    """`x`, `y` and `height` in the drawing's units, y from the top."""

    run: RunMark
    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Strip:
    """The oldest on the left. The highest bar is the longest run among them."""

    bars: tuple[Bar, ...]
    width: int

    @property
    def said(self) -> str:
        """In words, the newest first, for those who do not see it."""
        runs = [f"{bar.run.look.word} {bar.run.lasted}".strip() for bar in reversed(self.bars)]
        whose = f"Last {len(runs)} instances, newest first" if len(runs) > 1 else "Only instance"
        return f"{whose}: {', '.join(runs)}"


def mark_of(
    pk: int, status: str, stop_at: datetime | None, started: datetime | None, ended: datetime | None, made: datetime
) -> RunMark:
    return RunMark(
        instance_id=pk,
        look=looks.of_instance(status, stopping=stop_at is not None),
        seconds=(ended - started).total_seconds() if started and ended else None,
        ended=status in TERMINAL,
        bad=status in BAD,
        at=ended or started or made,
    )


def mark_of_instance(instance: Instance) -> RunMark:
    fields = (instance.cancel_requested_at, instance.started_at, instance.ended_at, instance.created_at)
    return mark_of(instance.pk, instance.status, *fields)


def strip_of(newest_first: Sequence[RunMark], places: int) -> Strip | None:
    """Bars for at most `places` runs, the newest always at the right edge; None without a run."""
    runs = list(reversed(newest_first[:places]))
    if not runs:
        return None
    longest = max((run.seconds or 0.0 for run in runs), default=0.0)
    free = places - len(runs)
    bars = [_bar(run, (free + place) * STEP, longest) for place, run in enumerate(runs)]
    return Strip(tuple(bars), places * STEP)


def failed_in_a_row(newest_first: Sequence[RunMark]) -> int:
    """How many of those that have ended failed, since the last one that did not."""
    count = 0
    for run in newest_first:
        if run.ended and not run.bad:
            break
        count += run.bad
    return count


def _bar(run: RunMark, x: int, longest: float) -> Bar:
    share = (run.seconds or 0.0) / longest if longest > 0 else 0.0
    height = round(LEAST + (HEIGHT - LEAST) * share, 1)
    return Bar(run, x, round(HEIGHT - height, 1), height)
