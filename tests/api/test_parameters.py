"""Parameters by the API: declared with a job, given to a run, kept with it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import actions
from jobs.actions.bodies import MASK
from jobs.core.states import Status
from jobs.models import Instance, Job

SCHEMA = {
    "type": "object",
    "properties": {
        "table": {"type": "string", "maxLength": 20},
        "limit": {"type": "integer", "minimum": 1, "default": 10},
        "api_key": {"type": "string"},
    },
    "required": ["table"],
}


def make(api, **fields):
    fields = {"name": "load", "command": "true", "parameters": SCHEMA} | fields
    created = api.send("jobs", **fields)
    assert created.status_code == 201, created.content
    return created.json()


@pytest.fixture
def load(api):
    return make(api, parameter_values={"limit": 5, "api_key": "hush"})["job_id"]


def test_declaration_and_values_come_back(api, load):
    job = api.get(f"jobs/{load}").json()
    assert job["parameters"] == SCHEMA
    assert job["parameter_values"] == {"limit": 5, "api_key": MASK}
    assert Job.objects.get().parameter_values == {"limit": 5, "api_key": "hush"}


def test_mask_given_back_keeps_the_value(api, load):
    changed = api.edit(f"jobs/{load}", parameter_values={"limit": 6, "api_key": MASK}).json()
    assert changed["changed"] == ["parameter_values"]
    assert Job.objects.get().parameter_values == {"limit": 6, "api_key": "hush"}


def test_mask_without_a_stored_value_is_refused(api, problem):
    refused = problem(
        api.send("jobs", name="a", command="x", parameters=SCHEMA, parameter_values={"api_key": MASK}), 422
    )
    assert [error["field"] for error in refused["errors"]] == ["parameter_values.api_key"]


def test_what_lacks_a_value_is_not_run_at_once(api):
    assert make(api)["instance_id"] is None
    assert make(api, name="other", parameter_values={"table": "a"})["instance_id"] is not None


def test_schedule_without_a_required_value_is_refused(api, problem):
    refused = problem(api.send("jobs", name="a", command="x", parameters=SCHEMA, schedule_type="daily",
                               schedule_expression="08:00"), 422)  # fmt: skip
    assert "table has no value" in refused["errors"][0]["detail"]
    assert "runs by itself" in refused["errors"][0]["detail"]


def test_run_stores_its_values_complete(api, load):
    run = api.send(f"jobs/{load}/run", parameters={"table": "orders"}).json()
    assert run["parameters"] == {"table": "orders", "limit": 5, "api_key": MASK}
    assert Instance.objects.get().parameter_values == {"table": "orders", "limit": 5, "api_key": "hush"}
    assert api.get(f"instances/{run['instance_id']}").json()["parameters"] == run["parameters"]


def test_refusal_of_a_run_names_each_parameter(api, load, problem):
    refused = problem(api.send(f"jobs/{load}/run", parameters={"table": "x" * 21, "limit": 0, "lmit": 3}), 422)
    assert {error["field"] for error in refused["errors"]} == {
        "parameters.table", "parameters.limit", "parameters.lmit"
    }  # fmt: skip
    assert not Instance.objects.exists()


def test_run_without_what_it_must_have_is_refused(api, load, problem):
    refused = problem(api.post(f"jobs/{load}/run"), 422)
    assert refused["errors"][0]["detail"] == "table has no value, expected a text of at most 20 characters; give one."


@pytest.mark.parametrize("body", [{"parameters": [1]}, {"parameters": "a"}, {"parameter": {}}])
def test_body_that_is_no_run_is_refused(api, load, problem, body):
    problem(api.send(f"jobs/{load}/run", **body), 422)


def test_values_for_a_job_that_takes_none_are_refused(api, problem):
    job = make(api, parameters={})["job_id"]
    refused = problem(api.send(f"jobs/{job}/run", parameters={"a": 1}), 422)
    assert "the job takes none" in refused["detail"] + refused["errors"][0]["detail"]


@pytest.mark.parametrize("value", ["a\0b", "\ud800", {"a": ["\0"]}])
def test_what_no_database_takes_is_refused(api, problem, value):
    job = make(api, parameters={"properties": {"any": {}}})["job_id"]
    refused = problem(api.send(f"jobs/{job}/run", parameters={"any": value}), 422)
    assert "any contains" in refused["errors"][0]["detail"]


def test_retry_keeps_the_values(api, load):
    run = api.send(f"jobs/{load}/run", parameters={"table": "orders"}).json()["instance_id"]
    api.post(f"instances/{run}/cancel")
    api.edit(f"jobs/{load}", parameter_values={"limit": 7})
    retried = api.post(f"instances/{run}/retry").json()
    assert retried["parameters"]["limit"] == 5


def test_schedules_instance_has_the_values_of_its_start(api, load):
    api.edit(f"jobs/{load}", parameter_values={"table": "a"})
    row = Instance.objects.create(job_id=load, logical_at=timezone.now(), status=Status.PENDING, cause="schedule",
                                  due_at=timezone.now() + timedelta(days=1), created_at=timezone.now())  # fmt: skip
    assert api.get(f"instances/{row.pk}").json()["parameters"] is None


def test_workflow_takes_the_values_of_its_jobs(api, load, problem):
    make(api, name="after", parameters={}, depends_on=["load"])
    refused = problem(api.send(f"jobs/{load}/run", parameters={"table": "a"}), 422)
    assert "run it with scope job" in refused["errors"][0]["detail"]
    refused = problem(api.post(f"workflows/{load}/run"), 422)
    assert "load: table has no value" in refused["errors"][0]["detail"]
    api.edit(f"jobs/{load}", parameter_values={"table": "a"})
    assert api.post(f"workflows/{load}/run").status_code == 201
    assert set(Instance.objects.values_list("parameter_values", flat=True)) == {None}


def test_edit_must_fit_what_is_stored(api, load, problem):
    narrower = {"properties": {"limit": {"type": "integer", "maximum": 3}}}
    refused = problem(api.edit(f"jobs/{load}", parameters=narrower), 422)
    assert {error["field"] for error in refused["errors"]} == {"parameter_values.limit", "parameter_values.api_key"}
    assert api.edit(f"jobs/{load}", parameters=narrower, parameter_values=None).status_code == 200


def test_lists_do_not_read_what_runs_were_given(api, load, django_assert_num_queries):
    actions.run_job(load, actor="ada", now=timezone.now(), parameters={"table": "x"})
    assert "parameters" not in api.get("instances").json()[0]
    assert "parameters" not in api.get("jobs").json()[0]
