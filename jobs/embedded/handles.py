"""What a program holds of what it submitted: views that stay up to date and change nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.core.decisions import Skip
from jobs.core.records import Blame, Hold, Instance
from jobs.core.states import TERMINAL, Status
from jobs.embedded.work import Work


class Handle:
    """One job that was submitted, or one run of a series.

    value, exception, error   what its last attempt returned, raised, and that in a sentence
    reason                    why it ended without an attempt, or why it was cancelled
    hold                      why it waits in the queue, if it is the first of its kind there
    abandoned                 it ended while its thread ran on
    """

    __slots__ = (
        "abandoned", "ended_at", "error", "exception", "hold", "home", "instance", "job", "payload", "reason", "series",
        "started_at", "value",
    )  # fmt: skip

    def __init__(
        self, instance: Instance, job: Work, payload: bytes | None, home: object, series: Series | None = None
    ) -> None:
        self.instance = instance
        self.job = job
        self.payload = payload
        self.home = home  # the ledger that it is written in
        self.series = series
        self.value: Any = None
        self.exception: BaseException | None = None
        self.error = ""
        self.reason = ""
        self.hold: Hold | None = None
        self.abandoned = False
        self.started_at: datetime | None = None
        self.ended_at: datetime | None = None

    def __repr__(self) -> str:
        return f"<job {self.id} {self.name!r} {self.status}>"

    @property
    def id(self) -> int:
        return self.instance.id

    @property
    def name(self) -> str:
        return self.job.title

    @property
    def status(self) -> Status:
        return self.instance.status

    @property
    def ended(self) -> bool:
        return self.instance.status in TERMINAL

    @property
    def attempts(self) -> int:
        return self.instance.attempts

    @property
    def due_at(self) -> datetime:
        return self.instance.due_at

    @property
    def retry_at(self) -> datetime | None:
        """When the next attempt is due, while it waits for that."""
        return self.instance.retry_at if self.status is Status.RETRYING else None

    @property
    def blame(self) -> Blame | None:
        """The first cause of an `upstream_failed`."""
        return self.instance.blame

    @property
    def lag_seconds(self) -> float | None:
        """From due to the start of its last attempt."""
        return (self.started_at - self.due_at).total_seconds() if self.started_at is not None else None


class Series:
    """A job that comes again.

    fired    runs that were made       missed  fires that a later one stood for, after a pause
    skipped  fires that made no run: the one before had not ended; `last_skip` says which and why
    failed   runs that ended as failed or timeout     unfinished  runs that have not ended
    fault    why it was set aside: its trigger raised
    """

    __slots__ = (
        "active", "failed", "fault", "fired", "id", "job", "last", "last_skip", "missed", "next_at", "payload",
        "skipped", "unfinished",
    )  # fmt: skip

    def __init__(self, series_id: int, job: Work, payload: bytes | None, next_at: datetime | None) -> None:
        self.id = series_id
        self.job = job
        self.payload = payload
        self.next_at = next_at
        self.active = True
        self.fired = 0
        self.skipped = 0
        self.missed = 0
        self.failed = 0
        self.unfinished = 0
        self.last: Handle | None = None
        self.last_skip: Skip | None = None
        self.fault = ""

    def __repr__(self) -> str:
        return f"<series {self.id} {self.name!r} fired {self.fired}, skipped {self.skipped}>"

    @property
    def name(self) -> str:
        return self.job.title


@dataclass(frozen=True, slots=True)
class Event:
    """A status changed. `from_status` is None when the job is new; `reason` is empty where there is nothing to say."""

    handle: Handle
    from_status: Status | None
    to_status: Status
    at: datetime
    attempt: int = 0
    reason: str = ""
