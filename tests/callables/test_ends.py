"""However a callable ends, its outcome says so."""

import json

import pytest

from jobs.execution.launch import Abandoned, NotStarted, Started

MODELS = ["async", "thread"]


@pytest.fixture(params=MODELS)
def model(request):
    return request.param


def outcome(shared, model, how, number=0):
    ref = shared.run(f"{model}_ends", how=how, number=number)
    return shared.outcome(ref), shared.text(ref)


def test_what_it_returns_is_its_result(shared, model):
    found, _ = outcome(shared, model, "value", 7)
    assert (found.kind, json.loads(found.result)) == ("success", {"number": 7, "list": [1, "ż"]})
    assert found.started_at is not None
    assert found.duration_seconds is not None


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("set", "result cannot be given as JSON: it returned a set: Object of type set is not JSON serializable"),
        ("surrogate", "result cannot be given as JSON: it returned a str: 'utf-8' codec can't encode character"),
        ("trap", "result cannot be given as JSON: it returned a Trap, which raised KeyboardInterrupt"),
        ("large", "result cannot be given as JSON: result has 70,002 bytes, expected at most 65,536"),
    ],
)
def test_what_is_no_result_is_told_in_the_log(shared, model, how, said):
    found, text = outcome(shared, model, how)
    assert (found.kind, found.result) == ("success", "")
    assert said in text


@pytest.mark.parametrize(
    ("how", "error", "final"),
    [
        ("error", "ValueError: the shelf is empty", False),
        ("final", "NonRetryableError: no such customer", True),
        ("timeout", "TimeoutError: the other side did not answer", False),
        ("unprintable", "Unprintable: (it cannot be printed: its __str__ raised ValueError)", False),
        ("mute", "Mute: (it cannot be printed: its __str__ raised SystemExit)", False),
    ],
)
def test_what_it_raises_is_its_error(shared, model, how, error, final):
    found, text = outcome(shared, model, how)
    assert (found.kind, found.error, found.final) == ("failed", error, final)
    assert "in ends" in text
    assert "jobs/callables/" not in text.replace("tests/callables/", "")


def test_what_it_forks_and_lets_return_says_nothing_for_it(shared, model):
    found, _ = outcome(shared, model, "fork")
    assert (found.kind, json.loads(found.result)) == ("success", "the parent")
    assert outcome(shared, model, "value", 7)[0].kind == "success"


@pytest.mark.parametrize(("code", "kind"), [(0, "success"), (3, "failed")])
@pytest.mark.parametrize("how", ["exit", "os._exit"])
def test_exit_is_an_end_of_its_own(shared, model, how, code, kind):
    found, _ = outcome(shared, model, how, code)
    assert found.kind == kind
    assert found.exit_code in (code, None)


def test_a_start_is_told_before_the_end(shared, model):
    ref = shared.run(f"{model}_ends", how="value")
    shared.outcome(ref)
    started, ended = shared.reports.of(ref)
    assert isinstance(started, Started)
    assert not isinstance(ended, NotStarted | Abandoned)


def test_what_is_not_registered_is_rejected(shared):
    ref = shared.run("async_unknown")
    assert shared.outcome(ref).kind == "rejected"
    assert "there is no callable tests.callables.shop.jobs.async_unknown" in shared.outcome(ref).error
