from datetime import timedelta

import pytest
from django.conf import settings

from jobs.actions import (
    InvalidInput,
    NotFound,
    Refused,
    change_job,
    create_job,
    delete_job,
    plan_backfill,
    resume_job,
    retry_instance,
    run_job,
)
from jobs.models import Attempt, Backfill, Dependency, Instance, Job, Node, Schedule
from jobs.service.deletions import finish_requested
from jobs.store import leaving, removal, wishes
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
    assert leaving.finish(job.pk, actor="ada", now=NOW) == (0, 0)
    assert not Job.objects.exists()


@pytest.fixture
def leaver():
    """A job that is being deleted while an instance of it runs."""
    job = make_job(**HOURLY)
    make_instance(job, "running")
    delete_job(job.pk, actor="ada", now=NOW, cancel_live=True)
    return job


def test_job_being_deleted_does_not_come_back(leaver):
    ended = make_instance(leaver, "failed")
    wishes = [
        lambda: resume_job(leaver.pk, actor="b", now=NOW),
        lambda: run_job(leaver.pk, actor="b", now=NOW),
        lambda: change_job(leaver.pk, {"cores": 2}, actor="b", now=NOW),
        lambda: retry_instance(ended.pk, actor="b", now=NOW),
        lambda: plan_backfill(leaver.pk, NOW - timedelta(hours=3), NOW, now=NOW),
    ]
    for wish in wishes:
        with pytest.raises(Refused, match="is being deleted"):
            wish()
    assert Job.objects.get().paused


def test_what_came_of_it_meanwhile_is_cancelled(leaver):
    waiting = make_instance(leaver, "queued")
    assert leaving.finish(leaver.pk, actor="ada", now=NOW) == (1, 1)
    waiting.refresh_from_db()
    assert waiting.status == "cancelled"


def test_no_job_waits_for_one_being_deleted(leaver):
    with pytest.raises(InvalidInput, match="There is no job"):
        create_job({"name": "next", "command": "true", "depends_on": [leaver.name]}, actor="b", now=NOW)


def test_interrupted_deletion_goes_on(monkeypatch):
    job = make_job()
    make_instance(job, "failed")
    monkeypatch.setattr(leaving, "finish", lambda *_, **__: (0, 0))  # as if the process had ended here
    delete_job(job.pk, actor="ada", now=NOW)
    monkeypatch.undo()
    assert [finish_requested(), finish_requested()] == [1, 0]
    assert not Job.objects.exists()


def test_deletion_ends_a_backfill_of_the_job():
    job = make_job(**HOURLY)
    make_instance(job, "running")
    first = NOW - timedelta(hours=3)
    backfill = Backfill.objects.create(
        job=job, first_at=first, last_at=NOW, next_at=first, concurrency=1, dates=3, created_by="b", created_at=NOW
    )
    delete_job(job.pk, actor="ada", now=NOW, cancel_live=True)
    backfill.refresh_from_db()
    assert backfill.status != Backfill.Status.RUNNING


def test_instance_that_came_meanwhile_keeps_the_job(monkeypatch):
    job = make_job()
    ended = make_instance(job, "failed")
    came = {"cause": Instance.Cause.RETRY, "actor": "b", "now": NOW, "retry_of": ended}
    monkeypatch.setattr(removal, "remove_some_history", lambda _: wishes.submit(job, **came) and [])
    assert delete_job(job.pk, actor="ada", now=NOW).running == 2
    assert Job.objects.exists()


def test_job_that_is_gone_is_not_found():
    with pytest.raises(NotFound):
        delete_job(4711, actor="ada", now=NOW)


@pytest.mark.usefixtures("each_database")
def test_job_that_ran_goes_by_itself_on_each_database():
    job = make_job()
    running, _ = make_instance(job, "running"), make_instance(job, "success")
    assert delete_job(job.pk, actor="ada", now=NOW, cancel_live=True).running == 1
    assert finish_requested() == 0
    Instance.objects.filter(pk=running.pk).update(status="cancelled", token="", ended_at=NOW)
    assert finish_requested() == 1
    assert not Job.objects.exists()


def test_release_takes_the_job_out_before_it_ends():
    job = make_job()
    make_instance(job, "running")
    create_job({"name": "next", "command": "true", "depends_on": [job.name]}, actor="b", now=NOW)
    delete_job(job.pk, actor="ada", now=NOW, cancel_live=True, release=True)
    assert not Dependency.objects.exists()
    assert events().count("job.delete_requested") == 1
