"""Frozen values that the engine takes in and hands out. Moments are aware UTC datetimes, durations are seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from typing import NamedTuple

from jobs.core.policies import UpstreamRule
from jobs.core.states import OutcomeKind, Status
from jobs.core.values import made_often


class Priority(IntEnum):
    LOW = 0
    MEDIUM = 1
    HIGH = 2
    CRITICAL = 3


class Demand(NamedTuple):
    """What an attempt needs before it may start: whole cores and megabytes of memory (0 = does not say).

    Hashed at every look at a kind of needs, for which a tuple takes a quarter of the time.
    """

    cores: int = 1
    memory_mb: int = 0


ONE_CORE = Demand()


@made_often
@dataclass(frozen=True, slots=True)
class Allocation:
    """What an attempt holds: ids of physical cores, a number of virtual slots, megabytes of memory."""

    cores: tuple[int, ...]
    virtual: int
    memory_mb: int

    @property
    def pinned(self) -> bool:
        """Only an allocation without virtual slots has cores to itself, so only it is pinned to them."""
        return bool(self.cores) and self.virtual == 0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`max_retries` extra attempts. Backoff before attempt n+1: see `jobs.core.retry`.

    `only_exit_codes`: if not empty, a failure with another exit code is final. `never_exit_codes`: one with these is.
    """

    max_retries: int = 0
    delay_seconds: float = 60.0
    max_delay_seconds: float = 3600.0
    jitter: bool = True
    only_exit_codes: tuple[int, ...] = ()
    never_exit_codes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """The part of a job's definition that decisions are made from. `revision` rises with every edit.

    `deadline_seconds` (from due to done) is what earliest deadline first goes by; `start_deadline_seconds` (from due to
    started) turns what is late into skipped. `upstreams` are ids of jobs; `not_before` is a time of day, HH:MM.
    `limits` are keys of limits on how many run at once, `rates` names of token buckets that a start takes from.
    `environment`: the key of what its Python must have (see `jobs.core.packages`), empty for the service's own.
    `cannot_run`: why nothing of it could ever start; each of its instances fails when its moment comes. Empty: it can.
    """

    id: int
    revision: int = 1
    name: str = ""
    demand: Demand = ONE_CORE
    priority: int = Priority.MEDIUM
    timeout_seconds: float | None = None
    retry: RetryPolicy = RetryPolicy()
    paused: bool = False
    usual_seconds: float | None = None
    tenant: str = ""
    deadline_seconds: float | None = None
    start_deadline_seconds: float | None = None
    upstreams: tuple[int, ...] = ()
    upstream_rule: UpstreamRule = UpstreamRule.ALL_SUCCESS
    not_before: str = ""
    max_running: int | None = None
    limits: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    pause_after_failures: int | None = None
    failures_in_a_row: int = 0
    cannot_run: str = ""
    environment: str = ""

    @property
    def expected_seconds(self) -> float | None:
        """How long an attempt is expected to take: as usual, else at most its time limit, else nobody knows."""
        return self.usual_seconds if self.usual_seconds is not None else self.timeout_seconds

    def start_by(self, due_at: datetime) -> datetime | None:
        """The last moment at which what is due then may start: at it, it is in time. None: whenever it likes.

        The one rule of the start deadline, for a fire as for what waits.
        """
        return None if self.start_deadline_seconds is None else due_at + timedelta(seconds=self.start_deadline_seconds)


@made_often
@dataclass(frozen=True, slots=True)
class Blame:
    """The instance whose end is the first cause of another's, and the name of its job."""

    instance_id: int
    job_name: str
    status: Status


@made_often
@dataclass(frozen=True, slots=True)
class Instance:
    """One execution of a job for one logical date. `order_key` is fixed the first time that it is queued.

    `serial`: it waits until no other instance of its job runs. `blame`: of an upstream_failed one. `backfill`: one of
    a backfill, which no fire of the schedule is skipped for.
    """

    id: int
    job_id: int
    status: Status
    logical_at: datetime
    due_at: datetime
    generation: int = 0
    schedule_id: int | None = None
    queued_at: datetime | None = None
    order_key: int | None = None
    attempts: int = 0
    lost_attempts: int = 0
    retry_at: datetime | None = None
    cancel_requested: bool = False
    serial: bool = False
    blame: Blame | None = None
    backfill: bool = False

    def moved(
        self,
        status: Status,
        *,
        attempts: int | None = None,
        lost_attempts: int | None = None,
        retry_at: datetime | None = None,
        queued_at: datetime | None = None,
        order_key: int | None = None,
        blame: Blame | None = None,
    ) -> Instance:
        """It in another status, with what that changes (None: as it is, but for `retry_at`).

        Every move of every instance comes through here, and `dataclasses.replace` takes three times as long.
        """
        return Instance(
            self.id,
            self.job_id,
            status,
            self.logical_at,
            self.due_at,
            self.generation,
            self.schedule_id,
            self.queued_at if queued_at is None else queued_at,
            self.order_key if order_key is None else order_key,
            self.attempts if attempts is None else attempts,
            self.lost_attempts if lost_attempts is None else lost_attempts,
            retry_at,
            self.cancel_requested,
            self.serial,
            self.blame if blame is None else blame,
            self.backfill,
        )


@made_often
@dataclass(frozen=True, slots=True)
class Outcome:
    """How one attempt ended, as the runner saw it. `error` is one sentence that says why; empty on success. `result`:
    the JSON that the job gave, as text.

    `final`: whatever the retry policy says, no other attempt follows a failure.
    """

    kind: OutcomeKind
    ended_at: datetime
    started_at: datetime | None = None
    exit_code: int | None = None
    signal: int | None = None
    error: str = ""
    duration_seconds: float | None = None
    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None
    descendants_ended: int = 0
    result: str = ""
    final: bool = False


@made_often
@dataclass(frozen=True, slots=True)
class Hold:
    """Why an instance waits: a code and what it is about. The sentence is made when somebody looks."""

    code: str
    subject: dict[str, object] = field(default_factory=dict)
