"""Jobs whose callable left the code, or changed in it, since they were stored."""

import pytest

from jobs import actions
from jobs.callables import job, registry
from jobs.models import Event, Instance, Job
from jobs.service import registered
from jobs.store import horizon
from tests.callables import sample
from tests.service.test_passes import Desk
from tests.store.benches import NOW

pytestmark = pytest.mark.django_db(transaction=True)


def made(name: str, **fields: object) -> Instance:
    created = actions.create_job({"name": "it", "callable": name, **fields}, actor="ann", now=NOW)
    return Instance.objects.get(pk=created.instance_id)


def test_one_that_is_there_is_started_without_a_core(callables):
    desk, instance = Desk(), made(callables["async"])
    passed = desk.tell(*horizon.load(NOW)[1])
    assert [start.instance_id for start in passed.starts] == [instance.pk]
    assert not passed.starts[0].allocation.cores


def test_one_that_is_gone_fails_with_the_reason(callables, monkeypatch):
    desk, instance = Desk(), made(callables["async"])
    monkeypatch.setattr(registry, "_registered", {})
    passed = desk.tell(*horizon.load(NOW)[1])
    instance.refresh_from_db()
    assert not passed.starts
    assert [dismissed.instance_id for dismissed in passed.dismissed] == [instance.pk]
    assert (instance.status, instance.reason_code) == ("failed", "cannot_run")
    assert instance.error.startswith(f"can never run: there is no callable {callables['async']} (any more)")


def test_one_that_is_gone_pauses_its_job_like_any_failure(callables, monkeypatch):
    desk, instance = Desk(), made(callables["async"], pause_after_failures=1)
    monkeypatch.setattr(registry, "_registered", {})
    desk.tell(*horizon.load(NOW)[1])
    stored = Job.objects.get(pk=instance.job_id)
    assert stored.paused
    assert stored.failures_in_a_row == 1


def test_another_model_in_the_code_is_taken_over(callables, monkeypatch):
    instance = made(callables["thread"])
    registry.forget(sample.__name__)
    job(model="process")(sample.in_thread)
    registered.take_over(NOW)
    stored = Job.objects.get(pk=instance.job_id)
    assert (stored.execution_model, stored.cores, stored.revision) == ("process", 1, 2)
    event = Event.objects.filter(kind="job.changed").get()
    assert (event.actor, event.data) == (registered.ACTOR, {"changed": ["execution_model", "cores"]})


def test_other_parameters_in_the_code_are_taken_over(callables):
    instance = made(callables["thread"])
    registry.forget(sample.__name__)

    def in_thread(minutes: int = 1) -> int:
        return minutes

    in_thread.__module__, in_thread.__qualname__ = sample.__name__, "in_thread"
    job(model="thread")(in_thread)
    registered.take_over(NOW)
    stored = Job.objects.get(pk=instance.job_id)
    assert list(stored.parameters["properties"]) == ["minutes"]


def test_code_as_it_was_changes_nothing(callables):
    made(callables["thread"])
    registered.take_over(NOW)
    assert Job.objects.get().revision == 1
