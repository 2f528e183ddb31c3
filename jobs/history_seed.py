"""Plausible history in bulk, to see how pages and lists do with years of it. Nothing of it ever runs by this.

The rows are those that the engine would have left: jobs with their schedules, ended instances with their attempts,
and their events, in the order of time.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from statistics import median

from django.db import transaction

from jobs.core.states import AttemptStatus, OutcomeKind, Status
from jobs.models import Attempt, Instance, Job, Node, Schedule
from jobs.store import schedules
from jobs.store.events import NewEvent, record

PORTION = 2_000  # instances in one transaction: fast enough, and a running service is not kept waiting
NODE = "history"
ACTOR = f"node:{NODE}"

TASKS = ("load", "export", "report", "back up", "clean", "index", "train", "check", "sync", "send")
THINGS = ("orders", "customers", "invoices", "sensors", "mail", "images", "logs", "prices", "models", "stock")
TAGS = ("etl", "daily", "finance", "ops", "ml", "reports", "slow", "customer")
TIMINGS = (
    ("interval", "5m"), ("interval", "1h"), ("cron", "*/15 * * * *"), ("cron", "0 * * * *"),
    ("daily", "02:30"), ("daily", "06:00:30"), ("weekly", "mon,thu 10:00"), ("cron", "30 16 * * mon-fri"),
)  # fmt: skip
ZONES = ("UTC", "UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo")
OUTCOMES = (
    (OutcomeKind.SUCCESS, 930), (OutcomeKind.FAILED, 40), (OutcomeKind.TIMEOUT, 12), (OutcomeKind.CANCELLED, 10),
    (OutcomeKind.LOST, 5), (OutcomeKind.MEMORY_EXCEEDED, 3),
)  # fmt: skip
ENDS = {
    OutcomeKind.SUCCESS: (Status.SUCCESS, 0, ""),
    OutcomeKind.FAILED: (Status.FAILED, 1, "exit code 1"),
    OutcomeKind.TIMEOUT: (Status.TIMEOUT, None, "The time limit has passed."),
    OutcomeKind.CANCELLED: (Status.CANCELLED, None, ""),
    OutcomeKind.LOST: (Status.FAILED, None, "The machine went away while it ran."),
    OutcomeKind.MEMORY_EXCEEDED: (Status.FAILED, None, "It was ended for want of memory."),
}


@dataclass(frozen=True, slots=True)
class Run:
    """One instance to be: of which job, for which moment, and how it went. Durations in seconds."""

    job: Job
    logical_at: datetime
    waited: float
    took: float
    outcome: OutcomeKind

    @property
    def started_at(self) -> datetime:
        return self.logical_at + timedelta(seconds=self.waited)

    @property
    def ended_at(self) -> datetime:
        return self.started_at + timedelta(seconds=self.took)


def seed(*, instances: int, jobs: int, days: float, now: datetime, random: Random) -> Iterator[int]:
    """Insert it all, and yield after each portion how many instances there are so far. `now` is an aware moment."""
    node = _node(now)
    made = _insert_jobs(jobs, now, random)
    runs = sorted(_runs(made, instances, days, now, random), key=lambda run: run.logical_at)
    done = 0
    for start in range(0, len(runs), PORTION):
        portion = runs[start : start + PORTION]
        _insert_portion(portion, node, random)
        done += len(portion)
        yield done
    _count_runs(runs)


def _node(now: datetime) -> Node:
    """A machine that has been there, and is stopped."""
    values = {"cores": [0, 1, 2, 3], "memory_mb": 16_000, "incarnation": 1, "started_at": now, "stopped_at": now}
    return Node.objects.get_or_create(name=NODE, defaults=values)[0]


@transaction.atomic
def _insert_jobs(count: int, now: datetime, random: Random) -> list[Job]:
    last = Job.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    made = Job.objects.bulk_create(
        [_job(f"{_pick(random, TASKS)} {_pick(random, THINGS)} {last + n + 1}", now, random) for n in range(count)],
        batch_size=PORTION,
    )
    timed = [_schedule(job, now, random) for job in made]
    Schedule.objects.bulk_create(timed, batch_size=PORTION)
    # Only now: H in a cron line is hashed from the row's id.
    for schedule in timed:
        schedule.next_at = None if schedule.job.paused else schedules.trigger_of(schedule).next_after(now)
    Schedule.objects.bulk_update(timed, ["next_at"], batch_size=PORTION)
    record([NewEvent(now, "job.created", job.pk, actor=ACTOR, data={"name": job.name}) for job in made])
    return made


def _job(name: str, now: datetime, random: Random) -> Job:
    paused = random.random() < 0.05
    return Job(
        name=name,
        kind=Job.Kind.COMMAND,
        body="true",
        description="Made by seedhistory.",
        cores=random.choice((1, 1, 1, 2)),
        memory_mb=random.choice((0, 256, 512, 1024)),
        timeout_seconds=random.choice((None, 600.0, 3600.0)),
        priority=random.choice((0, 1, 1, 1, 2, 3)),
        tags=sorted(random.sample(TAGS, random.randint(0, 3))),
        paused_at=now if paused else None,
        paused_by=ACTOR if paused else "",
        created_at=now,
        # The typical length of its runs, in seconds: most are short, a few long.
        usual_seconds=round(min(random.lognormvariate(2.5, 1.4), 7200.0), 2),
    )


def _schedule(job: Job, now: datetime, random: Random) -> Schedule:
    type_, expression = random.choice(TIMINGS)
    return Schedule(
        job=job, type=type_, expression=expression, zone=_pick(random, ZONES), anchor_at=now, watched_from=now
    )


def _runs(made: Sequence[Job], instances: int, days: float, now: datetime, random: Random) -> Iterator[Run]:
    """Evenly over the days, each job's logical dates a step of its own apart, so that no two are the same."""
    kinds, weights = zip(*OUTCOMES, strict=True)
    for place, job in enumerate(made):
        count = instances // len(made) + (place < instances % len(made))
        if not count:
            return
        step = timedelta(days=days) / (count + 1)
        shift = step * random.random()
        for n, outcome in enumerate(random.choices(kinds, weights, k=count)):
            usual = job.usual_seconds or 1.0
            took = usual * random.lognormvariate(0, 0.3)
            logical = (now - step * (count - n) + shift - timedelta(seconds=2 * usual)).astimezone(UTC)
            yield Run(job, logical.replace(microsecond=0), random.expovariate(2.0), took, outcome)


