"""The near part of the database, for the engine's memory: what is due soon and the first of the queue.

The database is the truth and the heap a cache of it, so memory does not grow with what is planned or waits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Min, Q, QuerySet

from jobs import models
from jobs.core.inputs import Input, InstanceSeen, JobChanged, ScheduleChanged
from jobs.core.states import Status
from jobs.store import read
from jobs.store.schedules import trigger_of

SPAN = timedelta(minutes=10)
QUEUE_WINDOW = 5_000


@dataclass(slots=True)
class Horizon:
    """`until`: everything due up to then is loaded. `reload_at`: when something beyond it has to be fetched, if ever.

    `last_place`: where the loaded part of the queue ends, None when all of it is loaded.
    """

    until: datetime
    reload_at: datetime | None = None
    last_place: tuple[int, int] | None = None
    jobs: set[int] = field(default_factory=set)

    def covers(self, row: models.Instance) -> bool:
        """Whether the engine should be told of this instance now; the others are found when their time comes."""
        if row.status == Status.PENDING:
            return row.due_at <= self.until
        if row.status == Status.RETRYING:
            return row.retry_at is None or row.retry_at <= self.until
        if row.status == Status.QUEUED and self.last_place is not None and row.order_key is not None:
            return (row.order_key, row.pk) <= self.last_place
        return True


def load(now: datetime) -> tuple[Horizon, list[Input]]:
    """Everything up to the horizon, jobs before what refers to them."""
    horizon = Horizon(until=now + SPAN)
    schedules = list(_schedules().filter(next_at__lte=horizon.until))
    live = [*_due_before(horizon.until), *_running(), *_queue(horizon)]
    inputs: list[Input] = [JobChanged(job) for job in read.jobs({row.job_id for row in [*schedules, *live]})]
    inputs += [InstanceSeen(read.instance(row)) for row in live]
    inputs += [told for row in schedules for told in schedule(row)]
    horizon.reload_at = _next_beyond(horizon.until)
    return horizon, inputs


def schedule(row: models.Schedule) -> list[Input]:
    """A schedule as the engine is told of it. One that cannot be read is told with a trigger that says so."""
    return [ScheduleChanged(row.pk, row.job_id, _trigger(row), row.last_logical_at_or_watch())]


def _trigger(row: models.Schedule) -> Any:
    try:
        return trigger_of(row)
    except Exception as error:  # noqa: BLE001 - a row written past the validation must not stop the others
        return Unreadable(error)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands in for the trigger of a row that cannot be understood: raises, so that the engine flags the row."""

    error: Exception

    def next_after(self, moment: datetime) -> datetime | None:
        raise self.error

    def describe(self) -> str:
        return f"cannot be read: {self.error}"


def _schedules() -> QuerySet[models.Schedule]:
    return models.Schedule.objects.filter(fault="", job__paused_at__isnull=True)


def _due_before(until: datetime) -> list[models.Instance]:
    rows = models.Instance.objects.all()
    return [*rows.filter(status=Status.PENDING, due_at__lte=until), *rows.filter(status=Status.RETRYING, retry_at__lte=until)]


def _running() -> list[models.Instance]:
    return list(models.Instance.objects.filter(status=Status.RUNNING))


def _queue(horizon: Horizon) -> list[models.Instance]:
    queued = models.Instance.objects.filter(status=Status.QUEUED).order_by("order_key", "id")
    rows = list(queued[: QUEUE_WINDOW + 1])
    if len(rows) > QUEUE_WINDOW:
        rows.pop()
        horizon.last_place = (rows[-1].order_key or 0, rows[-1].pk)
    return rows


def _next_beyond(until: datetime) -> datetime | None:
    """The first moment after the horizon at which anything is due; to be loaded a span before, at the latest then."""
    first: list[Callable[[], datetime | None]] = [
        lambda: _schedules().filter(next_at__gt=until).aggregate(at=Min("next_at"))["at"],
        lambda: models.Instance.objects.filter(status=Status.PENDING, due_at__gt=until).aggregate(at=Min("due_at"))["at"],
        lambda: models.Instance.objects.filter(status=Status.RETRYING, retry_at__gt=until).aggregate(at=Min("retry_at"))["at"],
    ]
    moments = [at for query in first if (at := query()) is not None]
    return min(moments) if moments else None
