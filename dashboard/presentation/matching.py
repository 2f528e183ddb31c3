"""The instances that a filter matches, in parts that each have an index to be read along.

SQLite reads `status IN (...) ORDER BY id` by sorting all that match. So each status is a part of its own, read along
instance_status_newest, and the parts are merged here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import BooleanField, F, Max, Min, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.functions import Upper

from dashboard.filters import Cursor, InstanceFilter
from jobs.api.pages import tagged
from jobs.models import Instance, Job, Node

Part = QuerySet[Instance]
FEW_JOBS = 20
# With the plain id SQLite looks for the least one by reading the table from its beginning.
_ID = F("id") + 0


def parts_matching(wanted: InstanceFilter, now: datetime) -> list[Part]:
    """Together all that match, none in two of them; without an order. A number of queries that the filter decides."""
    if wanted.problems:
        return []
    rows = _of_time(Instance.objects.all(), wanted, now)
    if wanted.text("node"):
        rows = rows.filter(node_id__in=_ids(Node.objects.filter(name=wanted.text("node"))))
    if wanted.exit_code is not None:
        rows = rows.filter(exit_code=wanted.exit_code)
    jobs = _jobs(wanted)
    if jobs is not None:
        rows = rows.filter(job_id__in=jobs)
    parts = _of_text(rows, wanted.text("q")) if wanted.text("q") else [rows]
    return _of_statuses(parts, wanted, few_jobs=jobs is not None and len(jobs) <= FEW_JOBS)


def ids_of_page(parts: Sequence[Part], cursor: Cursor, most: int) -> list[int]:
    """Falling ids of at most `most`. One query for each part."""
    if cursor.after is not None:
        above = [rows.filter(pk__gt=cursor.after) for rows in parts]
        return sorted(_first(above, "pk", most))[:most][::-1]
    below = parts if cursor.before is None else [rows.filter(pk__lt=cursor.before) for rows in parts]
    return sorted(_first(below, "-pk", most), reverse=True)[:most]


def _first(parts: Sequence[Part], order: str, most: int) -> list[int]:
    return [pk for rows in parts for pk in rows.order_by(order).values_list("pk", flat=True)[:most]]


def _jobs(wanted: InstanceFilter) -> list[int] | None:
    """Ids of the jobs that are asked for; None: any."""
    if not (wanted.text("job") or wanted.text("tag")):
        return None
    jobs = Job.objects.all()
    if wanted.text("job"):
        jobs = jobs.filter(name=wanted.text("job"))
    return _ids(tagged(jobs, wanted.text("tag")) if wanted.text("tag") else jobs)


def _of_text(rows: Part, text: str) -> list[Part]:
    """By the name of their job, and of the others by their error, along instance_errors_newest."""
    named = _ids(Job.objects.filter(name__icontains=text))
    # Spelt as the index spells it: SQLite compares no parameters with the condition of an index.
    with_error = RawSQL("NOT (jobs_instance.error = '')", (), output_field=BooleanField())
    others = rows.filter(with_error, ~Q(job_id__in=named), error__icontains=text)
    return [rows.filter(job_id__in=named), others] if named else [others]


def _of_statuses(parts: list[Part], wanted: InstanceFilter, *, few_jobs: bool) -> list[Part]:
    if not wanted.statuses:
        return parts
    if few_jobs:
        # Spelt as no index knows it: SQLite would read all that succeeded instead of the job's few.
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


def _ids(rows: QuerySet[Any]) -> list[int]:
    return list(rows.order_by().values_list("pk", flat=True))
