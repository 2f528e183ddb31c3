"""What a simulation saw: totals, sums by job, the first runs and skips, the longest waits, and the use of cores.

Bounded in size whatever the length: of what comes by the thousand, the first `MOST_ROWS` and sums are kept.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobs.core.coreuse import CoreUse, Part
from jobs.core.decisions import Dismiss, Fire, Skip
from jobs.core.known import KnownInstances
from jobs.core.present import DurationFrom, Durations, Pool, Present
from jobs.core.records import Allocation, Instance
from jobs.core.states import WAITING, OutcomeKind
from jobs.core.values import made_often

MOST_ROWS = 200
MOST_PARTS = 400

# Of one that waits without being the first of its kind, nothing is written: it is behind those that are.
TURN = "turn"


@dataclass(slots=True)
class JobCourse:
    """Sums of one job. Waits are from joining the queue to the start; skips are counted by code."""

    job_id: int
    name: str
    cores: int
    seconds: float
    duration_from: DurationFrom
    fires: int = 0
    instances: int = 0
    starts: int = 0
    ends: int = 0
    waits: int = 0
    waited_seconds: float = 0.0
    longest_wait_seconds: float = 0.0
    skips: Counter[str] = field(default_factory=Counter)
    waits_by: Counter[str] = field(default_factory=Counter)
    last_fire: datetime | None = None
    shortest_gap_seconds: float | None = None
    fired_last_at: datetime | None = None

    @property
    def mean_wait_seconds(self) -> float:
        """Over all starts, those that did not wait too."""
        return self.waited_seconds / self.starts if self.starts else 0.0

    @property
    def skipped(self) -> int:
        return sum(self.skips.values())


@dataclass(slots=True)
class SimulatedRun:
    """`why`: the code of what it waited for last, "" if it did not wait. `ended_at` None: it still runs."""

    instance_id: int
    job_id: int
    logical_at: datetime
    queued_at: datetime
    started_at: datetime
    slots: int
    wait_seconds: float
    why: str
    ended_at: datetime | None = None
    outcome: str = ""


@made_often
@dataclass(frozen=True, slots=True)
class SimulatedFire:
    """`instances`: how many it made. `missed`: earlier ones that it stands for."""

    job_id: int
    logical_at: datetime
    at: datetime
    instances: int
    missed: int


@dataclass(frozen=True, slots=True)
class SimulatedSkip:
    job_id: int
    logical_at: datetime
    code: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class Course:
    """`reached` < `until`: it was cut. `longest_waits`: the longest first; `waiting`: what had not started by then."""

    begins: datetime
    until: datetime
    reached: datetime
    slots: int
    largest_slots: int
    guess_seconds: float
    jobs: dict[int, JobCourse]
    fires: tuple[SimulatedFire, ...]
    runs: tuple[SimulatedRun, ...]
    longest_waits: tuple[SimulatedRun, ...]
    skips: tuple[SimulatedSkip, ...]
    parts: tuple[Part, ...]
    part_seconds: float
    mean_slots: float
    peak: int
    peak_at: datetime
    running: int
    waiting: tuple[tuple[int, datetime, str], ...]

    @property
    def cut(self) -> bool:
        return self.reached < self.until

    def total(self, name: str) -> float:
        """The sum over all jobs of one of their numbers."""
        return float(sum(getattr(job, name) for job in self.jobs.values()))


class Recorder:
    """Is told of everything as it happens."""

    def __init__(self, present: Present, until: datetime, pool: Pool, durations: Durations) -> None:
        self._present = present
        self._until = until
        self._pool = pool
        self._guess_seconds = durations.guess_seconds
        self._jobs = {job.id: JobCourse(job.id, job.name, job.demand.cores, *durations.of(job)) for job in present.jobs}
        self._use = CoreUse(present.now, until, part_for(until - present.now))
        self._since = {one.id: one.queued_at or present.now for one in present.waiting}
        self._why: dict[int, str] = {}
        self._fires: list[SimulatedFire] = []
        self._runs: list[SimulatedRun] = []
        self._open: dict[int, SimulatedRun] = {}
        self._waits: list[tuple[float, int, SimulatedRun]] = []
        self._skips: list[SimulatedSkip] = []

    def used(self, slots: int, now: datetime) -> None:
        self._use.set(slots, now)

    def fired(self, fire: Fire, now: datetime) -> None:
        job = self._jobs[fire.job_id]
        job.fires += 1
        self._use.fired(now)
        if job.last_fire is not None:
            gap = (fire.logical_at - job.last_fire).total_seconds()
            if job.shortest_gap_seconds is None or gap < job.shortest_gap_seconds:
                job.shortest_gap_seconds = gap
        job.last_fire = fire.logical_at
        if fire.next_at is None:
            job.fired_last_at = fire.logical_at
        for birth in fire.births:
            made = self._jobs[birth.job_id]
            made.instances += 1
            if birth.queued_at is not None:
                self._use.demand(made.cores, made.seconds, now)
        for skip in fire.skips:
            self.skipped(fire.job_id, skip)
        if len(self._fires) < MOST_ROWS:
            self._fires.append(SimulatedFire(fire.job_id, fire.logical_at, now, len(fire.births), fire.missed))

    def queued(self, instance_id: int, job_id: int, now: datetime) -> None:
        self._since[instance_id] = now
        job = self._jobs[job_id]
        self._use.demand(job.cores, job.seconds, now)

    def held(self, instance_id: int, code: str) -> None:
        self._why[instance_id] = code

    def started(self, instance: Instance, allocation: Allocation, now: datetime) -> None:
        job = self._jobs[instance.job_id]
        job.starts += 1
        queued_at = self._since.pop(instance.id, None) or instance.queued_at or now
        waited = (now - queued_at).total_seconds() if now > queued_at else 0.0
        keep = len(self._runs) < MOST_ROWS
        if not waited and not keep:
            self._why.pop(instance.id, None)
            return
        why = self._why.pop(instance.id, TURN) if waited else ""
        run = SimulatedRun(
            instance.id,
            job.job_id,
            instance.logical_at,
            queued_at,
            now,
            len(allocation.cores) + allocation.virtual,
            waited,
            why,
        )
        if keep:
            self._runs.append(run)
        if waited:
            self._waited(job, run)
        if keep or waited:
            self._open[instance.id] = run

    def ended(self, instance: Instance, now: datetime, kind: OutcomeKind) -> None:
        self._jobs[instance.job_id].ends += 1
        run = self._open.pop(instance.id, None)
        if run is not None:
            run.ended_at, run.outcome = now, kind.value

    def skipped(self, job_id: int, skip: Skip) -> None:
        self._jobs[job_id].skips[skip.code] += skip.count
        if len(self._skips) < MOST_ROWS:
            self._skips.append(SimulatedSkip(job_id, skip.logical_at, skip.code, skip.reason, skip.count))

    def dismissed(self, dismiss: Dismiss, now: datetime) -> None:
        self._since.pop(dismiss.instance_id, None)
        self._why.pop(dismiss.instance_id, None)
        self.skipped(dismiss.job_id, Skip(dismiss.code, dismiss.reason, now))

    def _waited(self, job: JobCourse, run: SimulatedRun) -> None:
        job.waits += 1
        job.waited_seconds += run.wait_seconds
        job.longest_wait_seconds = max(job.longest_wait_seconds, run.wait_seconds)
        job.waits_by[run.why] += 1
        entry = (run.wait_seconds, -run.instance_id, run)
        if len(self._waits) < MOST_ROWS:
            heapq.heappush(self._waits, entry)
        elif entry[:2] > self._waits[0][:2]:
            heapq.heapreplace(self._waits, entry)

    def course(self, reached: datetime, known: KnownInstances) -> Course:
        waiting = sorted(
            (one for one in known.instances.values() if one.status in WAITING and one.due_at <= reached),
            key=lambda one: (one.due_at, one.id),
        )
        return Course(
            begins=self._present.now,
            until=self._until,
            reached=reached,
            slots=self._pool.slots,
            largest_slots=self._pool.largest,
            guess_seconds=self._guess_seconds,
            jobs=self._jobs,
            fires=tuple(self._fires),
            runs=tuple(self._runs),
            longest_waits=tuple(run for _, _, run in sorted(self._waits, key=lambda one: one[:2], reverse=True)),
            skips=tuple(self._skips),
            parts=tuple(self._use.parts(reached)),
            part_seconds=self._use.part.total_seconds(),
            mean_slots=self._use.mean(reached),
            peak=self._use.peak,
            peak_at=self._use.peak_at,
            running=len(known.running),
            waiting=tuple((one.job_id, one.due_at, self._why.get(one.id, TURN)) for one in waiting),
        )


def part_for(whole: timedelta) -> timedelta:
    """Five minutes for up to a day, an hour for up to two weeks, then as long as makes MOST_PARTS at most."""
    for part in (timedelta(minutes=5), timedelta(hours=1)):
        if whole / part <= MOST_PARTS:
            return part
    return timedelta(hours=-(-whole // timedelta(hours=MOST_PARTS)))
