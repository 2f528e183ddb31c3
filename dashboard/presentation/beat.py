"""How old the engine's last sign of life is, and how late its fires come."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from dashboard.presentation import amounts
from dashboard.presentation.rows import Regions
from jobs.models import Attempt, Instance, Node
from jobs.nodes import state_of

LOOKED_BACK = timedelta(hours=1)
MOST_READ = 200
LATE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Beat:
    """Of the live node that was seen longest ago. `late_seconds`: how late fires come, as a median."""

    seen_at: datetime
    late_seconds: float | None

    @property
    def late(self) -> str:
        return "" if self.late_seconds is None else amounts.duration(self.late_seconds)

    @property
    def is_late(self) -> bool:
        return self.late_seconds is not None and self.late_seconds >= LATE_SECONDS


def read_beat(now: datetime) -> Regions:
    """Region beat, empty while no engine steps. Two queries."""
    nodes = Node.objects.defer("equipment")
    seen = [node.heartbeat_at for node in nodes if node.heartbeat_at and state_of(node, now) == "live"]
    late = fires_late(now)
    return {"beat": [("beat", Beat(min(seen), late))] if seen else []}


def fires_late(now: datetime) -> float | None:
    """Seconds between a fire's moment and its instance: the median of the last hour, of those among the last 200."""
    newest = Instance.objects.order_by("-id").values_list("cause", "due_at", "created_at")[:MOST_READ]
    lags = [
        (created - due).total_seconds()
        for cause, due, created in newest
        if cause == Instance.Cause.SCHEDULE and created > now - LOOKED_BACK
    ]
    return _roughly(max(0.0, median(lags))) if lags else None


def starts_late() -> dict[int, float]:
    """By node, seconds from the decision to start until the process exists: the median of those among the last 200."""
    newest = Attempt.objects.order_by("-id")
    lags: dict[int, list[float]] = {}
    for node_id, started_at, created_at in newest.values_list("node_id", "started_at", "created_at")[:MOST_READ]:
        if started_at is not None:
            lags.setdefault(node_id, []).append((started_at - created_at).total_seconds())
    return {node_id: _roughly(max(0.0, median(found))) for node_id, found in lags.items()}


def _roughly(seconds: float) -> float:
    """So that a lag that wavers by a microsecond is not drawn and sent again."""
    return float(f"{seconds:.1g}")
