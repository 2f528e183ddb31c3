"""A wish to cancel that is told to the engine itself, which decides what follows."""

from jobs.core.decisions import Dismiss, Stop, Withdraw
from jobs.core.inputs import CancelAsked, Ended
from jobs.core.records import Outcome, RetryPolicy
from jobs.core.states import OutcomeKind, Status
from tests.core.world import World

SHUT = {"cores": 1, "overcommit": 1.0}


def ask(world: World, instance_id: int):
    return world.tell(CancelAsked(instance_id, "cancelled", "was cancelled"))


def test_what_waits_ends_at_once():
    world = World(**SHUT)
    world.job()
    running, queued, later = world.submit(), world.submit(), world.submit(after=60)
    plans = [ask(world, queued), ask(world, later)]
    assert [[(d.code, d.reason) for d in plan.decisions] for plan in plans] == [[("cancelled", "was cancelled")]] * 2
    assert {world.instance(i).status for i in (queued, later)} == {Status.CANCELLED}
    assert world.instance(running).status is Status.RUNNING


def test_what_runs_is_asked_to_stop_once():
    world = World()
    world.job()
    world.submit()
    assert [type(d) for d in ask(world, 1).decisions] == [Withdraw, Stop]
    assert ask(world, 1).decisions == ()
    world.end(1, OutcomeKind.CANCELLED)
    assert world.instance(1).status is Status.CANCELLED


def test_its_tenant_gets_its_turn_back():
    world = World(**SHUT, order="fair")
    world.job(1, tenant="a")
    world.submit(1)
    dropped = [world.submit(1) for _ in range(5)]
    for instance_id in reversed(dropped):
        ask(world, instance_id)
    assert world.instance(world.submit(1)).order_key == world.instance(dropped[0]).order_key


def test_what_has_ended_or_never_was_is_left_alone():
    world = World()
    world.job()
    world.submit()
    world.end(1)
    assert not any(isinstance(d, Dismiss) for i in (1, 99) for d in ask(world, i).decisions)


def test_a_final_failure_is_not_tried_again():
    world = World()
    world.job(retry=RetryPolicy(3))
    world.submit()
    token = world.engine.known.running[1].token
    world.tell(Ended(1, token, Outcome(OutcomeKind.FAILED, world.now, final=True)))
    assert world.instance(1).status is Status.FAILED
