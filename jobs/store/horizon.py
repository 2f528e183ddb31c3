"""The near part of the database, for the engine's memory: what is due soon and the first of the queue.

The database is the truth and the heap a cache of it, so memory does not grow with what is planned or waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max, Min, Q, QuerySet

from jobs import models
from jobs.core.inputs import Input, InstanceSeen, JobChanged, ScheduleChanged
from jobs.core.states import Status
from jobs.store import limits, read
from jobs.store.schedules import is_under_way, policy_of, trigger_of

SPAN = timedelta(minutes=10)
QUEUE_WINDOW = 5_000


@dataclass(slots=True)
class Horizon:
    """`until`: everything due up to then is loaded. `reload_at`: when something beyond it has to be fetched, if ever.

    `last_place`: where the loaded part of the queue ends, None when all of it is loaded. `queued`: how many of it were
    loaded, and came since.
    """

    until: datetime
    reload_at: datetime | None = None
    last_place: tuple[int, int] | None = None
    queued: int = 0

    def takes(self, row: models.Instance) -> bool:
        """Whether the engine is told of this instance now. The others are noted, and found when their time comes."""
        if row.status == Status.QUEUED:
            return self._takes_queued(row)
        due_at = {Status.PENDING: row.due_at, Status.RETRYING: row.retry_at}.get(Status(row.status))
        if due_at is None or due_at <= self.until:
            return True
        self.reload_at = min(self.reload_at or due_at, due_at - SPAN / 2)
        return False

    def _takes_queued(self, row: models.Instance) -> bool:
        if self.last_place is not None and _place(row) > self.last_place:
            return False
        self.queued += 1
        if self.queued >= 2 * QUEUE_WINDOW and self.last_place is None:
            self.last_place = _place(row)
        return True


def load(now: datetime) -> tuple[Horizon, list[Input]]:
    """Everything up to the horizon, jobs before what refers to them."""
    horizon = Horizon(until=now + SPAN)
    schedules = list(active_schedules().filter(Q(next_at__lte=horizon.until) | Q(next_at__isnull=True)))
    graph = read.workflows()
    live = read.with_upstreams([*_due_before(horizon.until), *_running(), *_queue(horizon)], graph)
    job_ids = {row.job_id for row in schedules} | {row.job_id for row in live}
    inputs: list[Input] = [limits.load(), *(JobChanged(job) for job in read.jobs(job_ids, graph))]
    inputs += [InstanceSeen(read.instance(row)) for row in live]
    inputs += [schedule(row) for row in schedules]
    horizon.reload_at = _reload_at(horizon.until)
    return horizon, inputs


def schedule(row: models.Schedule) -> ScheduleChanged:
    """A schedule as the engine is told of it. One that cannot be read is told with a trigger that says so."""
    decided_until = max(row.watched_from, row.last_logical_at or row.watched_from)
    waits_for_end = False
    if row.type == models.Schedule.Type.FIXED_DELAY and row.next_at is None:
        decided_until, waits_for_end = _end_of_last(row.job_id, decided_until)
    trigger, policy = _trigger(row), policy_of(row)
    return ScheduleChanged(row.pk, row.job_id, trigger, decided_until, policy, row.zone, row.next_at, waits_for_end)


def _end_of_last(job_id: int, since: datetime) -> tuple[datetime, bool]:
    """When the last run of the job ended, at the earliest `since`, and whether one has not ended.

    An end that nobody took note of, such as a cancel while no service ran.
    """
    if is_under_way(job_id):
        return since, True
    ended_at = models.Instance.objects.filter(job_id=job_id).aggregate(at=Max("ended_at"))["at"]
    return max(since, ended_at or since), False


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
    rows = models.Instance.objects
    pending = rows.filter(status=Status.PENDING, due_at__lte=until)
    return [*pending, *rows.filter(status=Status.RETRYING, retry_at__lte=until)]


def _running() -> list[models.Instance]:
    return list(models.Instance.objects.filter(status=Status.RUNNING))


def _queue(horizon: Horizon) -> list[models.Instance]:
    rows = list(startable()[: QUEUE_WINDOW + 1])
    if len(rows) > QUEUE_WINDOW:
        rows.pop()
        horizon.last_place = _place(rows[-1])
    horizon.queued = len(rows)
    return rows


def startable() -> QuerySet[models.Instance]:
    """The queue in its order, without those of paused jobs: a front of them would hide everybody behind it."""
    rows = models.Instance.objects.filter(status=Status.QUEUED, job__paused_at__isnull=True)
    return rows.order_by("order_key", "id")


def _place(row: models.Instance) -> tuple[int, int]:
    return (row.order_key or 0, row.pk)


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
