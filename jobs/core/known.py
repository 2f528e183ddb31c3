"""What the engine knows of jobs and of instances that have not ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from jobs.core.ofjob import BUSY, OfJob
from jobs.core.prediction import ExpectedEnds, Holding
from jobs.core.records import Allocation, Instance, Job
from jobs.core.states import LIVE, WAITING, Status, check_move
from jobs.core.values import made_often

# The usual duration is the median of this many last successes: one slow night does not move it.
USUAL_OF_LAST = 11

# Whose queued instances wait for the same: a job, and whether they run one after another.
Line = tuple[int, bool]


class UnknownJobError(KeyError):
    """An instance names a job that the engine has not been told of."""

    def __init__(self, job_id: int) -> None:
        super().__init__(f"job {job_id} is not known; a job is told to the engine before its instances")


@made_often
@dataclass(frozen=True, slots=True)
class Run:
    """An attempt in flight on this node. `abandoned`: its instance has ended without it."""

    token: str
    attempt: int
    allocation: Allocation
    since: datetime
    abandoned: bool = False


class KnownInstances:
    """Live instances by id and by job, and which of them run on this node.

    `abandoned_elsewhere`: whose threads go on on other nodes; `outlived`: those of them that have ended, kept here as
    ones that run.
    """

    def __init__(self) -> None:
        self.instances: dict[int, Instance] = {}
        self.running: dict[int, Run] = {}
        self.abandoned_elsewhere: set[int] = set()
        self.outlived: set[int] = set()
        self.ends = ExpectedEnds()
        self._jobs: dict[int, Job] = {}
        self._of_jobs: dict[int, OfJob] = {}
        self._durations: dict[int, deque[float]] = {}
        self._freed: set[int] = set()

    # --- jobs ---

    def job(self, job_id: int) -> Job:
        try:
            return self._jobs[job_id]
        except KeyError:
            raise UnknownJobError(job_id) from None

    def find_job(self, job_id: int) -> Job | None:
        return self._jobs.get(job_id)

    def put_job(self, job: Job) -> None:
        """A definition without a usual duration keeps the one that was learnt."""
        known = self._jobs.get(job.id)
        if known is not None and job.usual_seconds is None:
            job = replace(job, usual_seconds=known.usual_seconds)
        self._jobs[job.id] = job
        if known is not None and known.expected_seconds != job.expected_seconds:
            self._expect_anew(job.id)

    def drop_job(self, job_id: int) -> None:
        """Forget the definition, unless something of it still runs and has to be settled."""
        if not self.has_instances(job_id):
            self._jobs.pop(job_id, None)
            self._of_jobs.pop(job_id, None)
            self._durations.pop(job_id, None)

    def idle_jobs(self) -> list[int]:
        """Those of which nothing is live, and no more is known than that they took so long once."""
        idle = (job_id for job_id in self._jobs if not self.has_instances(job_id))
        return [job_id for job_id in idle if len(self._durations.get(job_id, ())) < 2]

    def note_duration(self, job_id: int, seconds: float) -> float:
        """A success took this long: returns the job's usual duration from now on."""
        job = self.job(job_id)
        durations = self._durations.get(job_id)
        if durations is None:
            seed = [] if job.usual_seconds is None else [job.usual_seconds]
            durations = self._durations[job_id] = deque(seed, maxlen=USUAL_OF_LAST)
        durations.append(seconds)
        usual = median(durations)
        if usual != job.usual_seconds:
            self._jobs[job_id] = replace(job, usual_seconds=usual)
            self._expect_anew(job_id)
        return usual

    def note_end(self, job_id: int, *, failed: bool) -> int:
        """An instance ended: returns how many of the job's have failed in a row by now."""
        job = self.job(job_id)
        failures = job.failures_in_a_row + 1 if failed else 0
        if failures != job.failures_in_a_row:
            self._jobs[job_id] = replace(job, failures_in_a_row=failures)
        return failures

    # --- instances come, move and go ---

    def put(self, instance: Instance) -> None:
        """An instance that has ended is not kept."""
        if instance.status not in LIVE:
            self.forget(instance.id)
            return
        before = self.instances.get(instance.id)
        self.instances[instance.id] = instance
        of_job = self._of_jobs.get(instance.job_id)
        if of_job is None:
            of_job = self._of_jobs[instance.job_id] = OfJob()
        of_job.put(before, instance)
        if instance.id in of_job.busy and instance.status not in BUSY:
            self._no_longer_busy(of_job, instance)

    def forget(self, instance_id: int) -> None:
        self.stopped(instance_id)
        self.outlived.discard(instance_id)
        instance = self.instances.pop(instance_id, None)
        if instance is not None:
            of_job = self._of_jobs[instance.job_id]
            of_job.drop(instance)
            if instance_id in of_job.busy:
                self._no_longer_busy(of_job, instance)

    def _no_longer_busy(self, of_job: OfJob, instance: Instance) -> None:
        del of_job.busy[instance.id]
        self._freed.add(instance.job_id)

    def take_freed(self) -> set[int]:
        """Jobs of which, since this was last asked, an instance that kept others waiting no longer does."""
        freed, self._freed = self._freed, set()
        return freed

    def move(self, instance_id: int, status: Status, **changes: Any) -> Instance:
        """The instance in its next status, made by `Instance.moved`. Raises InvalidTransitionError."""
        instance = self.instances[instance_id]
        check_move(instance.status, status)
        moved = instance.moved(status, **changes)
        self.put(moved)
        return moved

    def started(self, instance_id: int, run: Run) -> None:
        self.move(instance_id, Status.RUNNING, attempts=run.attempt)
        self.runs(instance_id, run)

    def runs(self, instance_id: int, run: Run) -> None:
        """On this node."""
        self.running[instance_id] = run
        self._expect(instance_id, run)

    def wish_cancel(self, instance_id: int) -> None:
        self.put(replace(self.instances[instance_id], cancel_requested=True))

    def abandoned(self, instance_id: int) -> None:
        """Its instance has ended for everybody else; here it goes on being one that runs, as its attempt does."""
        self.running[instance_id] = replace(self.running[instance_id], abandoned=True)

    def outlive(self, instance: Instance) -> None:
        """It has ended, but not its thread on another node: here, too, it goes on being one that runs."""
        self.put(replace(instance, status=Status.RUNNING))
        self.outlived.add(instance.id)

    def run_of(self, instance_id: int, token: str) -> Run | None:
        """The one with this token, if it is what runs here of the instance."""
        run = self.running.get(instance_id)
        return run if run and run.token == token else None

    def stopped(self, instance_id: int) -> None:
        """No process of it is left on this node."""
        if self.running.pop(instance_id, None) is not None:
            self.ends.drop(instance_id)

    def _expect(self, instance_id: int, run: Run) -> None:
        seconds = self.job(self.instances[instance_id].job_id).expected_seconds
        ends_at = None if seconds is None else run.since + timedelta(seconds=seconds)
        slots = len(run.allocation.cores) + run.allocation.virtual
        self.ends.put(Holding(instance_id, slots, run.allocation.memory_mb, ends_at))

    def _expect_anew(self, job_id: int) -> None:
        """How long one of the job takes has changed."""
        for instance_id in self._of(job_id).busy:
            if instance_id in self.running:
                self._expect(instance_id, self.running[instance_id])

    # --- what is asked of a job ---

    def is_under_way(self, job_id: int) -> bool:
        """Whether anything of the job, anywhere, has not ended that was not just submitted for later."""
        of_job = self._of(job_id)
        return bool(of_job.fired or of_job.backfills)

    def in_the_way(self, job_ids: Iterable[int], but_of: datetime) -> Iterator[Instance]:
        """What is under way of these jobs for another date than `but_of`; a backfill lets fires go first.

        One after another, for as many as are asked for.
        """
        for job_id in job_ids:
            for instance in self._of(job_id).fired.values():
                if instance.logical_at != but_of:
                    yield instance

    def busy_with(self, job_id: int, but: int) -> int | None:
        """An instance of the job, other than `but`, that runs anywhere or waits to be tried again."""
        for instance_id in self._of(job_id).busy:
            if instance_id != but:
                return instance_id
        return None

    def is_busy(self, job_id: int) -> bool:
        """Whether what runs one after another of the job has to wait."""
        return bool(self._of(job_id).busy)

    def has_instances(self, job_id: int) -> bool:
        """Whether any of the job has not ended."""
        return bool(self._of(job_id).instances)

    def each_queued(self, job_id: int) -> Iterator[Instance]:
        """One after another, for as many as are asked for."""
        return (one for one in self._of(job_id).instances.values() if one.status is Status.QUEUED)

    def queued_of(self, job_id: int) -> list[Instance]:
        return list(self.each_queued(job_id))

    def waiting_of(self, job_id: int) -> list[Instance]:
        return [one for one in self._of(job_id).instances.values() if one.status in WAITING]

    def running_of(self, job_id: int) -> list[Instance]:
        """On any node."""
        return [one for one in self._of(job_id).instances.values() if one.status is Status.RUNNING]

    def queued_in(self, line: Line) -> int:
        """How many are queued in it."""
        job_id, serial = line
        return self._of(job_id).queued[serial]

    def all_queued(self) -> list[Instance]:
        return [i for i in self.instances.values() if i.status is Status.QUEUED]

    def _of(self, job_id: int) -> OfJob:
        return self._of_jobs.get(job_id, _NOTHING)


_NOTHING = OfJob()
