"""What the engine is told. Each is a fact that is already durable, or the end of a process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from jobs.core.limits import Rate
from jobs.core.policies import DEFAULT_POLICY, FirePolicy
from jobs.core.records import Instance, Job, Outcome
from jobs.core.triggers import Trigger
from jobs.core.values import made_often


@dataclass(frozen=True, slots=True)
class JobChanged:
    """A job was made, edited, paused or resumed."""

    job: Job


@dataclass(frozen=True, slots=True)
class JobGone:
    job_id: int


@dataclass(frozen=True, slots=True)
class ScheduleChanged:
    """A schedule was made or edited, or its job resumed: fires after `watched_from` count, earlier ones never did.

    `zone` is what the times of day of its workflow are read in. `next_at`: where a schedule that counts from the end of
    the last run has got to; None: it has to be worked out, or, with `waits_for_end`, an end will tell. `end_is_gone`:
    nobody knows any more when that end was.
    """

    schedule_id: int
    job_id: int
    trigger: Trigger
    watched_from: datetime
    policy: FirePolicy = DEFAULT_POLICY
    zone: str = "UTC"
    next_at: datetime | None = None
    waits_for_end: bool = False
    end_is_gone: bool = False


@dataclass(frozen=True, slots=True)
class ScheduleGone:
    """The job has no schedule (any more), or it must not fire: paused, set aside, or past its last fire."""

    job_id: int


@made_often
@dataclass(frozen=True, slots=True)
class InstanceSeen:
    """An instance as the store has it now: submitted, cancelled, moved or finished by somebody else."""

    instance: Instance


@dataclass(frozen=True, slots=True)
class InstanceGone:
    instance_id: int


@made_often
@dataclass(frozen=True, slots=True)
class Began:
    """The runner has claimed the attempt and its process exists."""

    instance_id: int
    token: str
    at: datetime


@made_often
@dataclass(frozen=True, slots=True)
class Ended:
    """The attempt is over and no process of it is left."""

    instance_id: int
    token: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Abandoned:
    """The instance ends with `outcome` although its attempt still runs and cannot be ended, as a thread cannot.

    What the attempt holds stays held, and its instance stays one to overlap with, until `Ended` comes. After a restart
    that is forgotten: only a thread of this process, or of a host process that ends with it, can be abandoned.
    """

    instance_id: int
    token: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class AbandonedElsewhere:
    """Whose threads go on, abandoned, on other nodes: all there are now, as the store has them.

    Told before the ends of these instances. Until a later one leaves them out, they stay ones to overlap with, and hold
    their places of limits, as they do on their own node.
    """

    instances: tuple[Instance, ...]


@dataclass(frozen=True, slots=True)
class CancelAsked:
    """Somebody wants the instance to end; for those without a store of their own that writes wishes down."""

    instance_id: int
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class AdmissionChanged:
    """Whether this node may start anything; `stopped` is the sentence that says why not, empty when it may."""

    stopped: str


@dataclass(frozen=True, slots=True)
class LimitsChanged:
    """All limits as they are now: how many may run at once by key, and the token buckets by name."""

    maxima: Mapping[str, int]
    rates: Mapping[str, Rate]


@dataclass(frozen=True, slots=True)
class Prepared:
    """The environment `key` is on this node, or it cannot be, which attempts will tell: who waits for it may start."""

    key: str


Input = (
    JobChanged
    | JobGone
    | ScheduleChanged
    | ScheduleGone
    | InstanceSeen
    | InstanceGone
    | Began
    | Ended
    | Abandoned
    | AbandonedElsewhere
    | CancelAsked
    | AdmissionChanged
    | LimitsChanged
    | Prepared
)
