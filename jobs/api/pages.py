"""Pages of lists by key: complete and without repeats while rows come and go."""

from __future__ import annotations

from typing import TypeVar

from django.db import connection
from django.db.models import Model, QuerySet
from django.db.models.expressions import RawSQL
from django.http import HttpRequest, HttpResponse

from jobs.models import Job

LARGEST = 2**63 - 1
Row = TypeVar("Row", bound=Model)


def page(
    request: HttpRequest, response: HttpResponse, rows: QuerySet[Row], before: int | None, limit: int
) -> list[Row]:
    """The first `limit` of `rows`, which are ordered by falling id; names the next page in the header Link."""
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows[: limit + 1])
    if len(found) > limit:
        query = request.GET.copy()
        query["before"] = str(found[limit - 1].pk)
        response.headers["Link"] = f'<{request.build_absolute_uri(request.path)}?{query.urlencode()}>; rel="next"'
    return found[:limit]


def all_tags(most: int) -> list[str]:
    """The tags that jobs have, by name. One query, which reads each job's tags but fetches each tag once."""
    listed = (
        "SELECT DISTINCT jsonb_array_elements_text(tags) FROM jobs_job LIMIT %s"
        if connection.vendor == "postgresql"
        else "SELECT DISTINCT value FROM jobs_job, json_each(jobs_job.tags) LIMIT %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(listed, [most])
        return sorted(row[0] for row in cursor.fetchall())


def tagged(jobs: QuerySet[Job], tag: str) -> QuerySet[Job]:
    """Those of the jobs that have this tag."""
    if connection.vendor == "postgresql":
        return jobs.filter(tags__contains=[tag])
    # The ORM cannot look into a list on SQLite; the tag goes as a parameter. A table of its own, for these jobs may
    # stand in a subquery under another name.
    listed = "SELECT jobs_job.id FROM jobs_job, json_each(jobs_job.tags) WHERE value = %s"
    return jobs.filter(pk__in=RawSQL(listed, [tag]))  # noqa: S611 - see above
