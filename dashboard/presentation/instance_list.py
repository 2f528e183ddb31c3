"""A page of the list of instances."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.filters import Cursor, InstanceFilter, cursor_in, filter_in, with_cursor
from dashboard.presentation.counts import Count, counted
from dashboard.presentation.instance_row import InstanceRow, facts_of
from dashboard.presentation.matching import ids_of_page, parts_matching
from dashboard.presentation.rows import Regions, Row
from jobs.api.pages import all_tags
from jobs.models import Instance, Job, Node

PER_PAGE = 50
MOST_PROPOSED = 500

# Columns only: a job's script may have a megabyte.
COLUMNS = (
    "job", "job__name", "node", "node__name", "status", "cancel_requested_at", "cause", "due_at", "started_at",
    "ended_at", "exit_code", "error", "attempt_count",
)  # fmt: skip
LONGEST_ERROR = 300


@dataclass(frozen=True, slots=True)
class ListedRow(InstanceRow):
    """An instance among those of all jobs. Its error is cut short."""

    job_id: int
    job_name: str
    node: str
    exit_code: int | None


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
    """What the filter's inputs propose: names of jobs and nodes, and tags. Three queries."""
    return {
        "jobs": list(Job.objects.order_by("name").values_list("name", flat=True)[:MOST_PROPOSED]),
        "tags": all_tags(MOST_PROPOSED),
        "nodes": list(Node.objects.order_by("name").values_list("name", flat=True)),
    }


def _without_extra(ids: list[int], cursor: Cursor) -> tuple[list[int], bool]:
    """The one more that was asked for only tells that there is one: at the end, or at the beginning when going up."""
    if len(ids) <= PER_PAGE:
        return ids, False
    return (ids[1:] if cursor.after is not None else ids[:-1]), True


def _rows(ids: list[int]) -> list[Row]:
    found = Instance.objects.filter(pk__in=ids).order_by("-pk").select_related("job", "node").only(*COLUMNS)
    return [(f"i{one.pk}", _row(one)) for one in found]


def _row(instance: Instance) -> ListedRow:
    facts = facts_of(instance)
    return ListedRow(
        **facts | {"error": facts["error"][:LONGEST_ERROR]},
        job_id=instance.job_id,
        job_name=instance.job.name,
        node=instance.node.name if instance.node else "",
        exit_code=instance.exit_code,
    )
