import pytest

from jobs import actions
from jobs.models import Attempt, Event, Instance
from tests.actions.places import NOW, make_instance, make_job

pytestmark = pytest.mark.django_db


def attempt_of(instance, status="ended", **fields):
    ended = {"outcome": "failed", "ended_at": NOW} if status == "ended" else {}
    make_instance(instance.job, "running")  # makes the node
    node = Instance.objects.get(status="running").node
    return Attempt.objects.create(
        instance=instance, number=1, token="t", status=status, node=node, created_at=NOW, **ended | fields
    )


def delete(instance):
    actions.delete_instance(instance.pk, actor="ann", now=NOW)


def test_ended_one_goes_with_its_attempts_and_log(settings, tmp_path, django_capture_on_commit_callbacks):
    settings.DATA_DIR = tmp_path
    instance = make_instance(make_job(), "failed")
    attempt_of(instance)
    log = tmp_path / "runs" / str(instance.pk) / "1-t" / "log"
    log.mkdir(parents=True)
    with django_capture_on_commit_callbacks() as after_commit:
        delete(instance)
    assert log.exists()
    for callback in after_commit:
        callback()
    assert not log.parent.parent.exists()
    assert not Attempt.objects.exists()
    assert not Instance.objects.filter(pk=instance.pk).exists()


def test_it_is_told_by_whom_it_was_deleted():
    instance = make_instance(make_job(), "failed")
    delete(instance)
    event = Event.objects.get(kind="instance.deleted")
    assert (event.instance_id, event.job_id, event.actor) == (instance.pk, instance.job_id, "ann")
    assert event.data == {"status": "failed", "logical_at": NOW.isoformat()}


@pytest.mark.parametrize("status", ["pending", "queued", "running", "retrying"])
def test_live_one_is_never_deleted(status):
    instance = make_instance(make_job(), status)
    with pytest.raises(actions.Refused, match="has not ended"):
        delete(instance)
    assert Instance.objects.filter(pk=instance.pk).exists()


def test_attempt_in_flight_keeps_its_instance():
    instance = make_instance(make_job(), "failed")
    attempt_of(instance, "running")
    with pytest.raises(actions.Refused):
        delete(instance)


def test_its_retry_stays_and_forgets_it():
    first = make_instance(make_job(), "failed")
    retry = make_instance(first.job, "queued", retry_of=first)
    delete(first)
    retry.refresh_from_db()
    assert retry.retry_of is None


def test_second_deletion_finds_nothing():
    instance = make_instance(make_job(), "failed")
    pk = instance.pk
    delete(instance)
    with pytest.raises(actions.NotFound):
        actions.delete_instance(pk, actor="ann", now=NOW)


@pytest.mark.usefixtures("each_database")
def test_deletion_works_on_each_database():
    instance = make_instance(make_job(), "cancelled")
    delete(instance)
    assert not Instance.objects.exists()
