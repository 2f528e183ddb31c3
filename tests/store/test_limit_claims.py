"""Limits of several nodes: checked in the transaction of a start, so that together they never exceed one."""

from dataclasses import replace
from uuid import uuid4

import pytest

from jobs import models
from jobs.core.cores import CoreManager
from jobs.core.decisions import Start
from jobs.core.engine import Engine
from jobs.core.inputs import AdmissionChanged, Ended
from jobs.core.order import ByPriority, Order
from jobs.core.records import Allocation, Outcome
from jobs.core.states import OutcomeKind, Status
from jobs.service.follow import Follower
from jobs.service.passes import Passed, run_pass
from jobs.store import limits, wishes
from jobs.store.orm import OrmStore
from tests.store.benches import NOW, at
from tests.store.test_races import race

pytestmark = pytest.mark.usefixtures("each_database")


class Node:
    """An engine with its place in the feed, on the real store, without threads and processes."""

    def __init__(self, name: str, order: Order | None = None, cores: int = 4) -> None:
        self.node = models.Node.objects.get_or_create(name=name, defaults={"cores": list(range(cores))})[0]
        self.store = OrmStore(self.node.pk, name)
        self.engine = Engine(
            CoreManager(range(cores), overcommit=1.0),
            order=order or ByPriority(),
            new_token=lambda: uuid4().hex,
            uniform=lambda low, high: high,
        )
        self.follower = Follower(self.store.actor, self.node.pk)
        self.now = NOW
        self.wake_at = None
        self.pass_with(self.follower.begin(self.now))

    def pass_with(self, inputs) -> Passed:
        passed = run_pass(self.engine, self.store, self.now, inputs, {})
        self.follower.look_again(passed.refused_instances, passed.refused_schedules)
        self.wake_at = passed.wake_at
        return passed

    def look(self, seconds: float = 0) -> Passed:
        self.now = at(seconds)
        return self.pass_with(self.follower.look(self.now, poked=True))

    def end(self, instance_id: int) -> Passed:
        token = self.engine.known.running[instance_id].token
        return self.pass_with([Ended(instance_id, token, Outcome(OutcomeKind.SUCCESS, self.now))])


def make_job(name: str = "j", **fields) -> models.Job:
    return models.Job.objects.create(name=name, body="true", created_at=NOW, **fields)


def submit(job: models.Job, times: int = 1) -> list[int]:
    return [wishes.submit(job, cause="manual", actor="ann", now=NOW).pk for _ in range(times)]


def running() -> list[int]:
    return sorted(models.Instance.objects.filter(status=Status.RUNNING).values_list("pk", flat=True))


def tokens() -> float:
    return models.Limit.objects.get().tokens


def rate(**fields) -> None:
    models.Limit.objects.create(kind="rate", name="api", rate_per_second=0.5, **({"burst": 1} | fields))


def claimed(instance_id: int, node: OrmStore, token: str, **needs) -> bool:
    start = Start(instance_id, models.Job.objects.get().pk, 1, 1, token, Allocation((0,), 0, 0), **needs)
    return not node.commit([start], NOW).refused_instances


@pytest.mark.parametrize("_round", range(5))
def test_last_place_is_taken_once(_round):
    models.Limit.objects.create(kind="tag", name="etl", maximum=1)
    ids = submit(make_job(tags=["etl"]), 2)
    stores = [OrmStore(models.Node.objects.create(name=name).pk, name) for name in ("left", "right")]
    needs = {"limits": ("tag:etl",)}
    won = race(*(lambda i=i, s=s: claimed(i, s, f"t{i}", **needs) for i, s in zip(ids, stores, strict=True)))
    assert (won, len(running())) == (1, 1)


