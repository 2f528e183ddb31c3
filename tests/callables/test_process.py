"""Callables in a process of their own: run as a script is, by a runner."""

import json
import signal
from pathlib import Path

import pytest

from jobs.execution.environment import environment_of, project_secrets
from tests.execution.driver import launch_of
from tests.waiting import DEADLINE_SECONDS


def test_it_gets_its_parameters_and_gives_a_result(shared):
    ref = shared.run("process_tells", name="żółw")
    found = shared.outcome(ref)
    assert (found.kind, json.loads(found.result)) == ("success", [ref.instance_id, 1, {"name": "żółw"}])
    assert shared.text(ref) == "żółw\n"
    assert shared.progress(ref).done == 0.25


def test_what_it_raises_is_its_error(shared):
    found = shared.outcome(ref := shared.run("process_ends", how="final"))
    assert (found.kind, found.error, found.final) == ("failed", "NonRetryableError: no such customer", True)
    assert (found.exit_code, "callables/run.py" in shared.text(ref)) == (1, False)


def test_what_is_no_result_is_told_in_the_log(shared):
    found = shared.outcome(ref := shared.run("process_ends", how="set"))
    assert (found.kind, found.result) == ("success", "")
    assert "result cannot be given as JSON: it returned a set" in shared.text(ref)


@pytest.mark.parametrize("start", ["auto", "cold"])
def test_closed_output_changes_no_outcome(shared, start):
    """The fork went on as a second runner, and the failure was a success."""
    failed = shared.outcome(shared.run("process_ends", how="closed", number=1, start=start))
    assert (failed.kind, failed.error) == ("failed", "ValueError: the shelf is empty")
    assert shared.outcome(shared.run("process_ends", how="closed", start=start)).kind == "success"


def test_segfault_is_its_own(shared):
    found = shared.outcome(shared.run("process_ends", how="segfault"))
    assert (found.kind, found.signal) == ("failed", signal.SIGSEGV)


def test_it_is_told_to_end_and_then_ended(shared, tmp_path):
    heeds = shared.waits("process_heeds", grace=DEADLINE_SECONDS)
    deaf = shared.waits("process_waits", tmp_path / "never")
    for ref in (heeds, deaf):
        shared.executor.cancel(ref)
        assert shared.outcome(ref).kind == "cancelled"
    assert "tidied up" in shared.text(heeds)


def test_what_is_not_registered_is_not_tried_again(shared):
    found = shared.outcome(shared.run("process_unknown"))
    assert "could not be started: there is no callable tests.callables.shop.jobs.process_unknown" in found.error
    assert found.final


@pytest.mark.parametrize(("start", "method"), [("auto", "warm"), ("cold", "cold")])
def test_it_is_a_fork_with_the_project_loaded(shared, start, method):
    ref = shared.run("process_tells", name="x", start=start)
    assert json.loads(shared.outcome(ref).result) == [ref.instance_id, 1, {"name": "x"}]
    assert json.loads((shared.path(ref) / "started.json").read_text())["start"] == method


def test_secrets_of_the_project_are_in_no_file(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://rota:hidden@db/rota")
    monkeypatch.setenv("ROTA_SECRETS_KEYS", "hidden")
    launch = launch_of("shop.jobs.f", "t", kind="callable")
    given = environment_of(launch, "here", Path("/nowhere"))
    assert given["ROTA_CALLABLE"] == "shop.jobs.f"
    assert "hidden" not in " ".join(given.values())
    assert {one.variable for one in project_secrets()} == {"DATABASE_URL", "ROTA_SECRETS_KEYS"}
