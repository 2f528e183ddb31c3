import pytest
from django.conf import settings

from jobs.actions import NotFound, Refused, delete_job, retry_instance
from jobs.models import Attempt, Instance, Job, Node, Schedule
from jobs.store import removal
from tests.actions.places import HOURLY, NOW, events, make_instance, make_job

pytestmark = pytest.mark.django_db


def test_job_goes_with_its_history():
    job, other = make_job(**HOURLY), make_job("other")
    ended, kept = make_instance(job, "failed"), make_instance(other, "failed")
    node = Node.objects.create(name="alpha", cores=[0])
    Attempt.objects.create(
        instance=ended, number=1, token="t", status="ended", outcome="failed", node=node, created_at=NOW, ended_at=NOW
    )
    assert delete_job(job.pk, actor="ada", now=NOW).gone
    assert list(Job.objects.all()) == [other]
    assert list(Instance.objects.all()) == [kept]
    assert not Schedule.objects.exists()
    assert events()[-1] == "job.deleted"


def test_logs_go_too():
    job = make_job()
    folder = settings.DATA_DIR / "runs" / str(make_instance(job, "success").pk) / "1-abcdefgh"
    folder.mkdir(parents=True)
    delete_job(job.pk, actor="ada", now=NOW)
    assert not folder.parent.exists()


def test_long_history_goes_in_portions(monkeypatch):
    monkeypatch.setattr(removal, "PORTION", 2)
    job = make_job()
    ended = [make_instance(job, "failed") for _ in range(5)]
    Instance.objects.filter(pk=ended[4].pk).update(retry_of=ended[0])
    assert delete_job(job.pk, actor="ada", now=NOW).gone
    assert not Instance.objects.exists()


def test_live_instances_are_asked_about():
    job = make_job()
    make_instance(job, "queued")
    make_instance(job, "running")
    with pytest.raises(Refused, match="2 instances that have not ended"):
        delete_job(job.pk, actor="ada", now=NOW)
    assert not Job.objects.get().paused


def test_waiting_instances_are_cancelled_first():
    job = make_job()
    make_instance(job, "queued")
    assert delete_job(job.pk, actor="ada", now=NOW, cancel_live=True).cancelled == 1
    assert not Job.objects.exists()


def test_job_is_not_deleted_under_a_process():
    job = make_job(**HOURLY)
    running = make_instance(job, "running")
    make_instance(job, "success")
    answer = delete_job(job.pk, actor="ada", now=NOW, cancel_live=True)
    assert (answer.gone, answer.running) == (False, 1)
    assert Job.objects.get().paused
    assert Instance.objects.count() == 2
    Instance.objects.filter(pk=running.pk).update(status="cancelled", token="", ended_at=NOW)
    assert delete_job(job.pk, actor="ada", now=NOW).gone


def test_instance_that_came_meanwhile_keeps_the_job(monkeypatch):
    job = make_job()
    ended = make_instance(job, "failed")
    monkeypatch.setattr(removal, "remove_some_history", lambda _: retry_instance(ended.pk, actor="b", now=NOW) and [])
    assert delete_job(job.pk, actor="ada", now=NOW).running == 2
    assert Job.objects.exists()


def test_job_that_is_gone_is_not_found():
    with pytest.raises(NotFound):
        delete_job(4711, actor="ada", now=NOW)
