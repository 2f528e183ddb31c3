"""The predicted start against the real one: the engine under a hand-moved clock, twenty queues with all that holds."""

import heapq
import random
import re
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from jobs.core.buckets import Bucket
from jobs.core.cores import CoreManager
from jobs.core.inputs import Ended, LimitsChanged
from jobs.core.limits import Limits, Rate
from jobs.core.outlook import Elsewhere, NodeOutlook, Queued, queue_starts
from jobs.core.prediction import Prediction
from jobs.core.ready import Needs
from jobs.core.records import Demand, Outcome
from jobs.core.states import OutcomeKind
from tests.core.world import START, World

CORES = 4
RATES = {"api": Rate(Bucket(0.1, 2))}
MAXIMA = {"tag:etl": 2}


def predictions(world: World) -> dict[int, Prediction]:
    """As `jobs.holds` makes them, from what the engine's world knows."""
    known = world.engine.known
    taken = Limits()
    taken.set(MAXIMA, world.engine.limits.rates)
    manager = CoreManager(range(CORES), overcommit=1.0)
    for job in world.store.jobs.values():
        taken.set_job(job.id, job.max_running)
    for instance_id, run in known.running.items():
        manager.restore(instance_id, run.allocation)
        taken.hold(instance_id, world.store.jobs[known.instances[instance_id].job_id].limits)
    under_way: dict[int, list[int]] = {}
    for instance_id in known.running:
        under_way.setdefault(known.instances[instance_id].job_id, []).append(instance_id)
    node = NodeOutlook(1, manager, list(world.engine.known.ends))
    return queue_starts(queue_of(world), [node], world.now, Elsewhere(taken, under_way))


def queue_of(world: World) -> list[Queued]:
    found = []
    for instance in sorted(world.engine.known.all_queued(), key=lambda i: (i.order_key, i.id)):
        job = world.store.jobs[instance.job_id]
        needs = world.engine.waiting.needs_of(instance)
        found.append(
            Queued(instance.id, needs, job.expected_seconds, job.id, instance.order_key or 0, instance.queued_at)
        )
    return found


def play_on(world: World, lasts: dict[int, float]) -> dict[int, datetime]:
    """Every run takes as long as is usual for its job. Returns when each one started."""
    started: dict[int, datetime] = {}
    ends: list[tuple[datetime, int]] = []
    since = {i: run.since for i, run in world.engine.known.running.items()}
    while True:
        for instance_id, run in world.engine.known.running.items():
            if instance_id not in started:
                started[instance_id] = since.get(instance_id, world.now)
                job_id = world.instance(instance_id).job_id
                heapq.heappush(ends, (run.since + timedelta(seconds=lasts[job_id]), instance_id))
        wake_at = world.engine.wake_at()
        moments = [at for at in (ends[0][0] if ends else None, wake_at) if at is not None]
        if not moments:
            return started
        world.now = max(world.now, min(moments))
        over = []
        while ends and ends[0][0] <= world.now:
            over.append(ended(world, heapq.heappop(ends)[1]))
        world.tell(*over)


def ended(world: World, instance_id: int) -> Ended:
    token = world.engine.known.running[instance_id].token
    return Ended(instance_id, token, Outcome(OutcomeKind.SUCCESS, world.now))


def crowd(seed: int) -> tuple[World, dict[int, float]]:
    """Jobs of one to four cores, some limited by tag, by themselves, by a rate, or one after another."""
    rng = random.Random(seed)  # noqa: S311 - repeatable, not a secret
    world = World(cores=CORES, overcommit=1.0, order=rng.choice(["priority", "fifo", "aging"]))
    world.tell(LimitsChanged(MAXIMA, RATES))
    lasts: dict[int, float] = {}
    for job_id in range(1, 9):
        lasts[job_id] = float(rng.randint(5, 200))
        kind = rng.choice(["", "", "", "tag", "own", "rate"])
        keys = (f"job:{job_id}", *(["tag:etl"] if kind == "tag" else []))
        world.job(
            job_id, cores=rng.choice([1, 1, 1, 2, 4]), usual_seconds=lasts[job_id], priority=rng.randrange(4),
            limits=keys, rates=("api",) if kind == "rate" else (), max_running=1 if kind == "own" else None,
        )  # fmt: skip
    for _ in range(20):
        world.wait(rng.uniform(0, 8))
        world.submit(rng.randint(1, 8))
    return world, lasts


