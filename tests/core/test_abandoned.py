"""Attempts that cannot be ended: their instance ends at once, what they hold comes back when they do."""

from dataclasses import replace
from datetime import timedelta

import pytest

from jobs.core.fixeddelay import FixedDelay
from jobs.core.inputs import (
    Abandoned,
    AbandonedElsewhere,
    AdmissionChanged,
    InstanceGone,
    InstanceSeen,
    LimitsChanged,
)
from jobs.core.policies import FirePolicy, Overlap
from jobs.core.records import Instance, Outcome, RetryPolicy
from jobs.core.states import OutcomeKind, Status
from jobs.core.triggers import FixedRate
from tests.core.world import START, World

MINUTELY = FixedRate(START, timedelta(minutes=1))


def abandon(world: World, instance_id: int, kind: OutcomeKind = OutcomeKind.TIMEOUT):
    token = world.engine.known.running[instance_id].token
    return world.tell(Abandoned(instance_id, token, Outcome(kind, world.now)))


def one_place() -> World:
    world = World()
    world.tell(LimitsChanged({"model:thread": 1}, {}))
    world.job(1, limits=("model:thread",), retry=RetryPolicy(3))
    return world


@pytest.mark.parametrize("kind", [OutcomeKind.TIMEOUT, OutcomeKind.CANCELLED])
def test_its_instance_ends_at_once(kind):
    world = one_place()
    world.submit()
    abandon(world, 1, kind)
    assert world.instance(1).status is Status(kind)


def test_its_place_comes_back_when_it_ends():
    world = one_place()
    world.submit()
    world.submit()
    abandon(world, 1)
    assert world.started() == [1]
    world.end(1)
    assert world.started() == [1, 2]
    assert world.instance(1).status is Status.TIMEOUT


def test_no_other_attempt_starts_beside_it():
    world = one_place()
    world.submit()
    abandon(world, 1)
    world.wait(3600)
    world.end(1)
    assert world.started() == [1]
    assert not world.engine.known.running


def test_a_fire_still_overlaps_with_it():
    world = World()
    world.job()
    world.schedule(MINUTELY)
    world.wait(60)
    abandon(world, 1)
    world.wait(60)
    assert world.started() == [1]
    world.end(1)
    world.wait(60)
    assert world.started() == [1, 2]


def test_it_is_not_replaced_a_second_time():
    world = World()
    world.job()
    world.schedule(MINUTELY, policy=FirePolicy(overlap=Overlap.REPLACE))
    world.wait(60)
    abandon(world, 1)
    world.wait(60)
    assert not world.stops
    world.end(1)
    assert world.started() == [1, 2]


def test_a_fixed_delay_counts_from_its_real_end():
    world = World()
    world.job()
    world.schedule(FixedDelay(timedelta(minutes=1), START + timedelta(minutes=1)))
    world.wait(60)
    abandon(world, 1)
    world.wait(600)
    world.end(1)
    world.wait(59)
    assert world.started() == [1]
    world.wait(1)
    assert world.started() == [1, 2]


def test_what_waits_for_it_is_told_at_once():
    world = World()
    world.job(1)
    world.job(2, upstreams=(1,))
    below = world.submit(2, logical_at=START)
    above = world.submit(1, logical_at=START)
    abandon(world, above)
    assert world.instance(below).status is Status.UPSTREAM_FAILED


# --- on another node ---


def runs_elsewhere(world: World, **fields) -> Instance:
    instance = replace(world.instance(world.submit(**fields)), id=99, status=Status.RUNNING, attempts=1)
    world.tell(InstanceSeen(instance))
    return instance


def limited() -> World:
    world = World()
    world.tell(LimitsChanged({"model:thread": 1}, {}))
    world.job(1, limits=("model:thread",))
    world.tell(AdmissionChanged("not yet"))
    return world


@pytest.mark.parametrize("kind", [Status.TIMEOUT, Status.CANCELLED])
def test_place_of_one_elsewhere_is_held_until_its_thread_returns(kind):
    world = limited()
    running = runs_elsewhere(world)
    world.tell(AbandonedElsewhere((running,)), AdmissionChanged(""))
    world.tell(InstanceSeen(replace(running, status=kind)))
    world.tell(InstanceSeen(replace(running, status=kind)))
    assert world.started() == []
    assert world.store.holds[1].code == "limit"
    world.tell(AbandonedElsewhere(()))
    assert world.started() == [1]
    assert 99 not in world.engine.known.instances


