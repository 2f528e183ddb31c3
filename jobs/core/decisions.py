"""What the engine decides. A store commits all decisions of one pass together, and says which were refused."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jobs.core.records import Allocation, Hold, Outcome
from jobs.core.states import Status


@dataclass(frozen=True, slots=True)
class Fire:
    """A schedule came due, and makes an instance with this place in the order; or makes none, for this `reason`.

    `missed` counts earlier fires that this one stands for. `next_at` is the fire after it, None when there is none.
    The store gives the instance its id and hands it back as born.
    """

    schedule_id: int
    job_id: int
    job_revision: int
    logical_at: datetime
    next_at: datetime | None
    missed: int
    queued_at: datetime
    order_key: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Flag:
    """A schedule that cannot be used. It is set aside with its fault; everything else goes on."""

    schedule_id: int
    job_id: int
    fault: str


@dataclass(frozen=True, slots=True)
class Queue:
    """pending or retrying -> queued: its moment has come."""

    instance_id: int
    job_id: int
    from_status: Status
    queued_at: datetime
    order_key: int


@dataclass(frozen=True, slots=True)
class Start:
    """queued -> running, with the cores that it gets. Refused if it was moved, edited or paused meanwhile."""

    instance_id: int
    job_id: int
    job_revision: int
    attempt: int
    token: str
    allocation: Allocation


@dataclass(frozen=True, slots=True)
class Wait:
    """The reason why a queued instance waits has changed."""

    instance_id: int
    job_id: int
    hold: Hold


@dataclass(frozen=True, slots=True)
class Begin:
    """The process of a committed start exists."""

    instance_id: int
    job_id: int
    token: str
    attempt: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Finish:
    """An attempt ended, and `status` is what its instance becomes: terminal, retrying (at `retry_at`) or queued.

    `usual_seconds`: the usual duration of its job from now on, None when this end does not change it.
    """

    instance_id: int
    job_id: int
    token: str
    attempt: int
    outcome: Outcome
    status: Status
    retry_at: datetime | None = None
    usual_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """The durable wish to cancel is to be passed to the runner. Nothing to commit."""

    instance_id: int
    attempt: int
    token: str


Decision = Fire | Flag | Queue | Start | Wait | Begin | Finish | Stop


@dataclass(frozen=True, slots=True)
class Plan:
    """The outcome of one pass: what to commit and do, in order, and when to wake next (None: only when told)."""

    decisions: tuple[Decision, ...]
    wake_at: datetime | None