@pytest.mark.parametrize("_round", range(5))
def test_last_token_is_taken_once(_round):
    rate()
    ids = submit(make_job(rates=["api"]), 2)
    stores = [OrmStore(models.Node.objects.create(name=name).pk, name) for name in ("left", "right")]
    won = race(*(lambda i=i, s=s: claimed(i, s, f"t{i}", rates=("api",)) for i, s in zip(ids, stores, strict=True)))
    assert (won, tokens()) == (1, 0)


@pytest.mark.parametrize("_round", range(5))
def test_two_nodes_that_want_one_instance_take_one_token(_round):
    rate(burst=5)
    (instance_id,) = submit(make_job(rates=["api"]))
    stores = [OrmStore(models.Node.objects.create(name=name).pk, name) for name in ("left", "right")]
    won = race(*(lambda s=s: claimed(instance_id, s, f"t{s.node_name}", rates=("api",)) for s in stores))
    assert (won, tokens()) == (1, 4)


def test_job_counts_itself_on_all_nodes():
    left, right = Node("left"), Node("right")
    first, second = submit(make_job(max_running=1), 2)
    assert len(left.look().launches) == 1
    assert right.look().launches == []
    assert running() == [first]
    assert models.Instance.objects.get(pk=second).hold_code == "limit"


def test_place_that_another_node_frees_is_taken():
    models.Limit.objects.create(kind="tag", name="etl", maximum=1)
    left, right = Node("left"), Node("right")
    first, second = submit(make_job(tags=["etl"]), 2)
    left.look(), right.look()
    left.pass_with([AdmissionChanged("drained")])
    left.end(first)
    assert running() == []
    right.look()
    assert running() == [second]


def test_refused_for_a_place_waits_without_trying_again():
    """It had not heard of the other's start: refused once, told, and then quiet until a place is free."""
    models.Limit.objects.create(kind="tag", name="etl", maximum=1)
    left, right = Node("left"), Node("right")
    (second,) = submit(make_job(tags=["etl"]))
    unaware = right.follower.look(right.now, poked=True)
    (first,) = submit(make_job("urgent", tags=["etl"], priority=3))
    left.look()
    assert right.pass_with(unaware).refused_instances == {second}
    assert right.look().refused_instances == set()
    assert right.wake_at is None
    assert running() == [first]
    left.pass_with([AdmissionChanged("drained")])
    left.end(first)
    right.look()
    assert running() == [second]


def test_refused_for_a_token_is_told_when_there_is_one():
    rate()
    left, right = Node("left"), Node("right")
    job = make_job(rates=["api"])
    (first,) = submit(job)
    left.look()
    (second,) = submit(job)
    assert right.look().refused_instances == {second}  # no event told of the token
    assert right.look().refused_instances == set()
    assert right.wake_at == at(2)
    assert running() == [first]
    right.look(2)
    assert running() == [first, second]


def test_tokens_survive_a_restart():
    rate(burst=2)
    left = Node("left")
    submit(make_job(rates=["api"]), 2)
    left.look()
    assert tokens() == 0
    again = limits.load().rates["api"]
    assert again.ready_at(NOW) == at(2)


def test_start_that_is_refused_otherwise_takes_nothing():
    rate(burst=5)
    job = make_job(rates=["api"])
    (instance_id,) = submit(job)
    store = OrmStore(models.Node.objects.create(name="here").pk, "here")
    start = Start(instance_id, job.pk, 1, 1, "t", Allocation((0,), 0, 0), rates=("api",))
    assert store.commit([replace(start, job_revision=7)], NOW).refused_instances == {instance_id}
    assert tokens() is None
    assert not store.commit([start], NOW).refused_instances
    assert tokens() == 4


def test_lowered_maximum_ends_nothing():
    limit = models.Limit.objects.create(kind="tag", name="etl", maximum=2)
    left = Node("left")
    submit(make_job(tags=["etl"]), 3)
    left.look()
    models.Limit.objects.filter(pk=limit.pk).update(maximum=1)
    left.pass_with([limits.load()])
    first, _ = running()
    left.end(first)
    assert len(running()) == 1
