"""What the engine decides. A store commits all decisions of one pass together, and says which were refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jobs.core.records import Allocation, Blame, Hold, Instance, Outcome
from jobs.core.states import Status
from jobs.core.values import made_often


@made_often
@dataclass(frozen=True, slots=True)
class Birth:
    """An instance that a fire makes: queued with its place in the order, or pending until it is due and may run.

    `bound`: it is made only while fewer than this many of its job's instances have not ended, None: in any case.
    """

    job_id: int
    logical_at: datetime
    due_at: datetime
    status: Status
    queued_at: datetime | None = None
    order_key: int | None = None
    serial: bool = False
    bound: int | None = None

    def instance(self, instance_id: int, schedule_id: int) -> Instance:
        """What it becomes when a store has given it an id."""
        return Instance(
            instance_id,
            self.job_id,
            self.status,
            self.logical_at,
            self.due_at,
            schedule_id=schedule_id,
            queued_at=self.queued_at,
            order_key=self.order_key,
            serial=self.serial,
        )


@made_often
@dataclass(frozen=True, slots=True)
class Skip:
    """`count` fires, the latest of them at `logical_at`, that become no instance, and why."""

    code: str
    reason: str
    logical_at: datetime
    count: int = 1


@made_often
@dataclass(frozen=True, slots=True)
class Fire:
    """A schedule came due. `births` come in the order in which they may start: upstreams before what waits for them.

    `logical_at` is the latest fire that is decided by this, `missed` counts earlier ones that a later one stands for,
    `next_at` is the fire after it, None when there is none. The store gives the instances their ids and hands them back
    as born.
    """

    schedule_id: int
    job_id: int
    job_revision: int
    logical_at: datetime
    next_at: datetime | None
    missed: int = 0
    births: tuple[Birth, ...] = ()
    skips: tuple[Skip, ...] = ()


@made_often
@dataclass(frozen=True, slots=True)
class Rearm:
    """A schedule that counts from the end of the last run fires next at `next_at`.

    Refused if that is known already, or if the job was edited or paused meanwhile.
    """

    schedule_id: int
    job_id: int
    job_revision: int
    next_at: datetime


@dataclass(frozen=True, slots=True)
class Flag:
    """A schedule that cannot be used. It is set aside with its fault; everything else goes on."""

    schedule_id: int
    job_id: int
    fault: str


@made_often
@dataclass(frozen=True, slots=True)
class Queue:
    """pending or retrying -> queued: its moment has come."""

    instance_id: int
    job_id: int
    from_status: Status
    queued_at: datetime
    order_key: int


@made_often
@dataclass(frozen=True, slots=True)
class Start:
    """queued -> running, with the cores that it gets. Refused if it was moved, edited or paused meanwhile.

    `limits` and `rates`: what it takes one of, which the store checks again if other nodes take of them too.
    """

    instance_id: int
    job_id: int
    job_revision: int
    attempt: int
    token: str
    allocation: Allocation
    limits: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()


@made_often
@dataclass(frozen=True, slots=True)
class Wait:
    """The reason why a queued instance waits has changed."""

    instance_id: int
    job_id: int
    hold: Hold


@made_often
@dataclass(frozen=True, slots=True)
class Begin:
    """The process of a committed start exists."""

    instance_id: int
    job_id: int
    token: str
    attempt: int
    at: datetime


@made_often
@dataclass(frozen=True, slots=True)
class Finish:
    """An attempt ended, and `status` is what its instance becomes: terminal, retrying (at `retry_at`) or queued.

    `usual_seconds`: the usual duration of its job from now on, None when this end does not change it. `failures`: how
    many of its job's instances in a row have failed by now, None when this end does not change it. `abandoned`: the
    attempt counts as ended, but its thread runs on.
    """

    instance_id: int
    job_id: int
    token: str
    attempt: int
    outcome: Outcome
    status: Status
    retry_at: datetime | None = None
    usual_seconds: float | None = None
    failures: int | None = None
    abandoned: bool = False


@made_often
@dataclass(frozen=True, slots=True)
class Dismiss:
    """An instance that waits ends without another attempt: upstream_failed, skipped, cancelled or failed.

    `code` and `reason` say why. `blame` is the first cause of an upstream_failed one. `failures`: as of a Finish.
    """

    instance_id: int
    job_id: int
    from_status: Status
    status: Status
    code: str
    reason: str
    blame: Blame | None = None
    failures: int | None = None


@dataclass(frozen=True, slots=True)
class Withdraw:
    """The wish that a running instance be cancelled, because a newer one replaces it."""

    instance_id: int
    job_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class Pause:
    """A job has failed so often in a row that nothing more of it is to start."""

    job_id: int
    reason: str


@made_often
@dataclass(frozen=True, slots=True)
class Stop:
    """The durable wish to cancel is to be passed to the runner. Nothing to commit."""

    instance_id: int
    attempt: int
    token: str


Decision = Fire | Rearm | Flag | Queue | Dismiss | Withdraw | Pause | Start | Wait | Begin | Finish | Stop


@dataclass(frozen=True, slots=True)
class Prepare:
    """An instance of the job waits for the environment `key`: make sure of it, and say so."""

    key: str
    job_id: int


@dataclass(frozen=True, slots=True)
class Unprepare:
    """Nobody waits for the environment `key` any more: one that is being made need not be."""

    key: str


@made_often
@dataclass(frozen=True, slots=True)
class Plan:
    """The outcome of one pass: what to commit and do, in order, and when to wake next (None: only when told).

    `preparations`: what to see to after that, in order; nothing of it is stored.
    """

    decisions: tuple[Decision, ...]
    wake_at: datetime | None
    preparations: tuple[Prepare | Unprepare, ...] = ()


_SUPERSEDABLE = frozenset({Begin, Rearm})


def without_superseded(decisions: Sequence[Decision]) -> list[Decision]:
    """A short attempt that began and ended in one pass is written once, as ended; what was to be the next fire of a
    schedule, and came due in the pass that says so, only as having fired."""
    if _SUPERSEDABLE.isdisjoint(map(type, decisions)):
        return list(decisions)
    finished = {decision.token for decision in decisions if isinstance(decision, Finish)}
    fired = {decision.schedule_id for decision in decisions if isinstance(decision, Fire)}
    return [
        d
        for d in decisions
        if not (isinstance(d, Begin) and d.token in finished) and not (isinstance(d, Rearm) and d.schedule_id in fired)
    ]
