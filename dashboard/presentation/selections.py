"""Conditions on instances, spelt as their partial indexes spell them.

SQLite uses a partial index only where the query repeats its condition: `status = value` it recognises, but an IN only
with the same literals. Else it reads the whole table: a hundred milliseconds with a million ended instances.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL

from jobs.core.states import LIVE, Status
from jobs.models import Instance, Job
from jobs.trials import is_trial

FAILURES = (Status.FAILED, Status.TIMEOUT)


def waiting() -> list[QuerySet[Instance]]:
    """All that wait, in parts that each have an index: queued, pending, retrying."""
    return [Instance.objects.filter(status=status) for status in (Status.QUEUED, Status.PENDING, Status.RETRYING)]


def failures() -> QuerySet[Instance]:
    """All that failed, along instance_failures_newest; but for tests, whose failures are what they are for."""
    return Instance.objects.filter(_status_in(FAILURES)).exclude(is_trial("job__"))


def jobs_with_live(jobs: QuerySet[Job]) -> int:
    """How many of the jobs have an instance that has not ended. Few queries, each along an index of its status."""
    found: set[int] = set()
    for status in sorted(LIVE):
        live = Instance.objects.filter(status=status, job__in=jobs.order_by().values("pk"))
        found.update(live.order_by().values_list("job_id", flat=True).distinct())
    return len(found)


def _status_in(statuses: Iterable[Status]) -> RawSQL:
    listed = ", ".join(f"'{status.value}'" for status in statuses)
    return RawSQL(f"jobs_instance.status IN ({listed})", (), output_field=BooleanField())  # noqa: S611 - our own constants
