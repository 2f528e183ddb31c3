"""Jobs that are callables, by the API."""

import pytest

from jobs.models import Job


def test_callable_is_taken_and_told(api, callables):
    created = api.send("jobs", name="wait", callable=callables["async"], parameter_values={"retries": 2}).json()
    job = api.get(f"jobs/{created['job_id']}").json()
    told = {name: job[name] for name in ("kind", "callable", "execution_model", "cpu_cores_required", "command")}
    assert told == {
        "kind": "callable",
        "callable": callables["async"],
        "execution_model": "async",
        "cpu_cores_required": 0,
        "command": None,
    }
    assert job["parameter_values"] == {"retries": 2}


def test_unknown_callable_is_a_problem_of_its_field(api, callables):
    answer = api.send("jobs", name="wait", callable=f"{callables['async']}s")
    assert answer.status_code == 422
    (problem,) = answer.json()["errors"]
    assert problem["field"] == "callable"
    assert f"did you mean {callables['async']}?" in problem["detail"]
    assert not Job.objects.exists()


@pytest.mark.parametrize("model", ["async", "thread", "process"])
def test_each_model_may_have_a_limit(api, model):
    assert api.send("limits", kind="model", name=model, maximum=2).status_code == 201
