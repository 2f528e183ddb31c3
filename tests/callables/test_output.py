"""Files that callables put into `context.output`."""

import pytest

from jobs.execution.outputs import listed

MODELS = ["async", "thread", "pooled", "process"]


def names(node, ref):
    return [one.name for one in listed(node.path(ref))]


@pytest.mark.parametrize("model", MODELS)
def test_files_in_its_folder_are_kept(shared, model):
    ref = shared.run(f"{model}_keeps")
    assert shared.outcome(ref).kind == "success"
    assert names(shared, ref) == ["large", "rows.csv"]


@pytest.mark.parametrize("model", MODELS[:3])
def test_what_is_beyond_the_cap_is_not_kept(shared, model):
    ref = shared.run(f"{model}_keeps", keeps=2000)
    shared.outcome(ref)
    assert names(shared, ref) == ["rows.csv"]
    assert "output 'large' of 3,000 bytes was not kept: together they may have 2,000" in shared.text(ref)


def test_one_that_asks_for_no_folder_has_none(shared):
    ref = shared.run("thread_ends", how="value")
    shared.outcome(ref)
    assert not (shared.path(ref) / "output").exists()


def test_who_goes_far_beyond_it_is_ended_while_it_runs(shared):
    refs = [shared.run(f"{model}_floods") for model in ("async", "pooled")]
    for ref in refs:
        assert shared.outcome(ref).kind == "failed"
        assert "had outputs of more than 101 MB, of which 1 MB are kept" in shared.outcome(ref).error
        assert not names(shared, ref)
