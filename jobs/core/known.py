"""What the engine knows of jobs and of instances that have not ended."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median
from typing import Any

from jobs.core.records import Allocation, Instance, Job
from jobs.core.states import LIVE, UNFINISHED, WAITING, Status, check_move
from jobs.core.values import made_often

# The usual duration is the median of this many last successes: one slow night does not move it.
USUAL_OF_LAST = 11

# Whose queued instances wait for the same: a job, and whether they run one after another.
Line = tuple[int, bool]

# Of the job whose instances run one after another, these keep the next one waiting.
BUSY = frozenset({Status.RUNNING, Status.RETRYING})


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
    """Live instances by id and by job, and which of them run on this node."""

    def __init__(self) -> None:
        self.instances: dict[int, Instance] = {}
        self.running: dict[int, Run] = {}
        self._jobs: dict[int, Job] = {}
        self._of_job: defaultdict[int, set[int]] = defaultdict(set)
        self._under_way: defaultdict[int, set[int]] = defaultdict(set)
        self._busy: defaultdict[int, set[int]] = defaultdict(set)
        self._queued: Counter[Line] = Counter()
        self._durations: dict[int, deque[float]] = {}
        self._freed: set[int] = set()

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

    def drop_job(self, job_id: int) -> None:
        """Forget the definition, unless something of it still runs and has to be settled."""
        if not self._of_job.get(job_id):
            self._jobs.pop(job_id, None)
            self._of_job.pop(job_id, None)
            self._under_way.pop(job_id, None)
            self._busy.pop(job_id, None)
            self._durations.pop(job_id, None)

    def note_duration(self, job_id: int, seconds: float) -> float:
        """A success took this long: returns the job's usual duration from now on."""
        job = self.job(job_id)
        seed = [] if job.usual_seconds is None else [job.usual_seconds]
        durations = self._durations.setdefault(job_id, deque(seed, maxlen=USUAL_OF_LAST))
        durations.append(seconds)
        usual = median(durations)
        if usual != job.usual_seconds:
            self._jobs[job_id] = replace(job, usual_seconds=usual)
        return usual

    def note_end(self, job_id: int, *, failed: bool) -> int:
        """An instance ended: returns how many of the job's have failed in a row by now."""
        job = self.job(job_id)
        failures = job.failures_in_a_row + 1 if failed else 0
        if failures != job.failures_in_a_row:
            self._jobs[job_id] = replace(job, failures_in_a_row=failures)
        return failures

    def put(self, instance: Instance) -> None:
        """An instance that has ended is not kept."""
        if instance.status not in LIVE:
            self.forget(instance.id)
            return
        self._count_queued(self.instances.get(instance.id), instance)
        self.instances[instance.id] = instance
        self._of_job[instance.job_id].add(instance.id)
        _keep(self._under_way[instance.job_id], instance.id, _is_under_way(instance))
        busy = self._busy[instance.job_id]
        if instance.status in BUSY:
            busy.add(instance.id)
        elif instance.id in busy:
            self._no_longer_busy(instance)

    def forget(self, instance_id: int) -> None:
        self.running.pop(instance_id, None)
        instance = self.instances.pop(instance_id, None)
        if instance is not None:
            self._count_queued(instance, None)
            self._of_job[instance.job_id].discard(instance_id)
            self._under_way[instance.job_id].discard(instance_id)
            if instance_id in self._busy[instance.job_id]:
                self._no_longer_busy(instance)

    def take_freed(self) -> set[int]:
        """Jobs of which, since this was last asked, an instance that kept others waiting no longer does."""
        freed, self._freed = self._freed, set()
        return freed

    def _count_queued(self, before: Instance | None, after: Instance | None) -> None:
        if before is not None and before.status is Status.QUEUED:
            line = before.job_id, before.serial
            self._queued[line] -= 1
            if not self._queued[line]:
                del self._queued[line]
        if after is not None and after.status is Status.QUEUED:
            self._queued[after.job_id, after.serial] += 1

    def _no_longer_busy(self, instance: Instance) -> None:
        self._busy[instance.job_id].discard(instance.id)
        self._freed.add(instance.job_id)

    def move(self, instance_id: int, status: Status, **changes: Any) -> Instance:
        """The instance in its next status, made by `Instance.moved`. Raises InvalidTransitionError."""
        instance = self.instances[instance_id]
        check_move(instance.status, status)
        moved = instance.moved(status, **changes)
        self.put(moved)
        return moved

    def started(self, instance_id: int, run: Run) -> None:
        self.move(instance_id, Status.RUNNING, attempts=run.attempt)
        self.running[instance_id] = run

    def wish_cancel(self, instance_id: int) -> None:
        self.put(replace(self.instances[instance_id], cancel_requested=True))

    def abandoned(self, instance_id: int) -> None:
        """Its instance has ended for everybody else; here it goes on being one that runs, as its attempt does."""
        self.running[instance_id] = replace(self.running[instance_id], abandoned=True)

    def run_of(self, instance_id: int, token: str) -> Run | None:
        """The one with this token, if it is what runs here of the instance."""
        run = self.running.get(instance_id)
        return run if run and run.token == token else None

    def stopped(self, instance_id: int) -> None:
        """No process of it is left on this node."""
        self.running.pop(instance_id, None)

    def under_way(self, job_ids: Iterable[int]) -> list[Instance]:
        """Instances of these jobs, anywhere, that have not ended: what a next fire would overlap with."""
        return [self.instances[i] for job_id in job_ids for i in sorted(self._under_way.get(job_id, ()))]

    def busy_with(self, job_id: int, *, but: int) -> int | None:
        """An instance of the job, other than `but`, that runs anywhere or waits to be tried again."""
        return next((i for i in self._busy.get(job_id, ()) if i != but), None)

    def is_busy(self, job_id: int) -> bool:
        """Whether what runs one after another of the job has to wait."""
        return bool(self._busy.get(job_id))

    def has_instances(self, job_id: int) -> bool:
        """Whether any of the job has not ended."""
        return bool(self._of_job.get(job_id))

    def waiting_of(self, job_id: int) -> list[Instance]:
        return [i for i in self._all_of(job_id) if i.status in WAITING]

    def running_of(self, job_id: int) -> list[Instance]:
        """On any node."""
        return [i for i in self._all_of(job_id) if i.status is Status.RUNNING]

    def queued_of(self, job_id: int) -> list[Instance]:
        return [i for i in self._all_of(job_id) if i.status is Status.QUEUED]

    def queued_in(self, line: Line) -> int:
        """How many are queued in it."""
        return self._queued[line]

    def all_queued(self) -> list[Instance]:
        return [i for i in self.instances.values() if i.status is Status.QUEUED]

    def _all_of(self, job_id: int) -> list[Instance]:
        return [self.instances[instance_id] for instance_id in sorted(self._of_job.get(job_id, ()))]


def _is_under_way(instance: Instance) -> bool:
    """What was submitted for a later moment is not; what its schedule made, and waits for its upstreams, is."""
    return instance.status in UNFINISHED or instance.schedule_id is not None


def _keep(ids: set[int], instance_id: int, wanted: bool) -> None:
    if wanted:
        ids.add(instance_id)
    else:
        ids.discard(instance_id)
