from datetime import UTC, datetime

import pytest

from jobs.core.records import Instance, Outcome, RetryPolicy
from jobs.core.retry import LOST_BUDGET, backoff_seconds, may_be_taken_over, may_retry
from jobs.core.states import OutcomeKind, Status

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = RetryPolicy(max_retries=2, delay_seconds=10, max_delay_seconds=60, jitter=False)


def instance(attempts: int, lost: int = 0) -> Instance:
    return Instance(1, 1, Status.RUNNING, NOW, NOW, attempts=attempts, lost_attempts=lost)


def test_backoff_doubles_up_to_its_cap():
    assert [backoff_seconds(PLAIN, n, max) for n in (1, 2, 3, 4, 5)] == [10, 20, 40, 60, 60]


def test_huge_failure_count_does_not_overflow():
    assert backoff_seconds(PLAIN, 10**9, max) == 60


def test_full_jitter_draws_from_zero_to_ceiling():
    policy = RetryPolicy(max_retries=1, delay_seconds=10, max_delay_seconds=60, jitter=True)
    drawn = []
    backoff_seconds(policy, 2, lambda low, high: drawn.append((low, high)) or 0.0)
    assert drawn == [(0.0, 20.0)]


@pytest.mark.parametrize(("attempts", "again"), [(1, True), (2, True), (3, False)])
def test_max_retries_are_extra_attempts(attempts, again):
    assert may_retry(PLAIN, instance(attempts), Outcome(OutcomeKind.FAILED, NOW)) is again


def test_lost_attempts_do_not_use_up_retries():
    assert may_retry(PLAIN, instance(4, lost=2), Outcome(OutcomeKind.FAILED, NOW))


@pytest.mark.parametrize(
    "kind", sorted(set(OutcomeKind) - {OutcomeKind.FAILED, OutcomeKind.TIMEOUT, OutcomeKind.MEMORY_EXCEEDED})
)
def test_other_outcomes_are_not_retried(kind):
    assert not may_retry(PLAIN, instance(1), Outcome(kind, NOW))


def test_taking_over_has_its_own_budget():
    assert may_be_taken_over(instance(1, lost=LOST_BUDGET - 1))
    assert not may_be_taken_over(instance(1, lost=LOST_BUDGET))


def test_two_thousand_retries_wait_no_longer_than_the_cap():
    widest = RetryPolicy(max_retries=2000, delay_seconds=86_400, max_delay_seconds=86_400 * 365, jitter=True)
    waits = [backoff_seconds(widest, n, max) for n in range(1, 2001)]
    assert (waits[0], waits[-1]) == (86_400, 86_400 * 365)
    assert waits == sorted(waits)
    assert backoff_seconds(RetryPolicy(2000, 0, 0), 2000, max) == 0


@pytest.mark.parametrize("lists", [{"only_exit_codes": (3,)}, {"never_exit_codes": (1, 137, 143)}])
@pytest.mark.parametrize(
    ("kind", "code"),
    [(OutcomeKind.FAILED, None), (OutcomeKind.TIMEOUT, 143), (OutcomeKind.MEMORY_EXCEEDED, 137)],
)  # fmt: skip
def test_exit_codes_judge_only_what_ended_by_itself(lists, kind, code):
    policy = RetryPolicy(max_retries=1, **lists)
    assert may_retry(policy, instance(1), Outcome(kind, NOW, exit_code=code, signal=None if code else 9))
