"""Which values a run gets, from its making to its launch."""

from __future__ import annotations

import json

import pytest
from django.conf import settings

from jobs import actions
from jobs.execution.launch import AttemptRef
from jobs.execution.prepare import path_of
from jobs.given import ran_with
from jobs.models import Attempt, Instance, Job
from jobs.service.launching import launches
from tests.actions.places import NOW, make_instance, make_job

SCHEMA = {"properties": {"limit": {"type": "integer", "default": 1}, "table": {"type": "string"}}}


@pytest.fixture(autouse=True)
def own_data_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "DATA_DIR", tmp_path)


@pytest.fixture
def load(db):
    return make_job("load", parameters=SCHEMA, parameter_values={"table": "a"})


def launched(instance):
    """As it would be launched now."""
    node = make_instance(make_job("elsewhere"), "running").node
    attempt = Attempt.objects.create(
        instance=instance, number=1, token=f"{instance.pk:032}", status="starting", node=node, created_at=NOW
    )
    return launches([attempt.token])[0]


def test_schedules_run_gets_what_its_job_says_by_then(load):
    instance = make_instance(load, cause="schedule")
    Job.objects.filter(pk=load.pk).update(parameter_values={"table": "b"})
    launch = launched(instance)
    assert (launch.parameters, launch.takes_parameters) == ({"limit": 1, "table": "b"}, True)


def test_told_run_keeps_its_values_when_the_job_is_edited(load):
    run = actions.run_job(load.pk, actor="ada", now=NOW, parameters={"limit": 3})
    actions.change_job(load.pk, {"parameter_values": {"table": "b", "limit": 9}}, actor="ada", now=NOW)
    assert launched(Instance.objects.get(pk=run.instance_id)).parameters == {"limit": 3, "table": "a"}


def test_values_that_fit_no_more_are_an_error_of_the_launch(load):
    run = actions.run_job(load.pk, actor="ada", now=NOW, parameters={"limit": 3})
    narrower = {"properties": {"limit": {"type": "integer", "maximum": 2}, "table": {}}}
    actions.change_job(load.pk, {"parameters": narrower}, actor="ada", now=NOW)
    launch = launched(Instance.objects.get(pk=run.instance_id))
    assert launch.parameters_error.startswith("limit is 3, expected a whole number at most 2. The job may have been")
    assert launch.parameters == {}


def test_retry_keeps_what_the_run_directory_says(load):
    instance = make_instance(load, cause="schedule")
    launch = launched(instance)
    Instance.objects.filter(pk=instance.pk).update(status="failed", ended_at=NOW)
    record(launch.ref, {"limit": 7, "table": "then"})
    actions.change_job(load.pk, {"parameter_values": {"table": "now"}}, actor="ada", now=NOW)
    retry = actions.retry_instance(instance.pk, actor="ada", now=NOW)
    assert Instance.objects.get(pk=retry.instance_id).parameter_values == {"limit": 7, "table": "then"}


@pytest.mark.parametrize("content", ["[1]", "{", '{"a": "\\u0000"}', '{"\\ud800": 1}'])
def test_what_a_job_put_into_its_file_is_not_trusted(load, content):
    instance = make_instance(load, cause="schedule")
    record(launched(instance).ref, content)
    assert ran_with(instance) is None


def record(ref, content):
    path = path_of(settings.DATA_DIR / "runs", AttemptRef(ref.instance_id, ref.attempt, ref.token)) / "job"
    path.mkdir(parents=True)
    (path / "parameters.json").write_text(content if isinstance(content, str) else json.dumps(content))
