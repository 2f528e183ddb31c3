"""What every page says at its top: whether the engine steps, how much runs and waits, whether there is trouble."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from dashboard.presentation.counts import Count, counted
from dashboard.presentation.failures import WINDOW
from dashboard.presentation.rows import Regions
from dashboard.presentation.selections import failures, waiting
from jobs.models import Attempt, Node
from jobs.nodes import state_of


@dataclass(frozen=True, slots=True)
class EngineRow:
    """`state`: good, warn or bad. `since` is when the engine was last seen, where that matters."""

    state: str
    word: str
    sentence: str
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts for the tiles, the page title and the favicon."""

    running: Count
    waiting: Count
    failed: Count


def read_pulse(now: datetime) -> Regions:
    """Regions engine, alert (empty when all is well), totals: six queries that count no further than a thousand."""
    totals = Totals(
        running=counted(Attempt.objects.filter(~Q(status="ended"))),
        waiting=counted(*waiting()),
        failed=counted(failures().filter(ended_at__gt=now - WINDOW)),
    )
    engine = engine_row(list(Node.objects.defer("equipment").order_by("name")), now)
    return {
        "engine": [("engine", engine)],
        "alert": [("engine", engine)] if engine.state != "good" else [],
        "totals": [("totals", totals)],
    }


def engine_row(nodes: list[Node], now: datetime) -> EngineRow:
    states = {node: state_of(node, now) for node in nodes}
    live = [node for node, state in states.items() if state == "live"]
    stale = [node for node, state in states.items() if state == "stale"]
    stopped = [node for node in live if node.admission_stopped]
    if stale:
        names = ", ".join(node.name for node in stale)
        sentence = (
            f"The engine on {names} does not step: nothing new starts there. Look at its service log, restart it."
        )
        return EngineRow(
            "bad", "Engine stalled", sentence, max((n.heartbeat_at for n in stale if n.heartbeat_at), default=None)
        )
    if not live:
        return EngineRow(
            "bad", "Engine stopped", "No engine runs: nothing will start. Start it with `manage.py runscheduler`."
        )
    if stopped:
        return EngineRow("warn", "Starts on hold", stopped[0].admission_stopped)
    names = f"{len(live)} nodes" if len(live) > 1 else live[0].name
    return EngineRow("good", "Engine live", f"The engine steps on {names}.")
