"""Places in the order, and that fair share learns of everybody who was served."""

from dataclasses import replace
from datetime import timedelta

import pytest

from jobs.core.fairshare import UNIT
from jobs.core.inputs import InstanceGone, InstanceSeen
from jobs.core.order import ORDER_NAMES
from jobs.core.records import RetryPolicy
from jobs.core.states import OutcomeKind, Status
from jobs.core.triggers import FixedRate
from tests.core.world import World

every_order = pytest.mark.parametrize("order", ORDER_NAMES)


def fair(cores: int = 1) -> World:
    world = World(cores=cores, overcommit=1.0, order="fair")
    world.job(1, tenant="a")
    world.job(2, tenant="b")
    return world


def key(world: World, instance_id: int) -> int:
    found = world.instance(instance_id).order_key
    assert found is not None
    return found


@every_order
def test_retry_keeps_its_place(order):
    world = World(cores=1, overcommit=1.0, order=order)
    world.job(1, retry=RetryPolicy(1, 10, jitter=False), deadline_seconds=600, tenant="a")
    first = world.submit()
    place = key(world, first)
    others = [world.submit() for _ in range(3)]
    world.end(first, OutcomeKind.FAILED)
    world.wait(10)
    assert key(world, first) == place
    world.end(others[0])
    assert world.started() == [first, others[0], first]


@every_order
def test_one_that_is_held_lets_the_next_start(order):
    world = World(cores=2, overcommit=1.0, order=order)
    world.job(1, max_running=1, limits=("job:1",), tenant="a")
    world.job(2, tenant="a")
    held = [world.submit(1) for _ in range(3)]
    other = world.submit(2)
    assert world.started() == [held[0], other]


def test_tenants_take_turns():
    world = fair()
    mine = [world.submit(1) for _ in range(4)]
    theirs = [world.submit(2) for _ in range(2)]
    for _ in range(6):
        world.end(world.started()[-1])
    assert world.started() == [mine[0], theirs[0], mine[1], theirs[1], mine[2], mine[3]]


def test_cancelled_before_its_start_costs_no_share():
    world = fair()
    world.submit(1)
    cancelled = world.submit(1)
    place = key(world, cancelled)
    world.cancel(cancelled)
    assert key(world, world.submit(1)) == place


def test_deleted_before_its_start_costs_no_share():
    world = fair()
    world.submit(1)
    deleted = world.submit(1)
    place = key(world, deleted)
    del world.store.instances[deleted]
    world.tell(InstanceGone(deleted))
    assert key(world, world.submit(1)) == place


def test_start_on_another_node_moves_the_turn_on():
    world = fair()
    world.submit(1)
    elsewhere = replace(world.instance(world.submit(2)), order_key=key(world, 1) + 7 * UNIT, status=Status.RUNNING)
    world.tell(InstanceSeen(elsewhere))
    assert key(world, world.submit(1)) == key(world, 1) + 7 * UNIT
    assert key(world, world.submit(2)) == key(world, 1) + 8 * UNIT


def test_fire_that_the_store_refused_costs_no_share():
    world = fair()
    first = world.submit(1)
    world.schedule(FixedRate(world.now, timedelta(seconds=60)), 1)
    world.store.last_logical_at[1] = world.now.replace(year=2030)  # another node has decided it
    world.wait(60)
    assert key(world, world.submit(1)) == key(world, first) + UNIT
