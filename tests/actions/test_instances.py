import pytest

from jobs.actions import NotFound, Refused, cancel_instance, delete_job, retry_from_here, retry_instance, run_job
from jobs.core.states import LIVE, TERMINAL
from jobs.models import Instance, Job
from tests.actions.places import NOW, events, later, make_instance, make_job

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("status", sorted(LIVE - {"running"}))
def test_waiting_instance_is_cancelled_at_once(status):
    instance = make_instance(make_job(), status)
    assert cancel_instance(instance.pk, actor="ada", now=NOW).answer == "cancelled"
    assert Instance.objects.get().status == "cancelled"


def test_running_instance_is_asked_to_stop_once():
    instance = make_instance(make_job(), "running")
    answers = {cancel_instance(instance.pk, actor="ada", now=later(seconds=n)).answer for n in range(2)}
    assert answers == {"stopping"}
    assert Instance.objects.get().cancel_requested_at == NOW
    assert events() == ["job.created", "instance.cancel_requested"]


@pytest.mark.parametrize(
    ("kind", "model", "when"),
    [
        ("command", "process", "when none of its processes is left."),
        ("callable", "async", "when it has returned, or after its grace."),
        ("callable", "thread", "at once, and what it holds stays held until its thread returns."),
    ],
)
def test_answer_says_when_what_runs_is_cancelled(kind, model, when):
    job = make_job()
    Job.objects.filter(pk=job.pk).update(kind=kind, execution_model=model)
    said = cancel_instance(make_instance(job, "running").pk, actor="ada", now=NOW).sentence
    assert said.endswith(f"is being stopped; it is cancelled {when}")


def test_ended_instance_stays_as_it_is():
    instance = make_instance(make_job(), "success")
    assert "stays as it is" in cancel_instance(instance.pk, actor="ada", now=NOW).sentence
    assert Instance.objects.get().status == "success"


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_retry_is_a_new_instance_of_the_same_date(status):
    ended = make_instance(make_job(), status)
    retry = retry_instance(ended.pk, actor="ada", now=later(days=1))
    new = Instance.objects.get(pk=retry.instance_id)
    assert (new.logical_at, new.generation, new.retry_of_id) == (ended.logical_at, ended.generation + 1, ended.pk)
    assert (new.status, new.cause, new.due_at) == ("queued", "retry", later(days=1))
    assert Instance.objects.get(pk=ended.pk).status == status


def test_second_click_gets_the_same_retry():
    ended = make_instance(make_job(), "failed")
    first, second = (retry_instance(ended.pk, actor="ada", now=NOW) for _ in range(2))
    assert first.instance_id == second.instance_id
    assert (first.is_new, second.is_new) == (True, False)


def test_retry_that_has_ended_may_be_repeated():
    ended = make_instance(make_job(), "failed")
    first = retry_instance(ended.pk, actor="ada", now=NOW)
    cancel_instance(first.instance_id, actor="ada", now=NOW)
    assert retry_instance(ended.pk, actor="ada", now=NOW).is_new


@pytest.mark.parametrize("status", sorted(LIVE))
def test_live_instance_is_not_retried(status):
    instance = make_instance(make_job(), status)
    with pytest.raises(Refused, match=f"is {status}"):
        retry_instance(instance.pk, actor="ada", now=NOW)


@pytest.mark.parametrize("action", [cancel_instance, retry_instance])
def test_instance_that_is_gone_is_not_found(action):
    with pytest.raises(NotFound, match="no instance 4711"):
        action(4711, actor="ada", now=NOW)


@pytest.mark.parametrize("again", [retry_instance, retry_from_here])
@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_nothing_of_a_job_that_is_being_deleted_is_retried(again, status):
    job = make_job()
    ended, _ = make_instance(job, status), make_instance(job, "running")
    assert not delete_job(job.pk, actor="ada", now=NOW, cancel_live=True).gone
    with pytest.raises(Refused, match="being deleted"):
        again(ended.pk, actor="ada", now=NOW)
    with pytest.raises(Refused, match="being deleted"):
        run_job(job.pk, actor="ada", now=NOW)


@pytest.mark.parametrize("again", [retry_instance, retry_from_here])
def test_nothing_of_a_deleted_job_is_found(again):
    job = make_job()
    ended = make_instance(job, "failed")
    assert delete_job(job.pk, actor="ada", now=NOW).gone
    with pytest.raises(NotFound):
        again(ended.pk, actor="ada", now=NOW)
