"""The near part of the database, for the engine's memory: what is due soon and the first of the queue.

The database is the truth and the heap a cache of it, so memory does not grow with what is planned or waits.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max, Min, Q, QuerySet

from jobs import models
from jobs.core.graph import Graph
from jobs.core.inputs import Input, InstanceSeen, JobChanged, ScheduleChanged
from jobs.core.states import Status
from jobs.store import limits, read
from jobs.store.queuewindow import QueueWindow
from jobs.store.schedules import is_under_way, policy_of, trigger_of

SPAN = timedelta(minutes=10)


@dataclass(slots=True)
class Horizon:
    """`until`: everything due up to then is loaded. `reload_at`: when something beyond it is to be fetched, if ever."""

    until: datetime
    reload_at: datetime | None = None
    queue: QueueWindow = field(default_factory=QueueWindow)

    def takes(self, row: models.Instance, graph: Graph) -> bool:
        """Whether the engine is told of this instance now. The others are noted, and found when their time comes.

        What waits for others ends with them, however far its own moment is.
        """
        if row.status == Status.QUEUED:
            return self.queue.takes(row)
        due_at = {Status.PENDING: row.due_at, Status.RETRYING: row.retry_at}.get(Status(row.status))
        if due_at is None or due_at <= self.until or graph.upstreams(row.job_id):
            return True
        self.reload_at = min(self.reload_at or due_at, due_at - SPAN / 2)
        return False


def load(now: datetime, queue: QueueWindow | None = None) -> tuple[Horizon, list[Input]]:
    """Everything up to the horizon, jobs before what refers to them. `queue`: what is loaded of it already."""
    horizon = Horizon(now + SPAN, queue=queue or QueueWindow())
    queued = horizon.queue.load() if queue is None else []
    schedules = list(active_schedules().filter(Q(next_at__lte=horizon.until) | Q(next_at__isnull=True)))
    graph = read.workflows()
    live = read.with_upstreams([*_due_before(horizon.until), *_running(), *queued], graph)
    job_ids = {row.job_id for row in schedules} | {row.job_id for row in live}
    inputs: list[Input] = [limits.load(), *(JobChanged(job) for job in read.jobs(job_ids, graph))]
    inputs += [InstanceSeen(read.instance(row)) for row in live]
    inputs += [schedule(row) for row in schedules]
    horizon.reload_at = _reload_at(horizon.until)
    return horizon, inputs


def schedule(row: models.Schedule) -> ScheduleChanged:
    """A schedule as the engine is told of it. One that cannot be read is told with a trigger that says so."""
    decided_until = max(row.watched_from, row.last_logical_at or row.watched_from)
    told = ScheduleChanged(row.pk, row.job_id, _trigger(row), decided_until, policy_of(row), row.zone, row.next_at)
    if row.type != models.Schedule.Type.FIXED_DELAY or row.next_at is not None:
        return told
    if is_under_way(row.job_id):
        return replace(told, waits_for_end=True)
    # An end that nobody took note of, such as a cancel while no service ran; or, noted long ago, the last before the
    # schedule's own: without its row, which old ones lose, the schedule would seem to have time for one more.
    ended_at = models.Instance.objects.filter(job_id=row.job_id).aggregate(at=Max("ended_at"))["at"]
    if ended_at is None or ended_at < decided_until:
        return replace(told, end_is_gone=True)
    return replace(told, watched_from=ended_at)


def active_schedules() -> QuerySet[models.Schedule]:
    """Those that may fire: not set aside, their job not paused, and with a fire to come or an end that makes one."""
    follows = Q(next_at__isnull=True, type=models.Schedule.Type.FIXED_DELAY)
    rows = models.Schedule.objects.filter(Q(next_at__isnull=False) | follows, fault="", job__paused_at__isnull=True)
    return rows.select_related("calendar")


def _trigger(row: models.Schedule) -> Any:
    try:
        return trigger_of(row)
    except Exception as error:  # noqa: BLE001 - a row written past the validation must not stop the others
        return Unreadable(error)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands in for the trigger of a row that cannot be understood: raises, so that the engine flags the row."""

    error: Exception

    def next_after(self, moment: datetime) -> datetime | None:  # noqa: ARG002 - the port's signature
        raise self.error

    def describe(self) -> str:
        return f"cannot be read: {self.error}"


def _due_before(until: datetime) -> list[models.Instance]:
    """And what waits for others, whenever it is due."""
    rows = models.Instance.objects
    pending = rows.filter(status=Status.PENDING)
    return [
        *pending.filter(due_at__lte=until),
        *pending.filter(due_at__gt=until, job__in=models.Dependency.objects.values("job")),
        *rows.filter(status=Status.RETRYING, retry_at__lte=until),
    ]


def _running() -> list[models.Instance]:
    return list(models.Instance.objects.filter(status=Status.RUNNING))


def _reload_at(until: datetime) -> datetime | None:
    """Half a span before the first thing that is due beyond the horizon; None when there is none."""
    rows = models.Instance.objects
    firsts = [
        active_schedules().filter(next_at__gt=until).aggregate(at=Min("next_at"))["at"],
        rows.filter(status=Status.PENDING, due_at__gt=until).aggregate(at=Min("due_at"))["at"],
        rows.filter(status=Status.RETRYING, retry_at__gt=until).aggregate(at=Min("retry_at"))["at"],
    ]
    moments = [at for at in firsts if at is not None]
    return min(moments) - SPAN / 2 if moments else None
