"""The forecast in words and points: what the page of it shows of what `jobs.actions.forecasts` answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.core.cache import cache

from jobs.actions.forecasts import alone, foretell

# By the word in the address: what it is called, and its days.
WINDOWS = {"hours": ("Next 6 hours", 0.25), "day": ("Next day", 1.0), "week": ("Next week", 7.0)}
# A forecast costs up to some seconds of a core, and the next minute changes little in it.
KEPT_SECONDS = 60
MOST_JOBS = 10
HOUR = timedelta(hours=1)

WHY = {
    "turn": "its turn",
    "cores": "free cores",
    "memory": "free memory",
    "behind": "a bigger one ahead of it, for which cores are kept",
    "limit": "others to end: a limit allows no more at once",
    "rate": "its turn at a rate",
    "overlap": "the instance before it to end",
    "node_too_small": "a node that is large enough",
}
SKIPPED = {
    "overlap": "while the one before has not ended",
    "queue_bound": "while as many wait as may",
    "blackout": "in closed times of its calendar",
    "start_deadline": "later than it may start",
    "cannot_run": "since it can never run",
    "missed": "while nothing was running",
    "not_needed": "since no upstream fails",
    "replaced": "in favour of the next",
    "upstream_failed": "since an upstream failed",
}


@dataclass(frozen=True, slots=True)
class Hour:
    """`mean`, `most`: slots in use; `demanded`: what would be, if nothing had to wait."""

    begins: datetime
    ends: datetime
    fires: int
    mean: float
    most: int
    demanded: float


def kept(window: str) -> dict[str, Any] | None:
    """The forecast of this window, if it was made less than KEPT_SECONDS ago."""
    found: dict[str, Any] | None = cache.get(_key(window))
    return found


def made(window: str, now: datetime) -> dict[str, Any]:
    """The forecast as the template takes it: kept, or computed now. Raises Refused."""
    if found := kept(window):
        return found
    with alone():
        found = kept(window)  # who waited for another browser's takes that
        if found is None:
            found = _context(foretell(days=WINDOWS[window][1], now=now), now)
            cache.set(_key(window), found, KEPT_SECONDS)
    return found


def _key(window: str) -> str:
    return f"forecast-{window}"


def _context(said: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    hours = _hours(said)
    return {
        "computed_at": now,
        "kept_seconds": KEPT_SECONDS,
        "reached": datetime.fromisoformat(said["reached"]),
        "said": said,
        "quiet": not (said["totals"]["fires"] or said["totals"]["starts"] or said["totals"]["waiting_at_the_end"]),
        "hours": hours,
        "points": _points(said, hours),
        "waits": _waits(said),
        "skipped": [_skipped(job) for job in said["jobs"] if job["skips"]][:MOST_JOBS],
    }


def _hours(said: Mapping[str, Any]) -> list[Hour]:
    """The parts of the forecast by hours, counted from its beginning; the last may be cut short."""
    begins, reached = (datetime.fromisoformat(said[name]) for name in ("from", "reached"))
    parts = [part | {"at": datetime.fromisoformat(part["at"])} for part in said["core_use"]["parts"]]
    found = []
    for number, group in groupby(parts, lambda part: (part["at"] - begins) // HOUR):
        own = list(group)
        found.append(
            Hour(
                begins + number * HOUR,
                min(begins + (number + 1) * HOUR, reached),
                sum(part["fires"] for part in own),
                _mean(own, "mean"),
                max(part["max"] for part in own),
                _mean(own, "demanded"),
            )
        )
    return found


def _mean(parts: Sequence[Mapping[str, float]], what: str) -> float:
    return sum(part[what] for part in parts) / len(parts)


def _points(said: Mapping[str, Any], hours: Sequence[Hour]) -> dict[str, Any]:
    """What the charts draw, in seconds since 1970."""
    use = said["core_use"]
    return {
        "slots": use["slots"],
        "fires": {"at": [hour.begins.timestamp() for hour in hours], "count": [hour.fires for hour in hours]},
        "cores": {
            "at": [datetime.fromisoformat(part["at"]).timestamp() for part in use["parts"]],
            "mean": [part["mean"] for part in use["parts"]],
            "most": [part["max"] for part in use["parts"]],
            "demanded": [part["demanded"] for part in use["parts"]],
        },
        "until": datetime.fromisoformat(said["reached"]).timestamp(),
    }


def _waits(said: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The jobs that wait longest, each with its longest wait: from when to when, and what most of its waits are for."""
    longest: dict[str, Mapping[str, Any]] = {}
    for run in said["longest_waits"]:
        longest.setdefault(run["job"], run)
    sums = {job["job"]: job for job in said["jobs"]}
    return [_wait(run, sums[name]) for name, run in longest.items() if name in sums][:MOST_JOBS]


def _wait(run: Mapping[str, Any], sums: Mapping[str, Any]) -> dict[str, Any]:
    moments = {name: datetime.fromisoformat(run[name]) for name in ("queued_at", "started_at")}
    mostly = max(sums["waits_by"], key=sums["waits_by"].get)
    return {**run, **moments, "sums": sums, "why": WHY.get(mostly, mostly)}


def _skipped(job: Mapping[str, Any]) -> dict[str, Any]:
    why = [f"{count:,} {SKIPPED.get(code, code)}" for code, count in job["skips"].items()]
    return {"job": job["job"], "count": sum(job["skips"].values()), "fires": job["fires"], "why": ", ".join(why)}
