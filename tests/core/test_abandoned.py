"""Attempts that cannot be ended: their instance ends at once, what they hold comes back when they do."""

from datetime import timedelta

import pytest

from jobs.core.fixeddelay import FixedDelay
from jobs.core.inputs import Abandoned, LimitsChanged
from jobs.core.policies import FirePolicy, Overlap
from jobs.core.records import Outcome, RetryPolicy
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
