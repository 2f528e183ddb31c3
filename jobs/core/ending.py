"""What follows from the end of an attempt: another one, or the end of its instance, and what the job learns from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from jobs.core import retry
from jobs.core.decisions import Dismiss, Finish, Pause
from jobs.core.known import KnownInstances, Run
from jobs.core.records import Instance, Outcome
from jobs.core.states import ENDED_BY, LIVE, OutcomeKind, Status, check_move

REPLACED = "was replaced by a newer instance of its job"
FAILURES = frozenset({Status.FAILED, Status.TIMEOUT})


class Endings:
    """Decides on ends, and does what it decided in `known` at once, as if it were committed."""

    def __init__(self, known: KnownInstances, uniform: Callable[[float, float], float]) -> None:
        self._known = known
        self._uniform = uniform

    def of(self, instance: Instance, run: Run, outcome: Outcome, now: datetime) -> tuple[Finish, *tuple[Pause, ...]]:
        """The attempt of `run` ended: that, and the pause of its job if it has failed too often."""
        usual = None
        if outcome.kind is OutcomeKind.SUCCESS and outcome.duration_seconds is not None:
            usual = self._known.note_duration(instance.job_id, outcome.duration_seconds)
        status, retry_at = self._what_follows(instance, outcome, now)
        lost = instance.lost_attempts + (outcome.kind is OutcomeKind.LOST)
        self._known.move(instance.id, status, retry_at=retry_at, lost_attempts=lost)
        return self._finish(instance, run, outcome, status, retry_at, usual)

    def abandon(self, instance: Instance, run: Run, outcome: Outcome) -> tuple[Finish, *tuple[Pause, ...]]:
        """The instance ends, its attempt does not. No other attempt follows: it would run beside this one."""
        status = ENDED_BY[outcome.kind]
        check_move(instance.status, status)
        self._known.abandoned(instance.id)
        finish, *pauses = self._finish(instance, run, outcome, status)
        return replace(finish, abandoned=True), *pauses

    def _finish(
        self,
        instance: Instance,
        run: Run,
        outcome: Outcome,
        status: Status,
        retry_at: datetime | None = None,
        usual: float | None = None,
    ) -> tuple[Finish, *tuple[Pause, ...]]:
        failures = self._known.note_end(instance.job_id, failed=status in FAILURES) if _counts(status) else None
        finish = Finish(
            instance.id, instance.job_id, run.token, run.attempt, outcome, status, retry_at, usual, failures
        )
        return finish, *self._pauses(instance.job_id, failures)

    def dismissed(self, dismiss: Dismiss) -> tuple[Dismiss, *tuple[Pause, ...]]:
        """One that failed without a run counts like any other failure."""
        if dismiss.status is not Status.FAILED:
            return (dismiss,)
        failures = self._known.note_end(dismiss.job_id, failed=True)
        return replace(dismiss, failures=failures), *self._pauses(dismiss.job_id, failures)

    def note(self, instance: Instance) -> None:
        """One that ran on another node is now so: what its end says about the job counts here too."""
        if _counts(instance.status):
            self._known.note_end(instance.job_id, failed=instance.status in FAILURES)

    def _pauses(self, job_id: int, failures: int | None) -> tuple[Pause, ...]:
        limit = self._known.job(job_id).pause_after_failures
        if failures is None or limit is None or failures < limit:
            return ()
        return (Pause(job_id, f"failed {failures} times in a row"),)

    def _what_follows(self, instance: Instance, outcome: Outcome, now: datetime) -> tuple[Status, datetime | None]:
        policy = self._known.job(instance.job_id).retry
        lost = outcome.kind is OutcomeKind.LOST
        if instance.cancel_requested:
            return Status.CANCELLED if lost else ENDED_BY[outcome.kind], None
        if lost and retry.may_be_taken_over(instance):
            return Status.RETRYING, now + timedelta(seconds=retry.lost_wait_seconds(instance))
        if retry.may_retry(policy, instance, outcome):
            seconds = retry.backoff_seconds(policy, instance.attempts - instance.lost_attempts, self._uniform)
            return Status.RETRYING, now + timedelta(seconds=seconds)
        return ENDED_BY[outcome.kind], None


def _counts(status: Status) -> bool:
    """Whether an end says something about the job: a cancel does not."""
    return status not in LIVE and status is not Status.CANCELLED
