"""What is stored by a clock that was then set back, mended: on both databases."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from jobs import actions, models
from jobs.store import horizon, reanchoring, schedules, wishes
from jobs.store.queuewindow import startable
from jobs.store.specs import ScheduleSpec
from tests.store.benches import NOW, at

HOUR, YEARS = timedelta(hours=1), timedelta(days=5 * 365)
BACK = NOW - YEARS

pytestmark = pytest.mark.usefixtures("each_database")


def create(type_: str, expression: str = "", now=NOW - HOUR, **fields) -> models.Schedule:
    job = models.Job.objects.create(name=f"job {models.Job.objects.count()}", body="true", created_at=now)
    schedules.insert(job, ScheduleSpec(type_, expression, "UTC", **fields), now)
    return models.Schedule.objects.get(job=job)


def fired(schedule: models.Schedule, last=NOW) -> models.Schedule:
    models.Schedule.objects.filter(pk=schedule.pk).update(last_logical_at=last, next_at=last + HOUR)
    schedule.refresh_from_db()
    return schedule


def reanchor(schedule: models.Schedule, now=BACK) -> models.Schedule:
    with transaction.atomic():
        reanchoring.reanchor(now, "node:here")
    schedule.refresh_from_db()
    return schedule


def next_of(schedule: models.Schedule):
    told = horizon.schedule(schedule)
    return told.trigger.next_after(told.watched_from)


@pytest.mark.parametrize(("type_", "expression", "within"), [
    ("interval", "20s", timedelta(seconds=20)),
    ("interval", "1d", timedelta(days=1)),
    ("cron", "*/5 * * * *", timedelta(minutes=5)),
    ("cron", "0 3 * * *", timedelta(days=1)),
    ("daily", "03:00", timedelta(days=1)),
    ("weekly", "mon 03:00", timedelta(days=7)),
])  # fmt: skip
def test_schedule_set_back_by_years_goes_on(type_, expression, within):
    schedule = reanchor(fired(create(type_, expression)))
    assert BACK < schedule.next_at <= BACK + within
    assert next_of(schedule) == schedule.next_at
    assert (schedule.watched_from, schedule.last_logical_at, schedule.former_mark_at) == (BACK, None, NOW)
    assert models.Event.objects.get(kind="schedule.reanchored").data["former_mark"] == NOW.isoformat()


def test_interval_keeps_its_phase():
    schedule = reanchor(fired(create("interval", "1d", now=NOW - timedelta(days=2, hours=7))))
    assert (NOW - 7 * HOUR - schedule.next_at) % timedelta(days=1) == timedelta(0)


def test_short_interval_does_not_meet_its_own_dates():
    schedule = create("interval", "20s")
    dates = [NOW - HOUR + n * timedelta(seconds=20) for n in range(1000)]
    schedule = reanchor(fired(schedule, dates[-1]), NOW - HOUR + timedelta(seconds=7))
    assert schedule.next_at not in dates
    assert schedule.next_at - NOW + HOUR < timedelta(seconds=28)


def test_interval_with_a_start_goes_on_before_it():
    schedule = reanchor(fired(create("interval", "20s", start_at=NOW - HOUR / 2)))
    assert next_of(schedule) == schedule.next_at <= BACK + timedelta(seconds=20)


def test_interval_whose_start_is_to_come_waits_for_it():
    start = NOW + HOUR
    schedule = reanchor(create("interval", "20s", now=NOW, start_at=start))
    assert (schedule.next_at, schedule.watched_from) == (start, BACK)


def test_once_to_come_stays_where_it_is():
    schedule = reanchor(create("once", now=NOW, start_at=NOW + HOUR))
    assert schedule.next_at == NOW + HOUR


def test_once_that_happened_does_not_come_again():
    schedule = create("once", now=NOW, start_at=NOW + HOUR)
    models.Schedule.objects.filter(pk=schedule.pk).update(last_logical_at=NOW + HOUR, next_at=None)
    assert reanchor(schedule).next_at is None
    assert not models.Event.objects.filter(kind="schedule.reanchored").exists()


def test_schedule_within_three_hours_waits_for_its_mark():
    schedule = fired(create("interval", "20s"))
    before = schedule.next_at
    assert reanchor(schedule, NOW - 3 * HOUR).next_at == before
    assert next_of(schedule) > NOW


def test_paused_one_stays_paused_and_goes_on_when_resumed():
    schedule = fired(create("interval", "20s"))
    actions.pause_job(schedule.job_id, actor="ann", now=NOW)
    assert reanchor(schedule).next_at is None
    actions.resume_job(schedule.job_id, actor="ann", now=BACK)
    schedule.refresh_from_db()
    assert next_of(schedule) <= BACK + timedelta(seconds=20)


def test_faulty_one_keeps_its_fault():
    schedule = fired(create("interval", "20s"))
    models.Schedule.objects.filter(pk=schedule.pk).update(fault="cannot be read", next_at=None)
    assert (reanchor(schedule).fault, schedule.next_at) == ("cannot be read", None)


def test_unreadable_one_is_set_aside_and_others_go_on():
    bad, good = fired(create("interval", "20s")), fired(create("interval", "20s"))
    models.Schedule.objects.filter(pk=bad.pk).update(expression="whenever")
    assert reanchor(good).next_at <= BACK + timedelta(seconds=20)
    bad.refresh_from_db()
    assert "whenever" in bad.fault


def test_edit_after_the_clock_was_set_back_goes_on_too():
    schedule = fired(create("daily", "03:00"))
    schedules.watch(schedule, BACK, paused=False)
    assert next_of(schedule) == schedule.next_at < BACK + timedelta(days=1)


def test_clock_that_is_right_again_repeats_nothing():
    schedule = reanchor(fired(create("interval", "1h")))
    reanchoring.reach_former_marks(NOW - HOUR)
    schedule.refresh_from_db()
    assert schedule.watched_from == BACK
    reanchoring.reach_former_marks(NOW + HOUR)
    schedule.refresh_from_db()
    assert (schedule.watched_from - NOW < timedelta(seconds=1), schedule.former_mark_at) == (True, None)
    assert next_of(schedule) - NOW - HOUR < timedelta(seconds=1) < next_of(schedule) - NOW


# --- the database itself ---


def refused(schedule: models.Schedule, **columns) -> bool:
    try:
        with transaction.atomic():
            models.Schedule.objects.filter(pk=schedule.pk).update(**columns)
    except IntegrityError:
        return True
    return False


@pytest.mark.parametrize(("columns", "may"), [
    ({"last_logical_at": None, "watched_from": BACK, "former_mark_at": NOW}, True),
    ({"last_logical_at": None, "watched_from": BACK}, False),
    ({"last_logical_at": None, "former_mark_at": NOW}, True),
    ({"last_logical_at": None, "watched_from": NOW, "former_mark_at": NOW}, False),
    ({"last_logical_at": None, "watched_from": BACK, "former_mark_at": NOW - HOUR}, False),
    ({"last_logical_at": BACK, "watched_from": BACK, "former_mark_at": NOW}, False),
    ({"last_logical_at": NOW - HOUR}, False),
    ({"last_logical_at": None}, False),
    ({"last_logical_at": NOW + HOUR}, True),
])  # fmt: skip
def test_mark_is_given_up_only_as_a_whole(columns, may):
    assert refused(fired(create("interval", "20s")), **columns) is not may


# --- what waits ---


def failed_once(node: models.Node, retry_at, **fields) -> models.Instance:
    job = models.Job.objects.create(name=f"job {models.Job.objects.count()}", body="false", created_at=NOW)
    instance = models.Instance.objects.create(
        job=job, logical_at=NOW, due_at=NOW, created_at=NOW, queued_at=NOW, order_key=10**15, cause="manual",
        status="retrying", retry_at=retry_at, attempt_count=1, **fields,
    )  # fmt: skip
    models.Attempt.objects.create(
        instance=instance, number=1, token=str(instance.pk), node=node, status="ended", outcome="failed",
        created_at=NOW, ended_at=NOW,
    )  # fmt: skip
    return instance


@pytest.mark.parametrize("set_by", [HOUR, -HOUR, -YEARS])
def test_wait_for_a_retry_takes_as_long_as_before(set_by):
    here, there = (models.Node.objects.create(name=name) for name in ("here", "there"))
    own, other = failed_once(here, at(60)), failed_once(there, at(60))
    reanchoring.keep_waits(here.pk, set_by)
    own.refresh_from_db()
    other.refresh_from_db()
    assert (own.retry_at, other.retry_at) == (at(60) + set_by, at(60))


def test_wait_for_a_retry_is_never_longer_than_promised():
    node = models.Node.objects.create(name="here")
    far, near = failed_once(node, NOW), failed_once(node, BACK + HOUR)
    reanchoring.bound_waits(BACK)
    for instance in (far, near):
        instance.refresh_from_db()
    assert (far.retry_at, near.retry_at) == (BACK + HOUR, BACK + HOUR)


@pytest.mark.parametrize("order", ["fifo", "priority", "aging", "edf"])
def test_queue_keeps_its_order_and_stays_before_what_comes(order, settings):
    settings.ORDER = order
    job = models.Job.objects.create(name="j", body="true", created_at=NOW)
    early, late = (submit(job, at(seconds)) for seconds in (0, 1))
    reanchoring.keep_places(BACK)
    new = submit(job, BACK + timedelta(seconds=1))
    queue = list(startable().values_list("pk", flat=True))
    assert queue == [early.pk, late.pk, new.pk]
    late.refresh_from_db()
    assert late.queued_at == BACK


def submit(job, now):
    return wishes.submit(job, cause="manual", actor="ann", now=now)


def test_delay_is_never_longer_than_it_says():
    schedule = create("fixed_delay", "10m")
    models.Schedule.objects.filter(pk=schedule.pk).update(next_at=NOW + timedelta(minutes=10))
    reanchoring.keep_delays(NOW)
    schedule.refresh_from_db()
    assert schedule.next_at == NOW + timedelta(minutes=10)
    reanchoring.keep_delays(NOW - HOUR)
    schedule.refresh_from_db()
    assert schedule.next_at == NOW - HOUR + timedelta(minutes=10)


def test_database_says_what_time_it_is(each_database):
    assert (reanchoring.clock_of_database() is None) == (each_database == "sqlite")
