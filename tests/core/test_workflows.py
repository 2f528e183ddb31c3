"""Jobs that wait for others, on one logical date."""

from datetime import timedelta

from jobs.core.catchup import CatchUp
from jobs.core.inputs import InstanceSeen
from jobs.core.policies import FirePolicy, UpstreamRule
from jobs.core.records import RetryPolicy
from jobs.core.states import OutcomeKind, Status
from jobs.core.triggers import FixedRate
from tests.core.world import START, World

A, B, C = 1, 2, 3
HOUR = 3600
HOURLY = FixedRate(START, timedelta(hours=1))


def chain(policy: FirePolicy = FirePolicy(), retry: RetryPolicy = RetryPolicy()) -> World:  # noqa: B008 - frozen
    """A -> B -> C, hourly."""
    world = World()
    world.job(A, name="extract", retry=retry)
    world.job(B, name="load", upstreams=(A,))
    world.job(C, name="report", upstreams=(B,))
    world.schedule(HOURLY, A, policy=policy)
    return world


def statuses(world: World) -> list[Status]:
    return [instance.status for instance in world.store.instances.values()]


def jobs_started(world: World) -> list[int]:
    return [start.job_id for start in world.starts]


def run_to_the_end(world: World, kind: OutcomeKind = OutcomeKind.SUCCESS) -> None:
    while world.engine.known.running:
        world.end(min(world.engine.known.running), kind)


def test_a_fire_makes_all_of_the_workflow_for_its_date():
    world = chain()
    world.wait(HOUR)
    assert statuses(world) == [Status.RUNNING, Status.PENDING, Status.PENDING]
    assert len({instance.logical_at for instance in world.store.instances.values()}) == 1


def test_each_starts_when_its_upstream_has_succeeded():
    world = chain()
    world.wait(HOUR)
    for started in ([A], [A, B], [A, B, C]):
        assert jobs_started(world) == started
        world.end(len(started))
    assert set(statuses(world)) == {Status.SUCCESS}


def test_a_failure_ends_everything_below_it_and_is_named():
    world = chain()
    world.wait(HOUR)
    world.end(1, OutcomeKind.FAILED)
    assert statuses(world) == [Status.FAILED, Status.UPSTREAM_FAILED, Status.UPSTREAM_FAILED]
    assert {world.instance(i).blame.job_name for i in (2, 3)} == {"extract"}


def test_a_retry_keeps_dependents_waiting():
    world = chain(retry=RetryPolicy(1, 60, jitter=False))
    world.wait(HOUR)
    world.end(1, OutcomeKind.FAILED)
    assert statuses(world) == [Status.RETRYING, Status.PENDING, Status.PENDING]
    world.wait(60)
    run_to_the_end(world)
    assert set(statuses(world)) == {Status.SUCCESS}


def test_missed_dates_are_paired_by_date():
    world = chain(FirePolicy(CatchUp.ALL, catch_up_limit=5))
    world.wait(5.5 * HOUR)
    run_to_the_end(world)
    made = [(i.job_id, i.logical_at) for i in world.store.instances.values()]
    assert sorted(made) == sorted((job, START + timedelta(hours=n)) for job in (A, B, C) for n in range(1, 6))
    assert set(statuses(world)) == {Status.SUCCESS}


def test_no_two_of_one_job_run_at_once_while_catching_up():
    world = chain(FirePolicy(CatchUp.ALL, catch_up_limit=5))
    world.wait(5.5 * HOUR)
    while running := world.engine.known.running:
        at_work = [world.instance(i).job_id for i in running]
        assert len(at_work) == len(set(at_work))
        world.end(min(running))


def test_a_date_that_is_under_way_anywhere_skips_the_next():
    world = chain()
    world.wait(HOUR)
    world.end(1)
    world.wait(HOUR)
    assert len(world.store.instances) == 3


