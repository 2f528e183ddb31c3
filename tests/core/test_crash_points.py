"""The crash-point table holds for every crash at every point, with recovery and late runners in any order."""

import pytest

from tests.core.crash_model import Rules, Walk, explore


@pytest.fixture(scope="module")
def walk() -> Walk:
    return explore(max_crashes=3)


def test_no_crash_breaks_a_promise(walk):
    assert walk.broken == {}


def test_every_attempt_ends_with_an_outcome(walk):
    assert walk.stuck == []


def test_recovery_terminates_from_every_state(walk):
    assert not walk.circles


def test_walk_reaches_late_runners_and_crashes(walk):
    assert walk.states > 10_000


@pytest.mark.parametrize(
    ("rule", "promise"),
    [
        ("commit_before_start", "the job was started without a starting attempt"),
        ("fence", "the job was started twice"),
        ("read_under_lock", "the job was started twice"),
        ("sync_claim", "the job was started twice"),
        ("lock_before_result", "lost was recorded of an attempt with a result or with processes"),
        ("sweep", "lost was recorded of an attempt with a result or with processes"),
        ("release_after_commit", "cores were given back before the outcome was durable"),
    ],
)
def test_each_rule_is_needed(rule, promise):
    assert promise in explore(Rules()._replace(**{rule: False}), max_crashes=2).broken


@pytest.mark.parametrize("rule", ["retire", "ask_again"])
def test_without_it_an_adopted_attempt_never_ends(rule):
    assert explore(Rules()._replace(**{rule: False}), max_crashes=2).stuck
