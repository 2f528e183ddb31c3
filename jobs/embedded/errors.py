"""What may go wrong between a program and its scheduler, each with a sentence to act on."""

from __future__ import annotations


class SchedulerError(Exception):
    """Anything that a scheduler refuses. The more exact ones below are this, too."""


class InvalidJob(SchedulerError, ValueError):
    """A job, or an option of one, that can never run as it is."""


class SchedulerNotStartedError(SchedulerError):
    """Something was asked of a scheduler before `start`."""

    def __init__(self, asked: str) -> None:
        super().__init__(
            f"{asked} was called before the scheduler was started; use `with Scheduler() as s:` or start()"
        )


class SchedulerStoppedError(SchedulerError):
    """Something was asked of a scheduler that is stopping or has stopped. A scheduler is not started twice."""

    def __init__(self, asked: str) -> None:
        super().__init__(f"{asked} was called after the scheduler was stopped; make a new Scheduler for new jobs")


class UnknownJobError(SchedulerError, KeyError):
    """An id that is none of this scheduler's, or of a job that ended so long ago that it is forgotten."""

    def __init__(self, job_id: object, history: int) -> None:
        self.job_id = job_id
        super().__init__(
            f"there is no job {job_id!r}; live ones and the last {history} that ended are known (history=)"
        )

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would quote the sentence


class NonRetryableError(Exception):
    """Raised by a job: it has failed, and trying again would not help."""


class JobCancelled(Exception):
    """Raised by `CancellationToken.check` in a job that has been asked to end."""
