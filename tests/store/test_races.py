"""Two connections want the same guarded move at the same moment: exactly one wins, on both databases."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime

import pytest
from django.db import connections

from jobs import actions, models
from jobs.core.decisions import Birth, Finish, Fire, Queue, Start
from jobs.core.order import ByPriority, Entry
from jobs.core.records import Allocation, Outcome
from jobs.core.states import OutcomeKind, Status
from jobs.store import wishes
from tests.store.benches import NOW, OrmBench, at
from tests.waiting import DEADLINE_SECONDS

ROUNDS = 10


@pytest.fixture
def bench(each_database) -> OrmBench:
    return OrmBench()


def fire(job_id: int, schedule_id: int, date: datetime = at(60)) -> Fire:  # noqa: B008 - a fixed moment
    birth = Birth(job_id, date, date, Status.QUEUED, NOW, ByPriority().key(Entry(1, NOW, NOW)), bound=1)
    return Fire(schedule_id, job_id, 1, date, at(120), births=(birth,))


def race(*contenders: Callable[[], bool]) -> int:
    """How many of them won, let go at one moment, each with a connection of its own."""
    gate = threading.Barrier(len(contenders))

    def run(contender: Callable[[], bool]) -> bool:
        try:
            connections["default"].ensure_connection()
            gate.wait(DEADLINE_SECONDS)
            return contender()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(contenders)) as threads:
        return sum(threads.map(run, contenders))


def start(bench: OrmBench, instance_id: int, node: int) -> bool:
    job_id = models.Instance.objects.get(pk=instance_id).job_id
    decision = Start(instance_id, job_id, 1, 1, f"token-{instance_id}-{node}", Allocation((0,), 0, 0))
    return not bench.commit(decision, node=node).refused_instances


def finish(bench: OrmBench, instance_id: int, token: str) -> bool:
    job_id = models.Instance.objects.get(pk=instance_id).job_id
    outcome = Outcome(OutcomeKind.SUCCESS, at(1))
    decision = Finish(instance_id, job_id, token, 1, outcome, Status.SUCCESS)
    return not bench.commit(decision).refused_instances


def cancel(instance_id: int) -> bool:
    return wishes.cancel(instance_id, actor="ann", now=NOW) is wishes.CancelAnswer.CANCELLED


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_two_nodes_start_one_instance(bench, _round):
    instance_id = bench.submit(bench.job())
    assert race(*(lambda node=node: start(bench, instance_id, node) for node in (0, 1))) == 1
    assert bench.attempts_in_flight(instance_id) == 1
    assert bench.events(instance_id).count("instance.started") == 1


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_cancel_races_a_start(bench, _round):
    instance_id = bench.submit(bench.job())
    assert race(lambda: start(bench, instance_id, 0), lambda: cancel(instance_id)) == 1
    cancelled = bench.instance(instance_id).status is Status.CANCELLED
    assert bench.attempts_in_flight(instance_id) == (0 if cancelled else 1)


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_one_outcome_is_recorded(bench, _round):
    instance_id = bench.submit(bench.job())
    start(bench, instance_id, 0)
    token = f"token-{instance_id}-0"
    assert race(*(lambda: finish(bench, instance_id, token) for _ in range(2))) == 1
    assert bench.outcomes(instance_id) == ["success"]


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_one_fire_makes_one_instance(bench, _round):
    job_id = bench.job()
    wanted = fire(job_id, bench.schedule(job_id))
    assert race(*(lambda node=node: bool(bench.commit(wanted, node=node).born) for node in (0, 1))) == 1
    assert len(bench.instances_of(job_id)) == 1


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_bug_044_fires_of_two_dates_make_one_instance(bench, _round):
    """Each node believes the last one ended, and decides the next date: the bound is checked where both write."""
    job_id = bench.job()
    schedule_id = bench.schedule(job_id)
    born = []

    def decide(node: int) -> bool:
        born.extend(bench.commit(fire(job_id, schedule_id, at(60 + node)), node=node).born)
        return True

    race(lambda: decide(0), lambda: decide(1))
    assert len(born) == len(bench.instances_of(job_id)) == 1


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_one_move_to_the_queue(bench, _round):
    instance_id = bench.submit(bench.job(), at(60))
    job_id = bench.instance(instance_id).job_id
    queue = Queue(instance_id, job_id, Status.PENDING, at(60), 7)
    assert race(*(lambda node=node: not bench.commit(queue, node=node).refused_instances for node in (0, 1))) == 1
    assert bench.events(instance_id).count("instance.queued") == 1


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_two_clicks_on_cancel(bench, _round):
    instance_id = bench.submit(bench.job())
    assert race(lambda: cancel(instance_id), lambda: cancel(instance_id)) == 1
    assert bench.events(instance_id).count("instance.ended") == 1


def test_fire_from_before_an_edit_is_refused(bench):
    job_id = bench.job()
    schedule_id = bench.schedule(job_id)
    models.Schedule.objects.filter(pk=schedule_id).update(watched_from=at(61))
    stale = fire(job_id, schedule_id)
    assert bench.commit(stale).refused_schedules == {schedule_id}


def run_by_hand(job_id: int) -> bool:
    return actions.run_job(job_id, actor="ann", now=NOW, logical_at=at(60)).is_new


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_run_by_hand_races_the_fire_of_its_date(bench, _round):
    root, below = bench.job(), bench.job()
    models.Dependency.objects.create(job_id=below, upstream_id=root)
    wanted = fire(root, bench.schedule(root))
    wanted = replace(wanted, births=(*wanted.births, Birth(below, at(60), at(60), Status.PENDING)))
    assert race(lambda: bool(bench.commit(wanted).born), lambda: run_by_hand(below)) == 2
    assert models.Instance.objects.filter(job=below, generation=0).count() == 1
