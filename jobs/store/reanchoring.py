"""What is stored as a moment of a clock that was then set: schedules that wait for a time that lies years ahead, waits
that would last as long, and the places of those that queued."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet

from jobs.core import retry
from jobs.core.order import BAND, LEVELS, MICROSECOND
from jobs.core.states import WAITING, Status
from jobs.models import Attempt, Instance, Job, Schedule
from jobs.store import schedules
from jobs.store.events import NewEvent, record

AT_ONCE = 200
_MILLISECOND = timedelta(milliseconds=1)


def count_ahead(now: datetime) -> int:
    """How many schedules `reanchor` would begin anew."""
    return _ahead(now).count()


def reanchor(now: datetime, actor: str) -> None:
    """Begin anew with every schedule that has got more than `FOLLOWED_BACK` ahead of the clock."""
    ids = list(_ahead(now).order_by("pk").values_list("pk", flat=True))
    for begin in range(0, len(ids), AT_ONCE):
        with transaction.atomic():
            rows = _ahead(now).filter(pk__in=ids[begin : begin + AT_ONCE]).order_by("pk")
            rows = rows.select_related("calendar").select_for_update(of=("self",))
            record([_reanchored(schedule, now, actor) for schedule in rows])


def reach_former_marks(now: datetime) -> None:
    """The clock is past where it was before it had been set back: what was decided then stays decided."""
    rows = Schedule.objects.filter(former_mark_at__lte=now)
    # Short intervals were moved by a microsecond each time: a date that has run must not come again beside itself.
    # A fixed delay stands at a moment of its own, which would be refused as one before it was watched.
    behind = rows.filter(watched_from__lt=F("former_mark_at")).exclude(type=Schedule.Type.FIXED_DELAY)
    behind.update(watched_from=F("former_mark_at") + _MILLISECOND)
    rows.update(former_mark_at=None)


def keep_delays(now: datetime) -> None:
    """No fixed delay is longer than it says: counted from an end before the clock was set back, it would be."""
    far = Schedule.objects.filter(type=Schedule.Type.FIXED_DELAY, next_at__gt=now, fault="")
    for schedule in far.select_related("calendar"):
        following = schedules.first_from(schedule, max(now, schedule.last_logical_at or now))
        if following is not None and schedule.next_at is not None and schedule.next_at > following:
            Schedule.objects.filter(pk=schedule.pk, next_at__gt=following).update(next_at=following)


def keep_waits(node_id: int, set_by: timedelta) -> None:
    """A wait for a retry takes as long as it was to, whatever became of the clock: those that this node began."""
    last = Attempt.objects.filter(instance=OuterRef("pk"), number=OuterRef("attempt_count"), node_id=node_id)
    waiting = Instance.objects.filter(Exists(last), status=Status.RETRYING)
    waiting.update(retry_at=F("retry_at") + set_by)


def bound_waits(now: datetime) -> None:
    """No wait for a retry is longer than its job says: the clock may have been set back while nothing ran here."""
    waiting = Instance.objects.filter(status=Status.RETRYING)
    lost = retry.LOST_WAIT_SECONDS * retry.LOST_WAIT_GROWTH ** (retry.LOST_BUDGET - 1)
    for seconds in set(waiting.values_list("job__retry_max_delay_seconds", flat=True)):
        latest = now + timedelta(seconds=max(seconds, lost))
        of_them = Job.objects.filter(retry_max_delay_seconds=seconds)
        waiting.filter(retry_at__gt=latest, job__in=of_them).update(retry_at=latest)


def keep_places(now: datetime) -> None:
    """Nobody was queued in the future: what was queued before the clock was set back stays before what comes now."""
    ahead = Instance.objects.filter(status__in=WAITING, queued_at__gt=now)
    latest = ahead.aggregate(at=Max("queued_at"))["at"]
    if latest is None:
        return
    by = latest - now
    with transaction.atomic():
        _by_time(ahead).update(order_key=F("order_key") - by // MICROSECOND)
        ahead.update(queued_at=F("queued_at") - by)


def _by_time(rows: QuerySet[Instance]) -> QuerySet[Instance]:
    """Those whose place is a moment: a deadline stays where it is, and shares are not of time."""
    if settings.ORDER == "fair":
        return rows.none()
    return rows.filter(order_key__gte=LEVELS * BAND) if settings.ORDER == "edf" else rows


def clock_of_database() -> datetime | None:
    """PostgreSQL's own, which may be on another machine; None where it is the one that we read ourselves."""
    if connection.vendor != "postgresql":
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (at,) = cursor.fetchone()
        return at  # type: ignore[no-any-return]  # the driver's answer has no type


def _ahead(now: datetime) -> QuerySet[Schedule]:
    """A `once` that has happened, or is none, waits for nothing."""
    mark = now + schedules.FOLLOWED_BACK
    over = Q(type=Schedule.Type.ONCE) & (Q(last_logical_at__isnull=False) | Q(start_at__isnull=True))
    return Schedule.objects.filter(Q(last_logical_at__gt=mark) | Q(watched_from__gt=mark)).exclude(over)


def _reanchored(schedule: Schedule, now: datetime, actor: str) -> NewEvent:
    paused = Job.objects.filter(pk=schedule.job_id, paused_at__isnull=False).exists()
    fault = schedule.fault
    schedules.watch(schedule, now, paused=paused or bool(fault))
    if fault:
        Schedule.objects.filter(pk=schedule.pk).update(fault=fault)
    data = {"schedule": schedule.pk, "former_mark": schedule.former_mark_at and schedule.former_mark_at.isoformat()}
    return NewEvent(now, "schedule.reanchored", schedule.job_id, actor=actor, data=data)
