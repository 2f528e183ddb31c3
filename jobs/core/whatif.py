"""What a change would do to everything else: two simulations of the same present, compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from jobs.core.course import Course
from jobs.core.foresight import Warned, new_ones, warnings
from jobs.core.inputs import ScheduleChanged
from jobs.core.policies import DEFAULT_POLICY, FirePolicy
from jobs.core.present import Durations, Present
from jobs.core.records import Demand, Job
from jobs.core.simulate import MayGoOn, Simulation, always, run_together
from jobs.core.triggers import Trigger

# A wait that grows by less is none that anybody would notice.
LEAST_SECONDS = 1.0
MOST_LISTED = 50


@dataclass(frozen=True, slots=True)
class Change:
    """What would be other than it is. None: as it is; of a job that is not there yet, as a new job has it.

    `name`: of a job that there is, or of a new one.
    """

    name: str
    trigger: Trigger | None = None
    zone: str = "UTC"
    policy: FirePolicy | None = None
    cores: int | None = None
    memory_mb: int | None = None
    duration_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Longer:
    """A job that waits longer: the longest wait and the mean over its starts, in seconds."""

    job: str
    longest_before: float
    longest_after: float
    mean_before: float
    mean_after: float


@dataclass(frozen=True, slots=True)
class Skipped:
    job: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Comparison:
    before: Course
    after: Course
    waits_longer: tuple[Longer, ...]
    newly_skipped: tuple[Skipped, ...]
    new_warnings: tuple[Warned, ...]
    gone_warnings: tuple[Warned, ...]


def what_if(
    present: Present, change: Change, *, days: float, durations: Durations | None = None, may_go_on: MayGoOn = always
) -> Comparison:
    """Who would wait longer, what would be skipped and warned of that is not now.

    Both courses reach the same moment, also where `may_go_on` ends them early: else they could not be compared.
    """
    durations = durations or Durations()
    other = changed(present, change)
    job = other.job_named(change.name)
    given = dict(durations.given)
    if change.duration_seconds is not None and job is not None:
        given[job.id] = change.duration_seconds
    until = present.now + timedelta(days=days)
    both = Simulation(present, until, durations), Simulation(other, until, replace(durations, given=given))
    reached = run_together(both, may_go_on)
    before, after = (one.course(reached) for one in both)
    warned_before, warned_after = warnings(present, before), warnings(other, after)
    return Comparison(
        before,
        after,
        tuple(_longer(before, after)),
        tuple(_skipped(before, after)),
        tuple(new_ones(warned_before, warned_after)),
        tuple(new_ones(warned_after, warned_before)),
    )


def changed(present: Present, change: Change) -> Present:
    """The present with the change in it."""
    old = present.job_named(change.name)
    job = old or Job(max((job.id for job in present.jobs), default=0) + 1, name=change.name)
    cores = job.demand.cores if change.cores is None else change.cores
    memory_mb = job.demand.memory_mb if change.memory_mb is None else change.memory_mb
    job = replace(job, demand=Demand(cores, memory_mb), paused=False)
    jobs = (*present.jobs, job) if old is None else tuple(job if one.id == job.id else one for one in present.jobs)
    return replace(present, jobs=jobs, schedules=_schedules(present, job, change))


def _schedules(present: Present, job: Job, change: Change) -> tuple[ScheduleChanged, ...]:
    if change.trigger is None:
        return present.schedules
    own = next((one for one in present.schedules if one.job_id == job.id), None)
    new_id = max((one.schedule_id for one in present.schedules), default=0) + 1
    policy = change.policy or (own.policy if own else DEFAULT_POLICY)
    told = ScheduleChanged(own.schedule_id if own else new_id, job.id, change.trigger, present.now, policy, change.zone)
    return (*(one for one in present.schedules if one is not own), told)


def _longer(before: Course, after: Course) -> list[Longer]:
    found: list[Longer] = []
    for job_id, sums in after.jobs.items():
        was = before.jobs.get(job_id)
        longest = was.longest_wait_seconds if was else 0.0
        mean = was.mean_wait_seconds if was else 0.0
        grown = max(sums.longest_wait_seconds - longest, sums.mean_wait_seconds - mean)
        if grown >= LEAST_SECONDS:
            found.append(Longer(sums.name, longest, sums.longest_wait_seconds, mean, sums.mean_wait_seconds))
    found.sort(key=lambda one: one.longest_after - one.longest_before, reverse=True)
    return found[:MOST_LISTED]


def _skipped(before: Course, after: Course) -> list[Skipped]:
    found: list[Skipped] = []
    for job_id, sums in after.jobs.items():
        was = before.jobs.get(job_id)
        count = was.skipped if was else 0
        if sums.skipped > count:
            found.append(Skipped(sums.name, count, sums.skipped))
    found.sort(key=lambda one: one.after - one.before, reverse=True)
    return found[:MOST_LISTED]
