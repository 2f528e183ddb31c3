"""What the engine is told of changes by others, and that looking costs nothing when there are none."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs import actions, models
from jobs.core.inputs import InstanceGone, InstanceSeen, JobChanged, JobGone, ScheduleChanged, ScheduleGone
from jobs.service import registration
from jobs.service.follow import Follower
from jobs.service.loop import utc_now
from jobs.store import changes, queuewindow, wishes

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def follower() -> Follower:
    follower = Follower("node:here", 1)
    follower.begin(utc_now())
    return follower


def create(**fields):
    raw = {"name": f"job {models.Job.objects.count()}", "kind": "command", "command": "true", **fields}
    return actions.create_job(raw, actor="ann", now=utc_now())


def kinds(told):
    return [type(one) for one in told]


def test_submitted_instance_is_told_after_its_job(follower):
    created = create(schedule_type="once")
    told = follower.look(utc_now(), poked=True)
    assert kinds(told).index(JobChanged) < kinds(told).index(InstanceSeen)
    assert [t.instance.id for t in told if isinstance(t, InstanceSeen)] == [created.instance_id]


def test_scheduled_job_is_told_with_its_trigger(follower):
    create(schedule_type="interval", schedule_expression="5m")
    (told,) = [t for t in follower.look(utc_now(), poked=True) if isinstance(t, ScheduleChanged)]
    assert told.trigger.next_after(told.watched_from) == models.Schedule.objects.get().next_at


def test_paused_schedule_is_gone(follower):
    job_id = create(schedule_type="interval", schedule_expression="5m").job_id
    follower.look(utc_now(), poked=True)
    actions.pause_job(job_id, actor="ann", now=utc_now())
    told = follower.look(utc_now(), poked=True)
    assert ScheduleGone(job_id) in told
    assert ScheduleChanged not in kinds(told)


def test_deleted_job_is_gone(follower):
    job_id = create(schedule_type="interval", schedule_expression="5m").job_id
    follower.look(utc_now(), poked=True)
    actions.delete_job(job_id, actor="ann", now=utc_now())
    assert JobGone(job_id) in follower.look(utc_now(), poked=True)


def test_deleted_instance_is_gone(follower):
    instance_id = create(schedule_type="once").instance_id
    models.Instance.objects.all().delete()
    assert InstanceGone(instance_id) in follower.look(utc_now(), poked=True)


def test_own_events_are_not_read_again(follower):
    create(schedule_type="once")
    models.Event.objects.update(actor="node:here")
    assert follower.look(utc_now(), poked=True) == []


def test_nothing_is_told_twice(follower):
    create(schedule_type="once")
    follower.look(utc_now(), poked=True)
    assert follower.look(utc_now(), poked=True) == []


def test_look_without_changes_asks_no_table(follower):
    follower.look(utc_now(), poked=False)
    with CaptureQueriesContext(connection) as captured:
        assert follower.look(utc_now(), poked=False) == []
    assert [query["sql"] for query in captured.captured_queries] == ["PRAGMA data_version"]


def test_far_instance_is_found_when_its_time_comes(follower):
    now = utc_now()
    job = models.Job.objects.get(pk=create(schedule_type="interval", schedule_expression="1d").job_id)
    far = now + timedelta(hours=3)
    instance = wishes.submit(job, cause="manual", actor="ann", now=now, due_at=far)
    assert InstanceSeen not in kinds(follower.look(utc_now(), poked=True))
    reload_at = follower.horizon.reload_at
    assert now < reload_at < far
    assert [t.instance.id for t in follower.load(reload_at) if isinstance(t, InstanceSeen)] == [instance.pk]


def test_queue_is_loaded_from_its_front(follower, monkeypatch):
    monkeypatch.setattr(queuewindow, "WIDTH", 2)
    ids = [create(schedule_type="once").instance_id for _ in range(4)]
    told = [t.instance.id for t in follower.load(utc_now()) if isinstance(t, InstanceSeen)]
    assert told == ids[:2]


def test_unreadable_schedule_is_told_so_that_it_is_flagged(follower):
    job_id = create(schedule_type="interval", schedule_expression="5m").job_id
    models.Schedule.objects.filter(job_id=job_id).update(zone="Nowhere/Atall")
    (told,) = [t for t in follower.load(utc_now()) if isinstance(t, ScheduleChanged)]
    with pytest.raises(Exception, match="Nowhere/Atall"):
        told.trigger.next_after(utc_now())


def test_wish_between_look_and_reload_is_seen(follower):
    instance_id = create(schedule_type="once").instance_id
    follower.look(utc_now(), poked=True)
    actions.cancel_instance(instance_id, actor="ann", now=utc_now())
    follower.load(utc_now())
    assert instance_id in [t.instance.id for t in follower.look(utc_now(), poked=True) if isinstance(t, InstanceSeen)]


def test_queue_of_a_paused_job_hides_nobody(follower, monkeypatch):
    monkeypatch.setattr(queuewindow, "WIDTH", 2)
    paused = create(schedule_type="once")
    for _ in range(3):
        actions.run_job(paused.job_id, actor="ann", now=utc_now())
    actions.pause_job(paused.job_id, actor="ann", now=utc_now())
    other = create(schedule_type="once").instance_id
    assert [t.instance.id for t in follower.load(utc_now()) if isinstance(t, InstanceSeen)] == [other]
    follower.look(utc_now(), poked=True)
    actions.resume_job(paused.job_id, actor="ann", now=utc_now())
    told = [t.instance.job_id for t in follower.look(utc_now(), poked=True) if isinstance(t, InstanceSeen)]
    assert paused.job_id in told


def test_reason_of_another_engine_is_no_news(follower):
    create(schedule_type="once")
    follower.look(utc_now(), poked=True)
    models.Event.objects.create(at=utc_now(), kind="instance.held", instance_id=1, actor="node:there")
    assert follower.look(utc_now(), poked=True) == []


def test_flood_of_events_comes_in_portions(follower, monkeypatch):
    monkeypatch.setattr(changes, "AT_ONCE", 3)
    ids = [create(schedule_type="once").instance_id for _ in range(4)]
    seen = []
    while told := follower.look(utc_now(), poked=True):
        seen += [t.instance.id for t in told if isinstance(t, InstanceSeen)]
    assert set(seen) == set(ids)
    assert not follower.behind


def test_change_of_a_node_is_told_once(follower):
    node = models.Node.objects.create(name="here", cores=[0])
    actions.drain_node(node.pk, actor="ann", now=utc_now())
    follower.look(utc_now(), poked=True)
    assert follower.take_node_changed()
    assert not follower.take_node_changed()
    registration.keep_cores(node, 7, utc_now())  # by the reader itself
    follower.look(utc_now(), poked=True)
    assert not follower.take_node_changed()
