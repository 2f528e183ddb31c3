"""Who paused a job, in words."""

from __future__ import annotations

from jobs.models import Job
from jobs.store.dismissals import PAUSED_BY


def paused_by_itself(job: Job) -> bool:
    """Whether it was paused because it failed too often in a row."""
    return job.paused and job.paused_by == PAUSED_BY


def who_paused(job: Job) -> str:
    """A user's name, or such as "rota after 3 failures in a row"; empty where nobody is known."""
    if not paused_by_itself(job):
        return job.paused_by
    count = job.failures_in_a_row
    return f"rota after {count} failures in a row" if count != 1 else "rota after a failure"
