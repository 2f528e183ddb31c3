"""What waits, why, and when it should start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from dashboard.presentation import looks
from dashboard.presentation.counts import counted
from dashboard.presentation.looks import Look
from dashboard.presentation.rows import More, Regions, Row
from dashboard.presentation.selections import waiting
from jobs import holds
from jobs.core.states import Status
from jobs.models import LARGE_OF_JOB, Instance

MOST_SHOWN = 12
WAITING_QUERY = "status=pending&status=queued&status=retrying"


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """`starts_at` None: `unknown_because` says why nobody can tell."""

    instance_id: int
    job_id: int
    job_name: str
    look: Look
    since: datetime
    sentence: str
    starts_at: datetime | None
    unknown_because: str

    @property
    def shown_id(self) -> str:
        return str(self.instance_id)


def read_waiting(now: datetime) -> Regions:
    """Regions waiting and waiting_more: the queue in its order, then what is due later."""
    instances = first_waiting()
    total = counted(*waiting())
    rows = waiting_rows(instances, now)
    hidden = total.beyond(len(rows))
    return {"waiting": rows, "waiting_more": [("more", More(hidden, "more waiting", WAITING_QUERY))] if hidden else []}


def first_waiting() -> list[Instance]:
    """Three queries, each along its index: a million that wait cost no more than twelve."""
    queued = _of(Status.QUEUED).order_by("order_key", "id")[:MOST_SHOWN]
    pending = _of(Status.PENDING).order_by("due_at", "id")[:MOST_SHOWN]
    retrying = _of(Status.RETRYING).order_by("retry_at", "id")[:MOST_SHOWN]
    later = sorted([*pending, *retrying], key=lambda instance: (_moment(instance), instance.pk))
    return [*queued, *later][:MOST_SHOWN]


def waiting_rows(instances: Sequence[Instance], now: datetime) -> list[Row]:
    views = holds.explain(instances, now)
    return [(f"i{instance.pk}", _row(instance, views[instance.pk])) for instance in instances]


def _of(status: Status) -> QuerySet[Instance]:
    # The job's script stays where it is: it may have a megabyte.
    return Instance.objects.filter(status=status).select_related("job").defer(*LARGE_OF_JOB)


def _moment(instance: Instance) -> datetime:
    return instance.retry_at or instance.due_at


def _row(instance: Instance, hold: holds.HoldView) -> WaitingRow:
    return WaitingRow(
        instance_id=instance.pk,
        job_id=instance.job_id,
        job_name=instance.job.name,
        look=looks.of_instance(instance.status, stopping=False),
        since=instance.queued_at or instance.created_at,
        sentence=hold.sentence,
        starts_at=whole_second(hold.predicted_start),
        unknown_because=hold.unknown_because,
    )


def whole_second(moment: datetime | None) -> datetime | None:
    """Rounded: a prediction that moves by milliseconds is the same to a reader, and must not be sent again."""
    return None if moment is None else (moment + timedelta(milliseconds=500)).replace(microsecond=0)
