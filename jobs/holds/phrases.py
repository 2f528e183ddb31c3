"""The words that the sentences are made of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from jobs.core.prediction import Prediction
from jobs.core.records import Demand

UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def needs(demand: Demand) -> str:
    return cores(demand.cores) + (f" and {demand.memory_mb} MB of memory" if demand.memory_mb else "")


def cores(count: int) -> str:
    return "1 core" if count == 1 else f"{count} cores"


def are(count: int) -> str:
    """Such as "none is", "1 is", "2 are"."""
    return f"{count or 'none'} {'are' if count > 1 else 'is'}"


def run(count: int) -> str:
    """Such as "none runs", "1 runs", "2 run"."""
    return f"{count or 'none'} {'run' if count > 1 else 'runs'}"


def often(per_second: float) -> str:
    """Such as "3 a second", "1 every 2 s", "1 every 1.5 h"."""
    if per_second >= 1:
        return f"{per_second:g} a second"
    seconds = 1 / per_second
    size, unit = next(((size, unit) for size, unit in UNITS if seconds >= size), (1, "s"))
    return f"1 every {seconds / size:g} {unit}"


def expected(prediction: Prediction, now: datetime) -> str:
    return "" if prediction.at is None else f"; it should start at about {clock(prediction.at, now)}"


def unreturned(threads: Sequence[int]) -> str:
    """What the threads of these instances do, which have ended; nothing of none."""
    if not threads:
        return ""
    first, others = threads[0], len(threads) - 1
    more = f", and {others} {'others' if others > 1 else 'other'}" if others else ""
    return f"; the thread of instance {first}, which has ended{more}, holds what it was given until it returns"


def clock(moment: datetime, now: datetime) -> str:
    """To the second, in UTC and said so; with the date if that is not today's."""
    rounded = (moment + timedelta(milliseconds=500)).astimezone(UTC)
    return rounded.strftime("%H:%M:%S UTC" if rounded.date() == now.astimezone(UTC).date() else "%Y-%m-%d %H:%M:%S UTC")


def shown_name(name: str) -> str:
    """A tag or a limit in a sentence; a name with a blank in quotes, so that one sees where it ends."""
    return f'"{name}"' if " " in name or not name else name
