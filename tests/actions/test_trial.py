import pytest

from jobs.actions import InvalidInput, NotFound, Refused, cancel_instance
from jobs.actions.bodies import MASK
from jobs.actions.trial import try_job
from jobs.models import Instance, Job
from tests.actions.places import HOURLY, NOW, make_job

pytestmark = pytest.mark.django_db

NEW = {"name": "report", "script_content": "print(1)"}


def attempt(raw, **fields):
    return try_job(raw, actor="ada", now=NOW, **fields)


def end(done):
    cancel_instance(done.instance_id, actor="ada", now=NOW)


def test_new_job_is_tried_as_a_copy():
    done = attempt(NEW | HOURLY | {"max_retries": 5, "notify_email": "a@b.example", "tags": ["etl"]})
    job = Job.objects.get()
    assert (job.name, job.body, job.tags) == ("report (test)", "print(1)", ["test"])
    assert (job.max_retries, job.notify_email, hasattr(job, "schedule")) == (0, "", False)
    assert Instance.objects.get(pk=done.instance_id).status == "queued"


def test_trial_without_a_needed_value_is_refused():
    table = {"properties": {"table": {"type": "string"}}, "required": ["table"]}
    with pytest.raises(InvalidInput, match="table has no value"):
        attempt(NEW | {"parameters": table})
    assert not Job.objects.exists()
    attempt(NEW | {"parameters": table, "parameter_values": {"table": "a"}})
    assert Instance.objects.get().parameter_values == {"table": "a"}


def test_edit_is_tried_beside_the_job():
    job = make_job(environment={"KEY": "s3cret"}, **HOURLY)
    before = Job.objects.filter(pk=job.pk).values().get()
    done = attempt({"command": "false", "environment": {"KEY": MASK}}, of=job.pk)
    copy = Job.objects.get(pk=done.job_id)
    assert (copy.name, copy.body, copy.environment) == ("nightly (test)", "false", {"KEY": "s3cret"})
    assert Job.objects.filter(pk=job.pk).values().get() == before
    assert not job.instances.exists()


def test_next_test_takes_the_same_copy():
    first = attempt(NEW)
    end(first)
    second = attempt(NEW | {"script_content": "print(2)"})
    assert first.job_id == second.job_id
    assert Job.objects.get().body == "print(2)"


def test_copy_does_not_change_under_a_test():
    first = attempt(NEW)
    with pytest.raises(Refused, match=f"instance {first.instance_id}, has not ended"):
        attempt(NEW | {"script_content": "print(2)"})
    assert Job.objects.get().body == "print(1)"


def test_job_of_somebody_is_not_taken_for_a_copy():
    make_job("report (test)")
    with pytest.raises(Refused, match="not made for tests"):
        attempt(NEW)
    assert Job.objects.get().body == "true"


def test_paused_copy_is_resumed():
    end(attempt(NEW))
    Job.objects.update(paused_at=NOW)
    attempt(NEW)
    assert not Job.objects.get().paused


def test_bad_input_tries_nothing():
    with pytest.raises(InvalidInput):
        attempt(NEW | {"script_content": " "})
    assert not Job.objects.exists()


def test_unnamed_job_can_be_tried():
    attempt({"command": "date", "name": " "})
    assert Job.objects.get().name == "untitled (test)"


def test_longest_name_leaves_room_for_its_copy():
    attempt(NEW | {"name": "x" * 200})
    assert len(Job.objects.get().name) == 200


def test_missing_job_cannot_be_tried():
    with pytest.raises(NotFound):
        attempt({}, of=77)
