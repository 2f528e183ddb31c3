"""Callables as what a job runs: taken, refused, without a database."""

from datetime import UTC, datetime

import pytest

from jobs.actions.answers import InvalidInput
from jobs.actions.capacity import Capacity
from jobs.actions.definition import edited, raw_of
from jobs.actions.submission import read_job
from jobs.callables import discovery, registry
from jobs.store.specs import JobSpec

NOW = datetime(2026, 5, 4, 12, 0, 30, tzinfo=UTC)
ROOM = Capacity(6, "alpha: 4 cores at overcommit 1.5", 8000, "alpha")


def read(name: str, before: JobSpec | None = None, **fields: object) -> JobSpec:
    raw = {"name": "nightly", "callable": name, **fields}
    return read_job(raw, capacity=ROOM, now=NOW, before=before)


def refused(name: str, before: JobSpec | None = None, **fields: object) -> dict[str, str]:
    with pytest.raises(InvalidInput) as refusal:
        read(name, before, **fields)
    return {problem.field: problem.sentence for problem in refusal.value.problems}


@pytest.mark.parametrize(
    ("which", "model", "cores"),
    [("process", "process", 1), ("pooled", "process", 1), ("thread", "thread", 0), ("async", "async", 0)],
)
def test_the_code_says_where_it_runs(callables, which, model, cores):
    spec = read(callables[which])
    assert (spec.kind, spec.body, spec.execution_model, spec.cores) == ("callable", callables[which], model, cores)


def test_a_shared_one_may_still_reserve_cores(callables):
    assert read(callables["thread"], cpu_cores_required=2).cores == 2


@pytest.mark.parametrize("which", ["process", "pooled"])
def test_a_process_needs_a_core(callables, which):
    assert "from 1 to" in refused(callables[which], cpu_cores_required=0)["cpu_cores_required"]


def test_the_kind_may_be_said(callables):
    assert read(callables["async"], kind="callable").kind == "callable"
    assert set(refused(callables["async"], command="true")) == {"callable"}
    assert "callable was given" in refused(callables["async"], kind="script")["kind"]


def test_an_unknown_name_is_refused_with_near_ones(callables):
    name = callables["thread"]
    assert f"did you mean {name}?" in refused(name.replace("in_thread", "in_thraed"))["callable"]
    assert callables["async"] in refused("elsewhere.jobs.other")["callable"]
    assert set(refused("elsewhere.jobs.other", cpu_cores_required=0)) == {"callable"}


def test_where_nothing_is_registered_it_says_how(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(discovery, "_failures", {"shop": "The jobs.py of the app shop cannot be imported: why."})
    sentence = refused("shop.jobs.count")["callable"]
    assert "put @job on a function" in sentence
    assert sentence.endswith("cannot be imported: why.")


OF_A_PROCESS = {
    "memory_mb_required": 100,
    "environment": {"PASSWORD": "hunter2"},
    "run_as": "nobody",
    "umask": "077",
    "nice": 5,
    "io_priority": "low",
    "start": "cold",
    "working_directory": "/srv",
    "max_processes": 3,
    "max_file_mb": 3,
    "cleanup_command": "true",
    "cleanup_after": ["failure"],
    "cleanup_timeout_seconds": 5,
    "keep_workspace": True,
    "retry_only_exit_codes": [75],
    "retry_never_exit_codes": [2],
}


@pytest.mark.parametrize("which", ["pooled", "thread", "async"])
def test_what_only_a_process_has_is_refused(callables, which):
    found = refused(callables[which], **OF_A_PROCESS)
    assert set(found) == set(OF_A_PROCESS)
    assert found["umask"] == (
        f"umask is about a process, and {callables[which]} shares one with others; leave it out, "
        'or let the code say model="process" without pooled.'
    )


def test_what_only_a_process_has_is_taken_for_one(callables):
    assert read(callables["process"], **OF_A_PROCESS).run.umask == "077"


def test_a_refusal_repeats_no_variable(callables):
    with pytest.raises(InvalidInput) as refusal:
        read(callables["async"], environment={"PASSWORD": "hunter2"})
    assert "hunter2" not in repr(refusal.value.problems)


@pytest.mark.parametrize("which", ["process", "pooled", "thread", "async"])
def test_what_is_stored_reads_as_the_same(callables, which):
    spec = read(callables[which])
    assert read_job(raw_of(spec), capacity=ROOM, now=NOW, before=spec) == spec


def test_an_edit_to_another_callable_takes_no_cores_along(callables):
    before = read(callables["async"])
    after = read_job(edited(before, {"callable": callables["process"]}), capacity=ROOM, now=NOW, before=before)
    assert (after.execution_model, after.cores) == ("process", 1)
    after = read_job(edited(before, {"command": "true"}), capacity=ROOM, now=NOW, before=before)
    assert (after.kind, after.execution_model, after.cores) == ("command", "process", 1)


def test_one_that_is_gone_may_be_edited_but_not_chosen(callables, monkeypatch):
    before = read(callables["async"])
    monkeypatch.setattr(registry, "_registered", {})
    after = read_job(edited(before, {"description": "old"}), capacity=ROOM, now=NOW, before=before)
    assert (after.description, after.execution_model, after.cores) == ("old", "async", 0)
    assert "callable" in refused(callables["thread"], before)


def test_a_callable_has_the_packages_of_the_project(callables):
    sentences = refused(callables["process"], python_version="3.12", requirements=["rich"])
    assert set(sentences) == {"python_version", "requirements"}
    assert "a callable runs with the project's own packages" in sentences["requirements"]


def test_an_edit_to_a_callable_takes_no_packages_along(callables):
    raw = {"name": "a", "command": "true", "requirements": ["rich"], "python_version": "3.12"}
    before = read_job(raw, capacity=ROOM, now=NOW)
    after = read_job(edited(before, {"callable": callables["process"]}), capacity=ROOM, now=NOW, before=before)
    assert (after.python_version, after.requirements) == ("", ())
