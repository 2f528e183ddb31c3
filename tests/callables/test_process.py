"""Callables in a process of their own: run as a script is, by a runner."""

import json
import signal


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


def test_segfault_is_its_own(shared):
    found = shared.outcome(shared.run("process_ends", how="segfault"))
    assert (found.kind, found.signal) == ("failed", signal.SIGSEGV)


def test_it_is_told_to_end_and_then_ended(shared, tmp_path):
    heeds, deaf = shared.waits("process_heeds"), shared.waits("process_waits", tmp_path / "never")
    for ref in (heeds, deaf):
        shared.executor.cancel(ref)
        assert shared.outcome(ref).kind == "cancelled"
    assert "tidied up" in shared.text(heeds)


def test_what_is_not_registered_is_not_tried_again(shared):
    found = shared.outcome(shared.run("process_unknown"))
    assert "could not be started: there is no callable tests.callables.shop.jobs.process_unknown" in found.error
    assert found.final
