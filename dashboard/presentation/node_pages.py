"""The nodes: all of them in a list, and one with what it holds and what it cannot do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings

from dashboard.presentation import amounts
from dashboard.presentation.beat import starts_late
from dashboard.presentation.facts import Fact
from dashboard.presentation.held import Held, by_node, read_held, sum_of
from dashboard.presentation.looks import Look
from dashboard.presentation.nodes import card, cell_regions, seen_at
from dashboard.presentation.rows import Gone, Regions, Row
from dashboard.presentation.running import running_regions
from jobs.execution import keeping
from jobs.execution.equipment import EnvironmentThere, Equipment
from jobs.models import Node
from jobs.nodes import slots_of, state_of
from jobs.telemetry.memory import MEGABYTE

MOST_SHOWN = 200

STATES = {
    "live": Look("live", "pulse", "good"),
    "stale": Look("not stepping", "warn", "bad"),
    "stopped": Look("stopped", "stop", "quiet"),
}


@dataclass(frozen=True, slots=True)
class NodeRow:
    """`seen_at`: its last sign of life, None before the first. `lag` is in words, empty where nothing has started."""

    id: int
    name: str
    look: Look
    seen_at: datetime | None
    drained_at: datetime | None
    admission_stopped: str
    cores: int
    cores_used: int
    slots: int
    slots_used: int
    memory_mb: int
    memory_used_mb: int
    running: int
    abandoned: int
    lag: str
    version: str
    notices: int


@dataclass(frozen=True, slots=True)
class NodeHead:
    """What stands above all else on the page of a node. `seen_at` only when it does not step."""

    id: int
    name: str
    look: Look
    seen_at: datetime | None
    drained_at: datetime | None
    drained_by: str
    admission_stopped: str
    running: int
    abandoned: int


@dataclass(frozen=True, slots=True)
class EnvironmentRow:
    """One that is there. `packages` in words; `used_at`: last, while nothing does now."""

    key: str
    python: str
    packages: str
    size: str
    built_at: datetime
    used_at: datetime
    in_use: bool


@dataclass(frozen=True, slots=True)
class ToldAt:
    """When the node said which environments it has."""

    at: datetime


@dataclass(frozen=True, slots=True)
class NodeNotice:
    sentence: str


def read_node_list(now: datetime) -> Regions:
    """Region node_list, by name. Three queries, or four."""
    nodes = list(Node.objects.defer("equipment").order_by("name")[:MOST_SHOWN])
    on_node, lags = by_node(read_held(nodes, now)), starts_late()
    return {"node_list": [(f"n{node.pk}", _row(node, on_node[node.pk], lags.get(node.pk), now)) for node in nodes]}


def read_node(node_id: int, now: datetime) -> Regions:
    """Regions node_head, facts, node_notices, node_environments, node_told, nodes (one card), its cells, running,
    running_more. Three queries, or four.
    """
    node = Node.objects.filter(pk=node_id).first()
    if node is None:
        raise Gone("There is no such node (any more).")
    attempts, equipment = read_held([node], now, node), Equipment.from_json(node.equipment)
    facts = _facts(node, equipment, starts_late().get(node_id))
    regions: dict[str, Sequence[Row]] = {
        "node_head": [("head", _head(node, attempts, now))],
        "facts": [(f"f{number}", fact) for number, fact in enumerate(facts)],
        "node_notices": [(f"m{number}", NodeNotice(text)) for number, text in enumerate(node.notices)],
        "node_environments": [(f"e{one.key}", _environment(one)) for one in equipment.environments],
        "node_told": [("told", ToldAt(equipment.told_at))] if equipment.told_at else [],
        "nodes": [(f"n{node.pk}", card(node, attempts, now, "alone"))],
    }
    return regions | cell_regions(node, attempts, "alone") | running_regions(attempts)


def _row(node: Node, attempts: Sequence[Held], lag: float | None, now: datetime) -> NodeRow:
    held = sum_of(attempts)
    return NodeRow(
        id=node.pk,
        name=node.name,
        look=STATES[state_of(node, now)],
        seen_at=seen_at(node),
        drained_at=node.drained_at,
        admission_stopped=node.admission_stopped,
        cores=len(node.cores),
        cores_used=held.cores,
        slots=slots_of(node),
        slots_used=held.cores + held.virtual,
        memory_mb=node.memory_mb,
        memory_used_mb=held.memory_mb,
        running=held.running,
        abandoned=held.abandoned,
        lag="" if lag is None else amounts.duration(lag),
        version=node.version,
        notices=len(node.notices),
    )


def _head(node: Node, attempts: Sequence[Held], now: datetime) -> NodeHead:
    state, held = state_of(node, now), sum_of(attempts)
    return NodeHead(
        id=node.pk,
        name=node.name,
        look=STATES[state],
        seen_at=None if state == "live" else seen_at(node),
        drained_at=node.drained_at,
        drained_by=node.drained_by,
        admission_stopped=node.admission_stopped,
        running=held.running,
        abandoned=held.abandoned,
    )


def _facts(node: Node, equipment: Equipment, lag: float | None) -> list[Fact]:
    facts = [
        Fact("Last seen", at=node.heartbeat_at, text="" if node.heartbeat_at else "never"),
        Fact("Starts after", "unknown" if lag is None else amounts.duration(lag), note="decision to process"),
        Fact("Cores", amounts.listed(node.cores) or "unknown", note=f"{len(node.cores)} in all"),
        Fact("Slots", str(slots_of(node)), note=f"overcommit {node.overcommit:g}"),
        Fact("Memory", amounts.size(node.memory_mb * MEGABYTE) if node.memory_mb else "not counted"),
        Fact("Version", node.version or "unknown"),
        Fact("Started", at=node.started_at, text="" if node.started_at else "never"),
        Fact("Incarnation", str(node.incarnation), note="rises at each start"),
        Fact("Host", node.host_name or "unknown", note=f"process {node.pid}" if node.pid else ""),
        Fact("Boot", node.boot_id or "unknown"),
        Fact("Id", str(node.uuid)),
    ]
    if equipment.pythons:
        facts.append(Fact("Pythons", ", ".join(equipment.pythons), note="the first is the service's own"))
    facts += _kept(node)
    if node.stopped_at is not None:
        facts.insert(0, Fact("Stopped", at=node.stopped_at))
    return facts


def _environment(one: EnvironmentThere) -> EnvironmentRow:
    return EnvironmentRow(
        key=one.key[:8],
        python=one.python,
        packages=one.packages,
        size=amounts.size(one.size_bytes),
        built_at=datetime.fromtimestamp(one.built_at, UTC),
        used_at=datetime.fromtimestamp(one.used_at, UTC),
        in_use=one.in_use,
    )


def _kept(node: Node) -> list[Fact]:
    """Of the node whose data folder this is, once it has looked: the others know of theirs."""
    kept = keeping.read(settings.DATA_DIR)
    if kept.node != f"node:{node.name}":
        return []
    most = f"at most {amounts.size(settings.KEEP_RUNS_MB * MEGABYTE)}" if settings.KEEP_RUNS_MB else "no bound"
    facts = [
        Fact("Ended instances take", amounts.size(kept.runs_bytes), note=most),
        Fact("Cleaned up", at=datetime.fromisoformat(kept.swept_at)),
    ]
    if kept.removed_at:
        removed = f"{kept.removed.get('instances', 0):,} instances, {amounts.size(kept.removed.get('bytes', 0))}"
        facts += [Fact("Last removed", removed), Fact("Removed them", at=datetime.fromisoformat(kept.removed_at))]
    return facts
