"""Whether a failed attempt is tried again, and after how long."""

from __future__ import annotations

from collections.abc import Callable

from jobs.core.records import Instance, Outcome, RetryPolicy
from jobs.core.states import OutcomeKind

# Beyond this the cap has long been reached, and 2.0 ** n would overflow.
LARGEST_EXPONENT = 60

# How often an instance may lose its node or runner before it counts as failed: a job that kills its machine must not
# circle for ever.
LOST_BUDGET = 3

# A node that can start nothing for a moment (no process, no space) must not use up the budget of its whole queue in
# that moment: 5 s, 20 s, 80 s.
LOST_WAIT_SECONDS = 5.0
LOST_WAIT_GROWTH = 4.0

RETRYABLE = frozenset({OutcomeKind.FAILED, OutcomeKind.TIMEOUT, OutcomeKind.MEMORY_EXCEEDED})


def backoff_seconds(policy: RetryPolicy, failures: int, uniform: Callable[[float, float], float]) -> float:
    """Seconds to wait after failure number `failures` (1-based).

    Capped exponential backoff, min(cap, base x 2^(n-1)); with jitter a uniform share of that from 0 ("full jitter"),
    so that a hundred jobs that failed together do not come back together.
    """
    exponent = min(max(failures - 1, 0), LARGEST_EXPONENT)
    ceiling = min(policy.max_delay_seconds, policy.delay_seconds * 2.0**exponent)
    return uniform(0.0, ceiling) if policy.jitter else ceiling


def may_retry(policy: RetryPolicy, instance: Instance, outcome: Outcome) -> bool:
    """`instance.attempts` includes the attempt that just ended; lost ones are not counted against the policy."""
    failures = instance.attempts - instance.lost_attempts
    if outcome.final:
        return False
    return outcome.kind in RETRYABLE and failures <= policy.max_retries and _exit_code_may(policy, outcome)


def _exit_code_may(policy: RetryPolicy, outcome: Outcome) -> bool:
    """An end without an exit code (by a signal, by the time limit) is not judged by it."""
    if outcome.kind is not OutcomeKind.FAILED or outcome.exit_code is None:
        return True
    if policy.only_exit_codes and outcome.exit_code not in policy.only_exit_codes:
        return False
    return outcome.exit_code not in policy.never_exit_codes


def lost_wait_seconds(instance: Instance) -> float:
    """Seconds until a lost attempt is followed by another; `lost_attempts` does not include the one just lost."""
    return LOST_WAIT_SECONDS * LOST_WAIT_GROWTH**instance.lost_attempts


def may_be_taken_over(instance: Instance) -> bool:
    """Whether a lost attempt leads to another; `lost_attempts` does not include the one just lost."""
    return instance.lost_attempts < LOST_BUDGET
