"""A fire that takes the place of the one before: while that is still being ended, and many times on end."""

from datetime import timedelta

from jobs.core.decisions import Dismiss
from jobs.core.policies import FirePolicy, Overlap
from jobs.core.states import LIVE, OutcomeKind, Status
from jobs.core.triggers import FixedRate
from tests.core.world import START, World

SECONDLY = FixedRate(START, timedelta(seconds=1))
REPLACE = FirePolicy(overlap=Overlap.REPLACE)


def replacing(cores: int = 1) -> World:
    world = World(cores=cores, overcommit=1.0)
    world.job(1)
    world.job(2)
    return world


def live(world: World) -> list[int]:
    return [i.id for i in world.store.instances.values() if i.job_id == 1 and i.status in LIVE]


def test_one_in_its_kill_grace_is_asked_to_stop_once():
    world = replacing(cores=4)
    world.schedule(SECONDLY, policy=REPLACE)
    for _ in range(4):
        world.wait(1)
    assert [stop.instance_id for stop in world.stops] == [1]
    assert [world.instance(i).status for i in (1, 2, 3, 4)] == ["running", "cancelled", "cancelled", "queued"]
    world.end(1, OutcomeKind.CANCELLED)
    assert world.started() == [1, 4]


def test_one_that_succeeds_in_its_kill_grace_has_succeeded():
    world = replacing(cores=4)
    world.schedule(SECONDLY, policy=REPLACE)
    world.wait(1)
    world.wait(1)
    world.end(1)
    assert world.instance(1).status is Status.SUCCESS
    assert world.started() == [1, 2]


def test_storm_of_replacements_leaves_one_that_waits():
    world = replacing()
    blocker = world.submit(2)
    world.schedule(SECONDLY, policy=REPLACE)
    codes = []
    for _ in range(300):
        codes += [d.code for d in world.wait(1).decisions if isinstance(d, Dismiss)]
        assert len(live(world)) == 1
    assert codes == ["replaced"] * 299
    world.end(blocker)
    assert world.started() == [blocker, *live(world)]


def test_storm_of_replacements_holds_one_core():
    world = replacing(cores=2)
    world.schedule(SECONDLY, policy=REPLACE)
    for _ in range(100):
        world.wait(1)
        for instance_id in list(world.engine.known.running):
            if world.instance(instance_id).cancel_requested:
                world.end(instance_id, OutcomeKind.CANCELLED)
        assert world.manager.free_slots == 1
    assert world.started() == list(range(1, 101))
