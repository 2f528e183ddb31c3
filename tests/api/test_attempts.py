"""What the API tells of one attempt."""

from dataclasses import replace

import pytest

from jobs.api.outputs import rundir_of
from jobs.execution import conditions, moment
from jobs.execution.limits import User, home
from jobs.execution.rundir import SPEC, RunDir
from jobs.execution.samples import Sample, SampleFile
from jobs.execution.spec import Spec
from jobs.models import Attempt
from tests.actions.places import NOW, make_instance, make_job
from tests.fixtures.environments import make_environment

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt():
    instance = make_instance(make_job(), "running", cores=[0])
    return Attempt.objects.create(
        instance=instance,
        number=1,
        token="abcdefgh0123",
        node=instance.node,
        created_at=NOW,
        cores=[0],
        status="running",
    )


def run_directory(attempt, *, run_as="", environment="", **env):
    path = rundir_of(attempt)
    path.mkdir(parents=True)
    asked = moment.now()
    spec = Spec("t", 1, 1, "command", "echo hi", "python", env, asked, cores=[0], timeout_seconds=60, run_as=run_as)
    spec = replace(spec, environment=str(environment))
    with RunDir(str(path)) as rundir:
        rundir.write_json(SPEC, spec.to_json())
        file = SampleFile(rundir)
        for second in (1, 2):
            file.add(Sample(float(second), 0.5, 1000))
    return path


def address(attempt, what):
    return f"instances/{attempt.instance_id}/attempts/{attempt.number}/{what}"


def test_samples_are_those_that_were_taken(api, attempt):
    run_directory(attempt)
    answer = api.get(address(attempt, "samples")).json()
    assert answer["samples"][0] == {"seconds": 1.0, "cores": 0.5, "memory_bytes": 1000}
    assert (len(answer["samples"]), answer["complete"]) == (2, False)


def test_attempt_without_samples_has_none(api, attempt):
    assert api.get(address(attempt, "samples")).json()["samples"] == []


def test_conditions_are_what_the_program_was_given(api, attempt):
    run_directory(attempt, MODE="full", API_TOKEN="hunter2", DB="x://u:hunter2@h")
    response = api.get(address(attempt, "conditions"))
    answer = response.json()
    assert answer["argv"][1:] == ["-c", "echo hi"]
    assert (answer["pinned_to"], answer["timeout_seconds"], answer["umask"]) == ([0], 60.0, "0022")
    assert (answer["environment"]["MODE"], answer["masked"]) == ("full", ["API_TOKEN", "DB"])
    assert b"hunter2" not in response.content


def test_conditions_name_the_user_and_its_home(api, attempt, monkeypatch):
    user = User("bob", 1234, 1234, "/home/bob")
    monkeypatch.setattr(conditions, "user_of", lambda name: user if name == "bob" else None)
    run_directory(attempt, run_as="bob", HOME=home())
    answer = api.get(address(attempt, "conditions")).json()
    assert (answer["run_as"], answer["environment"]["HOME"], answer["environment"]["USER"]) == (
        "bob",
        "/home/bob",
        "bob",
    )


def test_conditions_are_told_of_a_user_that_is_not_here(api, attempt):
    run_directory(attempt, run_as="no-such-user", HOME="/root")
    answer = api.get(address(attempt, "conditions")).json()
    assert (answer["run_as"], answer["environment"]["HOME"]) == ("no-such-user", "/root")


def test_conditions_say_which_packages_it_had(api, attempt, tmp_path):
    environment = make_environment(tmp_path)
    run_directory(attempt, environment=environment)
    packages = api.get(address(attempt, "conditions")).json()["packages"]
    assert (packages["environment"], packages["python_version"]) == (environment.name, "3.12.4")
    assert (packages["requirements"], packages["built_at"]) == (["pandas<3"], "2026-09-21T14:13:20+00:00")


def test_packages_that_are_gone_since_are_not_known(api, attempt):
    run_directory(attempt, environment="/gone/key")
    packages = api.get(address(attempt, "conditions")).json()["packages"]
    assert packages == {"environment": "key", "python_version": None, "requirements": None, "built_at": None}


def test_conditions_of_a_gone_run_directory_are_not_found(api, attempt, problem):
    detail = problem(api.get(address(attempt, "conditions")), 404)["detail"]
    assert "run directory of attempt 1 of instance" in detail


def test_spoilt_run_directory_is_a_refusal(api, attempt, problem):
    (run_directory(attempt) / SPEC).write_text("[]")
    assert "cannot be read" in problem(api.get(address(attempt, "conditions")), 409)["detail"]


@pytest.mark.parametrize("number", ["7", "0", "x", "9" * 18, "-1"])
@pytest.mark.parametrize("what", ["samples", "conditions"])
def test_attempt_that_is_not_there_is_not_found(api, attempt, problem, number, what):
    problem(api.get(f"instances/{attempt.instance_id}/attempts/{number}/{what}"), 404)
