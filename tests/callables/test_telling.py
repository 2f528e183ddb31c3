"""What callables say of themselves while they run, and that each says it into its own log."""

import json
from pathlib import Path

import pytest

from tests.waiting import until


def test_fifty_at_once_keep_their_logs_apart(shared):
    refs = {f"number {number:02}": shared.run("async_tells", name=f"number {number:02}") for number in range(50)}
    for name, ref in refs.items():
        assert json.loads(shared.outcome(ref).result) == name
        lines = shared.text(ref).splitlines()
        assert lines.count(f"{name} 3") == 1
        assert lines.count(f"WARNING shop: {name} logs 3") == 1
        assert lines[-1] == f"{name} in a thread"
        assert all(name in line for line in lines)


def test_the_last_progress_counts(shared):
    ref = shared.run("async_tells", name="it")
    shared.outcome(ref)
    assert shared.progress(ref) == (1.0, "all of it")


def test_progress_is_there_while_it_runs(shared, tmp_path):
    ref = shared.run("thread_halves", path=str(tmp_path / "free"))
    until(lambda: shared.progress(ref) == (0.5, "half"))
    (tmp_path / "free").touch()
    assert shared.outcome(ref).kind == "success"


@pytest.mark.parametrize("model", ["thread"])
def test_its_context_tells_it_who_it_is(shared, model):
    ref = shared.run(f"{model}_tells", name="żółw")
    assert json.loads(shared.outcome(ref).result)[:3] == [ref.instance_id, 1, {"name": "żółw"}]
    assert "żółw" in shared.text(ref)
    assert shared.progress(ref).done == 0.25


def test_a_line_without_an_end_is_kept(shared):
    ref = shared.run("thread_tells", name="no end")
    shared.outcome(ref)
    assert sorted(shared.text(ref).replace("errs\n", "errs|").split("|")) == ["no end", "no end errs"]


def test_what_its_threads_print_is_in_its_log(shared):
    ref = shared.run("thread_in_thread")
    assert shared.outcome(ref).kind == "success"
    assert shared.text(ref) == "from a thread of its own\nfrom a pool\n"


@pytest.mark.parametrize("model", ["async", "pooled", "process"])
def test_what_its_upstreams_gave_is_there(shared, model):
    ref = shared.run(f"{model}_upstream", upstream='{"żółw": {"rows": 3}}')
    assert json.loads(shared.outcome(ref).result) == {"żółw": {"rows": 3}}
    assert json.loads(shared.outcome(shared.run(f"{model}_upstream")).result) == {}


@pytest.mark.parametrize("model", ["async", "pooled"])
def test_host_keeps_no_descriptor_of_what_has_ended(shared, model):
    def kept():
        shared.outcome(shared.run(f"{model}_tells", name="x"))
        return sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in shared.hosts)

    most = kept()
    kept()
    until(lambda: kept() <= most)  # it closes what was the attempt's a moment after its end is told
