"""What a simulation begins with: the state of things at one moment, as values, and how long each job will take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from jobs.core.cores import CoreManager
from jobs.core.inputs import LimitsChanged, ScheduleChanged
from jobs.core.records import Allocation, Demand, Instance, Job

GUESS_SECONDS = 60.0
NO_LIMITS = LimitsChanged({}, {})


class DurationFrom(StrEnum):
    """Where the duration of a simulated run comes from."""

    GIVEN = "given"
    USUAL = "usual"
    TIME_LIMIT = "time_limit"
    GUESS = "guess"


@dataclass(frozen=True, slots=True)
class Machine:
    """A node that takes work. `memory_mb` 0: unknown, so that none is counted."""

    name: str
    cores: int
    overcommit: float = 1.5
    memory_mb: int = 0


@dataclass(frozen=True, slots=True)
class Underway:
    """An attempt that runs now, with what it holds. `counted` False: on a machine that is not one of the present's."""

    instance: Instance
    since: datetime
    slots: int
    memory_mb: int = 0
    counted: bool = True


@dataclass(frozen=True, slots=True)
class Durations:
    """How long runs take: as given for their job, else as usual, else their time limit, else the guess (seconds)."""

    guess_seconds: float = GUESS_SECONDS
    given: Mapping[int, float] = field(default_factory=dict)

    def of(self, job: Job) -> tuple[float, DurationFrom]:
        if job.id in self.given:
            return self.given[job.id], DurationFrom.GIVEN
        if job.usual_seconds is not None:
            return job.usual_seconds, DurationFrom.USUAL
        if job.timeout_seconds is not None:
            return job.timeout_seconds, DurationFrom.TIME_LIMIT
        return self.guess_seconds, DurationFrom.GUESS


@dataclass(frozen=True, slots=True)
class Present:
    """Everything that decides what happens next. `jobs`: upstreams before what waits for them.

    `waiting`: instances that have not started; `ended`: upstreams that have, on dates that somebody waits on.
    `over`: jobs whose schedule has come to its end, by name, with the schedule in words. `notes`: sentences about what
    was left out, for whoever reads the result.
    """

    now: datetime
    machines: tuple[Machine, ...]
    jobs: tuple[Job, ...] = ()
    schedules: tuple[ScheduleChanged, ...] = ()
    waiting: tuple[Instance, ...] = ()
    running: tuple[Underway, ...] = ()
    ended: tuple[Instance, ...] = ()
    limits: LimitsChanged = NO_LIMITS
    order: str = "priority"
    weights: Mapping[str, float] = field(default_factory=dict)
    over: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def job_named(self, name: str) -> Job | None:
        return next((job for job in self.jobs if job.name == name), None)

    @property
    def last_instance_id(self) -> int:
        instances = [*self.waiting, *self.ended, *(one.instance for one in self.running)]
        return max((instance.id for instance in instances), default=0)


class Pool(CoreManager):
    """The machines as one: what no single one of them could hold never fits, however much they have together."""

    def __init__(self, machines: Sequence[Machine]) -> None:
        if not machines:
            raise ValueError("no machine was given; a simulation needs the cores of at least one")
        super().__init__(range(sum(machine.cores for machine in machines)), memory_mb=_memory(machines))
        each = [CoreManager(range(one.cores), overcommit=one.overcommit, memory_mb=one.memory_mb) for one in machines]
        self.virtual_total = sum(manager.virtual_total for manager in each)
        self._each = each
        self._able: dict[Demand, bool] = {}

    def can_ever(self, demand: Demand) -> bool:
        fits = self._able.get(demand)
        if fits is None:
            fits = self._able[demand] = any(manager.can_ever(demand) for manager in self._each)
        return fits

    @property
    def largest(self) -> int:
        """Slots of the machine that has most of them."""
        return max(manager.slots for manager in self._each)

    def restore_all(self, running: Iterable[Underway]) -> dict[int, Allocation]:
        """Give those that run what they hold, on cores without a meaning: the first that are free."""
        given: dict[int, Allocation] = {}
        free = iter(self.cores)
        for one in running:
            cores = tuple(core for _, core in zip(range(one.slots), free, strict=False))
            given[one.instance.id] = Allocation(cores, one.slots - len(cores), one.memory_mb)
        return given


def _memory(machines: Sequence[Machine]) -> int:
    """In all; 0, which is not counted, if that of one is unknown."""
    return 0 if any(not machine.memory_mb for machine in machines) else sum(machine.memory_mb for machine in machines)
