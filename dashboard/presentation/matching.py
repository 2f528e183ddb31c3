"""The instances that a filter matches, in parts that each have an index to be read along.

SQLite reads `status IN (...) ORDER BY id` by sorting all that match. So each status is a part of its own, read along
instance_status_newest, and the parts are merged here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import BooleanField, Count, F, Max, Min, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.functions import Upper
from django.db.models.lookups import In

from dashboard.filters import Cursor, InstanceFilter
from jobs.api.pages import tagged
from jobs.core.states import Status
from jobs.models import Instance, Job, Node

Part = QuerySet[Instance]
Chosen = list[int] | QuerySet[Job]  # ids of jobs; or, of more than MANY_JOBS, what finds them
FEW_JOBS = 20
MANY_JOBS = 500  # as parameters; SQLite takes only so many, and each costs its time
# With the plain id SQLite looks for the least one by reading the table from its beginning.
_ID = F("id") + 0


def parts_matching(wanted: InstanceFilter, now: datetime) -> list[Part]:
    """Together all that match, none in two of them; without an order. A number of queries that the filter decides."""
    if wanted.problems:
        return []
    rows, jobs = _rows_and_jobs(wanted, now)
    few_jobs = isinstance(jobs, list) and len(jobs) <= FEW_JOBS
    if not wanted.text("q"):
        return _of_statuses([rows], wanted, plain=few_jobs)
    by_name, by_error = _of_text(rows, wanted.phrase)
    # Errors are few, and have an index of their own.
    return _of_statuses(by_name, wanted, plain=few_jobs) + _of_statuses([by_error], wanted, plain=True)


def counts_by_status(wanted: InstanceFilter, up_to: int, now: datetime) -> dict[Status, int]:
    """How many match up to the id `up_to`, exactly, by status; without those of which there is none.

    What names jobs is counted along the jobs' index: by status it would be all that ever succeeded.
    """
    if wanted.problems:
        return {}
    rows, jobs = _rows_and_jobs(wanted, now)
    rows = rows.filter(pk__lte=up_to)
    if jobs is None and not wanted.text("q"):
        said = rows.alias(said=Upper("status"))
        counted = [(status, said.filter(said=status.upper()).count()) for status in wanted.statuses or Status]
        return {status: count for status, count in counted if count}
    parts = [rows]
    if wanted.text("q"):
        by_name, by_error = _of_text(rows, wanted.phrase)
        parts = [*by_name, by_error]
    found: dict[Status, int] = {}
    for part in _of_statuses(parts, wanted, plain=True):
        for status, count in part.values_list("status").annotate(Count("pk")).order_by():
            found[Status(status)] = found.get(Status(status), 0) + count
    return found


def ids_of_page(parts: Sequence[Part], cursor: Cursor, most: int) -> list[int]:
    """Falling ids of at most `most`. One query for each part."""
    if cursor.after is not None:
        above = [rows.filter(pk__gt=cursor.after) for rows in parts]
        return sorted(_first(above, "pk", most))[:most][::-1]
    below = parts if cursor.before is None else [rows.filter(pk__lt=cursor.before) for rows in parts]
    return sorted(_first(below, "-pk", most), reverse=True)[:most]


def _first(parts: Sequence[Part], order: str, most: int) -> list[int]:
    return [pk for rows in parts for pk in rows.order_by(order).values_list("pk", flat=True)[:most]]


def _rows_and_jobs(wanted: InstanceFilter, now: datetime) -> tuple[Part, Chosen | None]:
    """All that fit but for text and status; and the jobs that were asked for, None: any."""
    rows = _of_time(Instance.objects.all(), wanted, now)
    if wanted.text("node"):
        rows = rows.filter(node_id__in=_ids(Node.objects.filter(name=wanted.text("node"))))
    if wanted.exit_code is not None:
        rows = rows.filter(exit_code=wanted.exit_code)
    jobs = _jobs(wanted)
    return (rows, None) if jobs is None else (rows.filter(_of_jobs(jobs)), jobs)


def _jobs(wanted: InstanceFilter) -> Chosen | None:
    """The jobs that are asked for; None: any."""
    if not (wanted.text("job") or wanted.text("tag")):
        return None
    jobs = Job.objects.all()
    if wanted.text("job"):
        jobs = jobs.filter(name=wanted.text("job"))
    return _chosen(tagged(jobs, wanted.text("tag")) if wanted.text("tag") else jobs)


def _chosen(jobs: QuerySet[Job]) -> Chosen:
    ids = _ids(jobs, MANY_JOBS + 1)
    return ids if len(ids) <= MANY_JOBS else jobs


def _of_jobs(jobs: Chosen) -> Q:
    """Of many the newest instances are soon found by looking through the newest of all: without the jobs' index."""
    if isinstance(jobs, list):
        return Q(job_id__in=jobs)
    return Q(In(F("job_id") + 0, jobs.order_by().values("pk")))


def _of_text(rows: Part, text: str) -> tuple[list[Part], Part]:
    """By the name of their job, if there is such a one; and of the others by their error."""
    named = _chosen(Job.objects.filter(name__icontains=text))
    others = rows.filter(has_error(), ~_of_jobs(named), error__icontains=text)
    return ([] if named == [] else [rows.filter(_of_jobs(named))]), others


def has_error() -> RawSQL:
    """Spelt as instance_errors_newest spells it: SQLite compares no parameters with the condition of an index."""
    return RawSQL("NOT (jobs_instance.error = '')", (), output_field=BooleanField())


def _of_statuses(parts: list[Part], wanted: InstanceFilter, *, plain: bool) -> list[Part]:
    """Plain is spelt as no index knows it: else SQLite reads all that succeeded instead of a job's few."""
    if not wanted.statuses:
        return parts
    if plain:
        return [rows.filter(status__in=wanted.statuses) for rows in parts]
    # In capitals, as instance_status_newest has it.
    said = [rows.alias(said=Upper("status")) for rows in parts]
    return [rows.filter(said=status.upper()) for rows in said for status in wanted.statuses]


def _of_time(rows: Part, wanted: InstanceFilter, now: datetime) -> Part:
    """What was there at some moment of that time: made before its end, and not ended before its beginning.

    The ids between which they lie are asked first: rows are read by id, and would be read from the newest on.
    """
    since, until = wanted.beginning(now), wanted.until
    if since:
        there = Q(ended_at__gte=since) | Q(ended_at__isnull=True)
        ended = Instance.objects.filter(ended_at__gte=since).aggregate(first=Min(_ID))["first"]
        live = Instance.objects.filter(ended_at__isnull=True).aggregate(first=Min(_ID))["first"]
        firsts = [pk for pk in (ended, live) if pk is not None]
        rows = rows.filter(there, pk__gte=min(firsts)) if firsts else rows.none()
    if until:
        last = Instance.objects.filter(created_at__lte=until).aggregate(last=Max(_ID))["last"]
        rows = rows.filter(created_at__lte=until, pk__lte=last) if last is not None else rows.none()
    return rows


def _ids(rows: QuerySet[Any], most: int | None = None) -> list[int]:
    return list(rows.order_by().values_list("pk", flat=True)[:most])