def test_place_of_one_elsewhere_that_ended_before_we_began_is_held():
    world = limited()
    ended = replace(world.instance(world.submit()), id=99, status=Status.CANCELLED, attempts=1)
    world.tell(AbandonedElsewhere((ended,)), AdmissionChanged(""))
    world.tell(AbandonedElsewhere((ended,)))
    assert world.started() == []
    world.tell(AbandonedElsewhere(()))
    assert world.started() == [1]


def test_one_whose_node_was_killed_before_it_wrote_the_end_still_runs():
    world = limited()
    running = runs_elsewhere(world)
    world.tell(AbandonedElsewhere((running,)), AdmissionChanged(""))
    world.tell(AbandonedElsewhere(()))
    assert world.started() == []
    assert world.engine.known.instances[99].status is Status.RUNNING
    world.tell(InstanceSeen(replace(running, status=Status.FAILED)))
    assert world.started() == [1]


def test_thread_that_returns_while_its_end_is_read_holds_nothing():
    world = limited()
    running = runs_elsewhere(world)
    world.tell(AbandonedElsewhere((running,)), AdmissionChanged(""))
    world.tell(AbandonedElsewhere(()), InstanceSeen(replace(running, status=Status.TIMEOUT)))
    assert world.started() == [1]


@pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.REPLACE, Overlap.QUEUE])
def test_a_fire_overlaps_with_one_elsewhere(overlap):
    world = World()
    world.job()
    world.schedule(MINUTELY, policy=FirePolicy(overlap=overlap))
    running = replace(world.instance(world.submit()), id=99, status=Status.RUNNING, logical_at=world.now, attempts=1)
    world.end(1)
    world.tell(InstanceSeen(running), AbandonedElsewhere((running,)))
    world.tell(InstanceSeen(replace(running, status=Status.TIMEOUT)))
    world.wait(60)
    assert world.started() == [1]
    world.tell(AbandonedElsewhere(()))
    world.wait(60)
    assert len(world.started()) == 2


def test_a_fixed_delay_counts_from_the_end_of_a_thread_elsewhere():
    world = World()
    world.job()
    world.schedule(FixedDelay(timedelta(minutes=1), START + timedelta(minutes=1)))
    world.wait(60)
    world.end(1)
    running = replace(world.instance(1), id=99, status=Status.RUNNING)
    world.tell(InstanceSeen(running), AbandonedElsewhere((running,)))
    world.tell(InstanceSeen(replace(running, status=Status.TIMEOUT)))
    world.wait(60)
    before = world.started()
    world.wait(600)
    assert world.started() == before
    world.tell(AbandonedElsewhere(()))
    world.wait(60)
    assert len(world.started()) == len(before) + 1


def test_failure_of_one_elsewhere_counts_once():
    world = World()
    world.job(1, pause_after_failures=9)
    running = runs_elsewhere(world)
    world.tell(AbandonedElsewhere((running,)))
    world.tell(InstanceSeen(replace(running, status=Status.TIMEOUT)))
    world.tell(InstanceSeen(replace(running, status=Status.TIMEOUT)))
    world.tell(AbandonedElsewhere(()))
    assert world.engine.known.job(1).failures_in_a_row == 1


def test_what_waits_for_one_elsewhere_is_told_at_once():
    world = World()
    world.job(1)
    world.job(2, upstreams=(1,))
    below = world.submit(2, logical_at=START)
    running = replace(world.instance(below), id=99, job_id=1, status=Status.RUNNING, attempts=1)
    world.tell(InstanceSeen(running), AbandonedElsewhere((running,)))
    world.tell(InstanceSeen(replace(running, status=Status.TIMEOUT)))
    assert world.instance(below).status is Status.UPSTREAM_FAILED


def test_who_comes_later_to_wait_for_one_elsewhere_is_told_at_once():
    world = World()
    world.job(1)
    world.job(2, upstreams=(1,))
    ended = replace(world.instance(world.submit(1, logical_at=START)), id=99, status=Status.TIMEOUT, attempts=1)
    world.tell(AbandonedElsewhere((ended,)))
    below = world.submit(2, logical_at=START)
    world.tell(InstanceSeen(ended))
    assert world.instance(below).status is Status.UPSTREAM_FAILED


def test_one_elsewhere_that_is_deleted_holds_nothing():
    world = limited()
    running = runs_elsewhere(world)
    world.tell(AbandonedElsewhere((running,)), AdmissionChanged(""))
    world.tell(InstanceSeen(replace(running, status=Status.TIMEOUT)))
    world.tell(InstanceGone(99))
    assert world.started() == [1]
    world.tell(AbandonedElsewhere(()))
    assert 99 not in world.engine.known.instances