@transaction.atomic
def _insert_portion(runs: Sequence[Run], node: Node, random: Random) -> None:
    instances = Instance.objects.bulk_create([_instance(run, node, random) for run in runs], batch_size=PORTION)
    pairs = list(zip(runs, instances, strict=True))
    Attempt.objects.bulk_create([_attempt(run, instance, random) for run, instance in pairs], batch_size=PORTION)
    events = [event for run, instance in pairs for event in _events(run, instance)]
    record(sorted(events, key=lambda event: event.at))


def _instance(run: Run, node: Node, random: Random) -> Instance:
    status, exit_code, error = ENDS[run.outcome]
    first = random.randrange(4 - run.job.cores + 1)
    return Instance(
        job=run.job,
        logical_at=run.logical_at,
        due_at=run.logical_at,
        created_at=run.logical_at,
        queued_at=run.logical_at,
        status=status,
        cause=Instance.Cause.SCHEDULE,
        attempt_count=1,
        node=node,
        cores=list(range(first, first + run.job.cores)),
        memory_mb=run.job.memory_mb,
        started_at=run.started_at,
        ended_at=run.ended_at,
        exit_code=exit_code,
        error=error,
    )


def _attempt(run: Run, instance: Instance, random: Random) -> Attempt:
    return Attempt(
        instance=instance,
        number=1,
        token=uuid.uuid4().hex,
        status=AttemptStatus.ENDED,
        outcome=run.outcome,
        node=instance.node,
        cores=instance.cores,
        memory_mb=instance.memory_mb,
        created_at=run.started_at,
        started_at=run.started_at,
        ended_at=run.ended_at,
        exit_code=instance.exit_code,
        error=instance.error,
        duration_seconds=run.took,
        cpu_seconds=run.took * random.uniform(0.2, 1.0) * run.job.cores,
        peak_memory_bytes=random.randrange(10, 400) * 1024 * 1024,
    )


def _events(run: Run, instance: Instance) -> Iterator[NewEvent]:
    def event(at: datetime, kind: str, before: str, after: str, **data: object) -> NewEvent:
        return NewEvent(at, kind, run.job.pk, instance.pk, None, before, after, actor=ACTOR, data=data)

    moved = str(instance.status)
    yield event(run.logical_at, "instance.queued", "", "queued", logical_at=run.logical_at.isoformat(), missed=0)
    yield event(run.started_at, "instance.started", "queued", "running", cores=instance.cores, virtual_cores=0)
    yield event(run.started_at, "attempt.began", "", "")
    yield event(
        run.ended_at, "instance.ended", "running", moved, outcome=str(run.outcome), exit_code=instance.exit_code,
        signal=None, error=instance.error,
    )  # fmt: skip


@transaction.atomic
def _count_runs(runs: Sequence[Run]) -> None:
    """What the engine would have counted: fires of a schedule, and the usual length of a job."""
    of_job: dict[int, list[Run]] = {}
    for run in runs:
        of_job.setdefault(run.job.pk, []).append(run)
    for job_id, own in of_job.items():
        Schedule.objects.filter(job=job_id).update(run_count=len(own), last_logical_at=own[-1].logical_at)
        good = [run.took for run in own[-20:] if run.outcome == OutcomeKind.SUCCESS]
        Job.objects.filter(pk=job_id).update(usual_seconds=median(good) if good else None)


def _pick(random: Random, words: Sequence[str]) -> str:
    return random.choice(words)
