"""A page of the list of instances."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.filters import Cursor, InstanceFilter, cursor_in, filter_in, with_cursor
from dashboard.presentation import amounts, looks
from dashboard.presentation.counts import Count, counted
from dashboard.presentation.looks import Look
from dashboard.presentation.matching import ids_of_page, parts_matching
from dashboard.presentation.rows import Regions, Row
from jobs.core.states import TERMINAL
from jobs.models import Instance, Job, Node

PER_PAGE = 50
MOST_PROPOSED = 500

FIELDS = (
    "pk", "job_id", "job__name", "status", "cancel_requested_at", "cause", "due_at", "started_at", "ended_at",
    "exit_code", "error", "attempt_count", "node__name",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ListedRow:
    """`at` is when it ended, else when it began, else when it is due. `error` is cut short."""

    instance_id: int
    job_id: int
    job_name: str
    look: Look
    cause: str
    node: str
    at: datetime
    seconds: float | None
    attempts: int
    exit_code: int | None
    error: str
    can_cancel: bool
    can_retry: bool

    @property
    def shown_id(self) -> str:
        return str(self.instance_id)

    @property
    def lasted(self) -> str:
        return "" if self.seconds is None else amounts.duration(self.seconds)


@dataclass(frozen=True, slots=True)
class Matches:
    """How many match in all; `is_filtered` tells "nothing matches" from "nothing here"."""

    count: Count
    is_filtered: bool

    @property
    def plural(self) -> int:
        return self.count.number


@dataclass(frozen=True, slots=True)
class Pager:
    """Queries of the pages beside this one; None where there is none."""

    newer: str | None
    older: str | None
    newest: str
    oldest: str


def read_list_at(query: str, now: datetime) -> Regions:
    """`read_list` of the filter and the cursor that a query says, as the topic `instances:QUERY` does."""
    return read_list(filter_in(query), cursor_in(query), now)


def read_list(wanted: InstanceFilter, cursor: Cursor, now: datetime) -> Regions:
    """Regions listed, matches and pager. As many queries as the filter has parts, whatever the number of rows."""
    parts = parts_matching(wanted, now)
    ids = ids_of_page(parts, cursor, PER_PAGE + 1)
    shown, beyond = _without_extra(ids, cursor)
    return {
        "listed": _rows(shown),
        "matches": [("matches", Matches(counted(*parts), wanted.is_active))],
        "pager": [("pager", pager(wanted.query, cursor, shown, beyond=beyond))],
    }


def pager(query: str, cursor: Cursor, shown: list[int], *, beyond: bool) -> Pager:
    """`beyond`: there is at least one more in the direction that was read. Towards where it came from is always one."""
    upwards = cursor.after is not None
    has_newer = beyond if upwards else cursor.before is not None
    has_older = bool(cursor.after) if upwards else beyond
    return Pager(
        newer=with_cursor(query, Cursor(after=shown[0])) if shown and has_newer else None,
        older=with_cursor(query, Cursor(before=shown[-1])) if shown and has_older else None,
        newest=query,
        oldest=with_cursor(query, Cursor(after=0)),
    )


def proposals() -> dict[str, list[str]]:
    """What the filter's inputs propose: names of jobs and nodes, and tags. Two queries."""
    jobs = list(Job.objects.order_by("name").values_list("name", "tags")[:MOST_PROPOSED])
    return {
        "jobs": [name for name, _ in jobs],
        "tags": sorted({tag for _, tags in jobs for tag in tags}),
        "nodes": list(Node.objects.order_by("name").values_list("name", flat=True)),
    }


def _without_extra(ids: list[int], cursor: Cursor) -> tuple[list[int], bool]:
    """The one more that was asked for only tells that there is one: at the end, or at the beginning when going up."""
    if len(ids) <= PER_PAGE:
        return ids, False
    return (ids[1:] if cursor.after is not None else ids[:-1]), True


def _rows(ids: list[int]) -> list[Row]:
    # Columns only: a job's script may have a megabyte.
    found = Instance.objects.filter(pk__in=ids).order_by("-pk").values_list(*FIELDS, named=True)
    return [(f"i{one.pk}", _row(one)) for one in found]


def _row(one: object) -> ListedRow:
    values = dict(zip(FIELDS, one, strict=True))  # type: ignore[call-overload]  # a named tuple of FIELDS
    status, stopping = values["status"], values["cancel_requested_at"] is not None
    began, ended = values["started_at"], values["ended_at"]
    return ListedRow(
        instance_id=values["pk"],
        job_id=values["job_id"],
        job_name=values["job__name"],
        look=looks.of_instance(status, stopping=stopping),
        cause=str(Instance.Cause(values["cause"]).label),
        node=values["node__name"] or "",
        at=ended or began or values["due_at"],
        seconds=(ended - began).total_seconds() if began and ended else None,
        attempts=values["attempt_count"],
        exit_code=values["exit_code"],
        error=values["error"][:300],
        can_cancel=status not in TERMINAL and not stopping,
        can_retry=status in TERMINAL,
    )