def test_two_upstreams_are_both_waited_for():
    world = World()
    world.job(A)
    world.job(B)
    world.job(C, upstreams=(A, B))
    for job_id in (A, B):
        world.schedule(HOURLY, job_id, schedule_id=job_id)
    world.wait(HOUR)
    assert [i.job_id for i in world.store.instances.values()] == [A, C, B]
    world.end(1)
    assert C not in jobs_started(world)
    world.end(3)
    assert C in jobs_started(world)


def test_done_whatever_the_end_is_enough_for_some():
    world = World()
    world.job(A)
    world.job(B, upstreams=(A,), upstream_rule=UpstreamRule.ALL_DONE)
    world.schedule(HOURLY, A)
    world.wait(HOUR)
    world.end(1, OutcomeKind.FAILED)
    assert jobs_started(world) == [A, B]


def test_clean_up_runs_at_once_when_any_fails():
    world = World()
    world.job(A)
    world.job(B)
    world.job(C, upstreams=(A, B), upstream_rule=UpstreamRule.ANY_FAILED)
    for job_id in (A, B):
        world.schedule(HOURLY, job_id, schedule_id=job_id)
    world.wait(HOUR)
    world.end(1, OutcomeKind.TIMEOUT)
    assert C in jobs_started(world)


def test_clean_up_is_skipped_when_none_failed():
    world = World()
    world.job(A)
    world.job(B, upstreams=(A,), upstream_rule=UpstreamRule.ANY_FAILED)
    world.schedule(HOURLY, A)
    world.wait(HOUR)
    world.end(1)
    assert statuses(world) == [Status.SUCCESS, Status.SKIPPED]


def test_one_made_by_hand_waits_for_its_date():
    world = World()
    world.job(A)
    world.job(B, upstreams=(A,))
    below = world.submit(B, logical_at=START)
    assert world.instance(below).status is Status.PENDING
    world.end(world.submit(A, logical_at=START))
    assert world.instance(below).status is Status.RUNNING


def test_one_made_by_hand_after_its_upstream_does_not_wait():
    world = World()
    world.job(A)
    world.job(B, upstreams=(A,))
    above = world.submit(A, logical_at=START)
    world.end(above)
    below = world.store.submit(B, world.now, logical_at=START)
    world.tell(*(seen(world, i) for i in (below.id, above)))
    assert world.instance(below.id).status is Status.RUNNING


def test_one_made_by_hand_after_a_failure_ends_at_once():
    world = World()
    world.job(A)
    world.job(B, upstreams=(A,))
    above = world.submit(A, logical_at=START)
    world.end(above, OutcomeKind.FAILED)
    below = world.store.submit(B, world.now, logical_at=START)
    world.tell(*(seen(world, i) for i in (below.id, above)))
    assert world.instance(below.id).status is Status.UPSTREAM_FAILED


def test_the_latest_generation_of_the_date_counts():
    world = World()
    world.job(A)
    world.job(B, upstreams=(A,))
    world.end(world.submit(A, logical_at=START), OutcomeKind.FAILED)
    again = world.submit(A, logical_at=START)
    below = world.store.submit(B, world.now, logical_at=START)
    world.tell(seen(world, below.id), seen(world, 1), seen(world, again))
    assert world.instance(below.id).status is Status.PENDING
    world.end(again)
    assert world.instance(below.id).status is Status.RUNNING


def test_cancelling_an_upstream_ends_what_waits_for_it():
    world = chain()
    world.wait(HOUR)
    world.cancel(2)
    assert world.instance(3).status is Status.UPSTREAM_FAILED


def test_not_before_keeps_a_dependent_waiting():
    world = World()
    world.job(A)
    world.job(B, upstreams=(A,), not_before="08:30")
    world.schedule(HOURLY, A)
    world.wait(HOUR)
    world.end(1)
    assert world.instance(2).status is Status.PENDING
    world.wait(7.5 * HOUR)
    assert world.instance(2).status is Status.RUNNING


def test_an_edge_that_is_taken_away_lets_the_dependent_go():
    world = chain()
    world.wait(HOUR)
    world.job(B, name="load")
    assert world.instance(2).status is Status.RUNNING


def seen(world: World, instance_id: int) -> InstanceSeen:
    return InstanceSeen(world.instance(instance_id))
