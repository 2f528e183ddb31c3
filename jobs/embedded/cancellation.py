"""How a running job learns that it is to end."""

from __future__ import annotations

import threading
from contextvars import ContextVar

from jobs.embedded.errors import JobCancelled, SchedulerError


class CancellationToken:
    """Set once, when the job is cancelled or has run out of time. May be asked and waited for from any thread."""

    def __init__(self) -> None:
        self._set = threading.Event()

    @property
    def cancelled(self) -> bool:
        return self._set.is_set()

    def cancel(self) -> None:
        self._set.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Sleep for so long, or until the job is to end; whether it is."""
        return self._set.wait(seconds)

    def check(self) -> None:
        """Raise JobCancelled if the job is to end: a short way out of a deep loop."""
        if self.cancelled:
            raise JobCancelled("the job was asked to end")


_of_this_job: ContextVar[CancellationToken] = ContextVar("rota_token")


def current_token() -> CancellationToken:
    """The token of the job that calls this: an AsyncJob or a BlockingJob. Raises SchedulerError elsewhere."""
    token = _of_this_job.get(None)
    if token is None:
        raise SchedulerError(
            "current_token() was called outside an AsyncJob or BlockingJob; "
            "a CpuBoundJob has none: its process is killed"
        )
    return token


def find_token() -> CancellationToken | None:
    return _of_this_job.get(None)


def give_token(token: CancellationToken) -> None:
    """To whatever runs in this context from now on."""
    _of_this_job.set(token)