@pytest.mark.parametrize("seed", range(20))
def test_predicted_start_is_the_real_one(seed):
    world, lasts = crowd(seed)
    asked_at, predicted = world.now, predictions(world)
    real = play_on(world, lasts)
    assert predicted
    for instance_id, prediction in predicted.items():
        waited = (real[instance_id] - asked_at).total_seconds()
        assert prediction.at is not None
        assert abs((prediction.at - real[instance_id]).total_seconds()) <= 0.1 * waited


@pytest.mark.parametrize("seed", range(20))
def test_unknown_duration_is_said_or_does_not_matter(seed):
    world, lasts = crowd(seed)
    unknown = next(iter(world.engine.known.running))
    job_id = world.instance(unknown).job_id
    known = world.engine.known
    known.put_job(job := replace(world.store.jobs[job_id], usual_seconds=None))
    world.store.jobs[job_id] = job
    known._jobs[job_id] = job  # what was learnt is forgotten
    known._expect_anew(job_id)
    asked_at, predicted = world.now, predictions(world)
    lasts[job_id] = 100_000.0  # longer than anybody's patience
    real = play_on(world, lasts)
    for instance_id, prediction in predicted.items():
        if prediction.at is None:
            assert re.search("nothing tells how long|it comes after", prediction.unknown_because)
        else:
            waited = (real[instance_id] - asked_at).total_seconds()
            assert abs((prediction.at - real[instance_id]).total_seconds()) <= 0.1 * waited


def test_all_cores_job_starts_within_its_patience():
    """Behind a stream of one-core jobs that never lets four cores be free; and the moment that was told holds."""
    world = World(cores=CORES, overcommit=1.0)
    world.job(1, usual_seconds=30.0)
    world.job(2, cores=CORES, usual_seconds=10.0)
    big, told_at = 0, None
    running = world.engine.known.running
    for second in range(300):
        over = [i for i, run in running.items() if (world.now - run.since).total_seconds() >= 30]
        world.tell(*(ended(world, instance_id) for instance_id in over))
        if second % 7 == 0:
            world.submit(1)
        if second == 40:
            big = world.submit(2)
        if big in running:
            break
        if big and world.engine.starts.kept_for == big and told_at is None:
            told_at = predictions(world)[big].at
        world.wait(1)
    waited = (running[big].since - world.instance(big).queued_at).total_seconds()
    assert 60 <= waited <= 60 + 30  # its patience, and what ran when that was over
    assert told_at == running[big].since


ONE = Needs(Demand(1))


def told(*queue: Queued, cores: int = 1) -> dict[int, float]:
    node = NodeOutlook(1, CoreManager(range(cores), overcommit=1.0), [])
    return {i: (p.at - START).total_seconds() for i, p in queue_starts(queue, [node], START).items()}


def test_serial_ones_are_told_one_after_another():
    alone = replace(ONE, alone=1)
    assert told(*(Queued(i, alone, 60.0, 1) for i in (5, 6, 7)), cores=4) == {5: 0, 6: 60, 7: 120}


def test_retry_to_come_takes_its_place_again():
    again = Queued(1, ONE, 50.0, 2, key=1, ready_at=START + timedelta(seconds=60))
    assert told(Queued(5, ONE, 100.0, 1, key=5), Queued(6, ONE, 100.0, 1, key=6), again) == {5: 0, 6: 150}


def test_limit_that_lets_none_run_makes_it_unknown():
    taken = Limits()
    taken.set({"tag:etl": 0}, {})
    held = Queued(5, replace(ONE, limits=("tag:etl",)), 60.0)
    node = NodeOutlook(1, CoreManager(range(1), overcommit=1.0), [])
    found = queue_starts([held, Queued(6, ONE, 1.0)], [node], START, Elsewhere(taken))
    assert (found[5].at, found[5].unknown_because) == (None, "the limit lets none of them run")
    assert found[6].at == START
