"""Nodes, their cores, and what runs on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from dashboard.presentation import amounts, looks
from dashboard.presentation.given import Told, told_by
from dashboard.presentation.looks import Look
from dashboard.presentation.rows import Regions, Row
from jobs.models import Attempt, Node
from jobs.nodes import slots_of, state_of

MOST_SHOWN = 12
MOST_READ = 2000
# More nodes than this are drawn small, and of more than the second number only the first ones.
MOST_LARGE = 4
MOST_NODES = 36


@dataclass(frozen=True, slots=True)
class Holder:
    """An instance that holds a core or a virtual slot. `share` is how many slots it has for each of its cores.

    `cores`: ids of all that it holds; `asked`: how many it needs, `held`: in words what it got.
    """

    instance_id: int
    job_name: str
    since: datetime
    asked: int
    held: str
    cores: tuple[int, ...]
    share: float = 1.0

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

    @property
    def shown_kept_for(self) -> str:
        return str(self.kept_for)


@dataclass(frozen=True, slots=True)
class VirtualCell:
    number: int
    holder: Holder | None
    kept_for: int | None = None

    @property
    def shown_kept_for(self) -> str:
        return str(self.kept_for)


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
    held: int
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
        return "nothing" if not self.held else "1 instance" if self.held == 1 else f"{self.held} instances"


@dataclass(frozen=True, slots=True)
class RunningRow:
    """`expected_seconds` is the usual duration, else the time limit (`expected_by` says which), else None."""

    instance_id: int
    job_id: int
    job_name: str
    look: Look
    held: str
    node: str
    attempt: int
    started_at: datetime
    expected_seconds: float | None
    expected_by: str
    told: Told | None
    expected_end: datetime | None
    stopping: bool

    @property
    def shown_id(self) -> str:
        return str(self.instance_id)


@dataclass(frozen=True, slots=True)
class More:
    """How many rows a list does not show, and the query of the list that has them all."""

    count: str
    words: str
    query: str = ""


Held = dict[str, Any]  # an attempt in flight, as `in_flight` reads it

_FIELDS = (
    "instance_id", "number", "token", "status", "node_id", "node__name", "cores", "virtual_cores", "memory_mb",
    "created_at", "started_at", "instance__job_id", "instance__job__name", "instance__job__timeout_seconds",
    "instance__job__usual_seconds", "instance__cancel_requested_at",
)  # fmt: skip


def read_nodes(now: datetime) -> Regions:
    """Regions nodes, nodes_more, running, running_more, and those of each node. Two queries.

    cores:<id>, coretable:<id> and virtual:<id> where nodes are drawn large, specks:<id> where they are many.
    """
    attempts, nodes = in_flight(), list(Node.objects.defer("equipment").order_by("name"))
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


def by_node(attempts: Iterable[Held]) -> dict[int, list[Held]]:
    on_node: dict[int, list[Held]] = defaultdict(list)
    for attempt in attempts:
        on_node[attempt["node_id"]].append(attempt)
    return on_node


def cell_regions(node: Node, attempts: Sequence[Held], size: str) -> dict[str, Sequence[Row]]:
    cells = core_cells(node, attempts)
    if size == "small":
        return {f"specks:{node.pk}": cells}
    return {
        f"cores:{node.pk}": cells,
        f"coretable:{node.pk}": cells,
        f"virtual:{node.pk}": virtual_cells(node, attempts),
    }


def in_flight(node_id: int | None = None) -> list[Held]:
    """Attempts that hold cores, there or anywhere, oldest first. Columns only: a job's script may have a megabyte."""
    attempts = Attempt.objects.filter(~Q(status="ended"))
    if node_id is not None:
        attempts = attempts.filter(node_id=node_id)
    return list(attempts.order_by("id").values(*_FIELDS)[:MOST_READ])


def card(node: Node, attempts: Sequence[Held], now: datetime, size: str) -> NodeCard:
    state = state_of(node, now)
    seen_at = node.stopped_at if state == "stopped" else node.heartbeat_at
    return NodeCard(
        id=node.pk,
        uuid=str(node.uuid),
        name=node.name,
        state=state,
        seen_at=None if state == "live" else seen_at,
        cores=len(node.cores),
        cores_used=sum(len(attempt["cores"]) for attempt in attempts),
        held=len(attempts),
        virtual=slots_of(node) - len(node.cores),
        virtual_used=sum(attempt["virtual_cores"] for attempt in attempts),
        memory_mb=node.memory_mb,
        memory_used_mb=sum(attempt["memory_mb"] for attempt in attempts),
        overcommit=node.overcommit,
        admission_stopped=node.admission_stopped,
        drained_at=node.drained_at,
        drained_by=node.drained_by,
        notices=tuple(node.notices),
        size=size,
    )


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


def running_regions(attempts: Sequence[Held]) -> dict[str, Sequence[Row]]:
    rows = [(f"i{a['instance_id']}", running_row(a)) for a in attempts[:MOST_SHOWN]]
    hidden = len(attempts) - len(rows)
    more = [("more", More(str(hidden), "more running", "status=running"))] if hidden else []
    return {"running": rows, "running_more": more}


def running_row(attempt: Held) -> RunningRow:
    expected, by = expected_duration(attempt["instance__job__usual_seconds"], attempt["instance__job__timeout_seconds"])
    stopping = attempt["instance__cancel_requested_at"] is not None
    began_at = attempt["started_at"] or attempt["created_at"]
    return RunningRow(
        instance_id=attempt["instance_id"],
        job_id=attempt["instance__job_id"],
        job_name=attempt["instance__job__name"],
        look=looks.STOPPING if stopping else looks.of_attempt(attempt["status"], ""),
        held=amounts.held(attempt["cores"], attempt["virtual_cores"]),
        node=attempt["node__name"],
        attempt=attempt["number"],
        started_at=began_at,
        expected_seconds=expected,
        expected_by=by,
        told=told_by(attempt["instance_id"], attempt["number"], attempt["token"]),
        expected_end=None if expected is None else began_at + timedelta(seconds=expected),
        stopping=stopping,
    )


def expected_duration(usual: float | None, limit: float | None) -> tuple[float | None, str]:
    if usual is not None and (limit is None or usual <= limit):
        return usual, f"usually {amounts.duration(usual)}"
    return (limit, f"limit {amounts.duration(limit)}") if limit is not None else (None, "")


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
    )
