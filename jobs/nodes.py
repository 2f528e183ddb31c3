"""Whether a node is at work, and how much it has to give: one rule for pages, API and the reasons to wait."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from jobs.core.cores import CoreManager
from jobs.models import Node

# The engine writes it every ten seconds, on its own thread: later than this it does not step.
STALE_AFTER = timedelta(seconds=25)

State = Literal["live", "stale", "stopped"]


def state_of(node: Node, now: datetime) -> State:
    """stopped (on purpose), else live, or stale: it was killed or hangs, or has never stepped."""
    if node.stopped_at is not None:
        return "stopped"
    # Also from the future: the clock was set back since, and it would look alive until that comes again.
    return "live" if node.heartbeat_at and abs(now - node.heartbeat_at) <= STALE_AFTER else "stale"


def draining(node: Node) -> str:
    """Why a node that is drained starts nothing, as part of a sentence; empty of all others."""
    if not node.drained_at:
        return ""
    by = f" by {node.drained_by}" if node.drained_by else ""
    return f"node {node.name} was drained{by} and starts nothing until it is undrained"


def slots_of(node: Node) -> int:
    """Physical and virtual ones together; none of a node whose cores are not known yet."""
    return CoreManager(node.cores, overcommit=node.overcommit).slots if node.cores else 0
