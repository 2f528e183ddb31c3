"""Nodes and their cores: a card for each, with a cell for each core."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from dashboard.presentation import amounts
from dashboard.presentation.held import Held, by_node, is_abandoned, read_held, sum_of
from dashboard.presentation.rows import More, Regions, Row
from dashboard.presentation.running import running_regions
from jobs.models import Node
from jobs.nodes import slots_of, state_of

# More nodes than this are drawn small, and of more than the second number only the first ones.
MOST_LARGE = 4
MOST_NODES = 36


@dataclass(frozen=True, slots=True)
class Holder:
    """An instance that holds a core or a virtual slot. `share` is how many slots it has for each of its cores.

    `cores`: ids of all that it holds; `asked`: how many it needs, `held`: in words what it got. `abandoned_at`: when it
    ended without its thread, which holds them until it returns.
    """

    instance_id: int
    job_name: str
    since: datetime
    asked: int
    held: str
    cores: tuple[int, ...]
    share: float = 1.0
    abandoned_at: datetime | None = None

    @property
    def core_ids(self) -> str:
        return " ".join(map(str, self.cores))

    @property
    def shown_share(self) -> str:
        return f"{self.share:g}"


@dataclass(frozen=True, slots=True)
class CoreCell:
    node: str
    core: int
    holder: Holder | None
    kept_for: int | None = None


@dataclass(frozen=True, slots=True)
class VirtualCell:
    number: int
    holder: Holder | None
    kept_for: int | None = None


@dataclass(frozen=True, slots=True)
class NodeCard:
    """`state`: live, stale, stopped. `seen_at` only when it is not live: a heartbeat alone redraws nothing.

    `size`: large with virtual slots and a table, small among many, alone on its own page.
    """

    id: int
    uuid: str
    name: str
    state: str
    seen_at: datetime | None
    cores: int
    cores_used: int
    instances: int
    virtual: int
    virtual_used: int
    memory_mb: int
    memory_used_mb: int
    overcommit: float
    admission_stopped: str
    drained_at: datetime | None
    drained_by: str
    notices: tuple[str, ...]
    size: str

    @property
    def region(self) -> str:
        """The end of the names of its regions."""
        return str(self.id)

    @property
    def running(self) -> str:
        count = self.instances
        return "nothing" if not count else "1 instance" if count == 1 else f"{count} instances"


def read_nodes(now: datetime) -> Regions:
    """Regions nodes, nodes_more, running, running_more, and those of each node. Two queries, or three.

    cores:<id>, coretable:<id> and virtual:<id> where nodes are drawn large, specks:<id> where they are many.
    """
    nodes = list(Node.objects.defer("equipment").order_by("name"))
    attempts = read_held(nodes, now)
    on_node = by_node(attempts)
    size = "small" if len(nodes) > MOST_LARGE else "large"
    shown = nodes[:MOST_NODES]
    regions: dict[str, Sequence[Row]] = {}
    for node in shown:
        regions |= cell_regions(node, on_node[node.pk], size)
    cards = [(f"n{node.pk}", card(node, on_node[node.pk], now, size)) for node in shown]
    hidden = len(nodes) - len(shown)
    more = [("more", More(str(hidden), "more nodes"))] if hidden else []
    regions |= {"nodes": cards, "nodes_more": more}
    return regions | running_regions(attempts)


def cell_regions(node: Node, attempts: Sequence[Held], size: str) -> dict[str, Sequence[Row]]:
    cells = core_cells(node, attempts)
    if size == "small":
        return {f"specks:{node.pk}": cells}
    return {
        f"cores:{node.pk}": cells,
        f"coretable:{node.pk}": cells,
        f"virtual:{node.pk}": virtual_cells(node, attempts),
    }


def card(node: Node, attempts: Sequence[Held], now: datetime, size: str) -> NodeCard:
    state, held = state_of(node, now), sum_of(attempts)
    return NodeCard(
        id=node.pk,
        uuid=str(node.uuid),
        name=node.name,
        state=state,
        seen_at=None if state == "live" else seen_at(node),
        cores=len(node.cores),
        cores_used=held.cores,
        instances=held.running,
        virtual=slots_of(node) - len(node.cores),
        virtual_used=held.virtual,
        memory_mb=node.memory_mb,
        memory_used_mb=held.memory_mb,
        overcommit=node.overcommit,
        admission_stopped=node.admission_stopped,
        drained_at=node.drained_at,
        drained_by=node.drained_by,
        notices=tuple(node.notices),
        size=size,
    )


def seen_at(node: Node) -> datetime | None:
    """Its last sign of life, None before the first."""
    return node.stopped_at or node.heartbeat_at


def core_cells(node: Node, attempts: Iterable[Held]) -> list[Row]:
    holders = {core: _holder(attempt) for attempt in attempts for core in attempt["cores"]}
    return [(f"c{core}", _core_cell(node, core, holders.get(core))) for core in node.cores]


def _core_cell(node: Node, core: int, holder: Holder | None) -> CoreCell:
    """A free core is reserved when it is kept for an instance that needs more of them."""
    return CoreCell(str(node.uuid), core, holder, None if holder else node.kept_for)


def virtual_cells(node: Node, attempts: Iterable[Held]) -> list[Row]:
    """Virtual slots belong to no core; those that are used come first."""
    used = [_holder(attempt) for attempt in attempts for _ in range(attempt["virtual_cores"])]
    free = max(0, slots_of(node) - len(node.cores) - len(used))
    holders: list[Holder | None] = [*used, *[None] * free]
    return [
        (f"v{number}", VirtualCell(number, holder, None if holder else node.kept_for))
        for number, holder in enumerate(holders, 1)
    ]


def _holder(attempt: Held) -> Holder:
    physical, virtual = len(attempt["cores"]), attempt["virtual_cores"]
    share = round((physical + virtual) / physical, 1) if physical else 1.0
    return Holder(
        instance_id=attempt["instance_id"],
        job_name=attempt["instance__job__name"],
        since=attempt["started_at"] or attempt["created_at"],
        asked=physical + virtual,
        held=amounts.held(attempt["cores"], attempt["virtual_cores"]),
        cores=tuple(attempt["cores"]),
        share=share,
        abandoned_at=attempt["abandoned_at"] if is_abandoned(attempt) else None,
    )
