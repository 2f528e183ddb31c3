"""Field cases of what happens around a fire: overlap, downtime, crash, retry. The engine under a hand-moved clock."""

from datetime import UTC, datetime, timedelta

from jobs.core.catchup import CatchUp
from jobs.core.decisions import Finish, Fire
from jobs.core.fixeddelay import FixedDelay
from jobs.core.inputs import InstanceSeen, JobChanged
from jobs.core.policies import FirePolicy, Overlap
from jobs.core.records import RetryPolicy
from jobs.core.states import OutcomeKind, Status
from jobs.core.triggers import FixedRate
from tests.core.world import World

TEN = datetime(2026, 1, 1, 10, tzinfo=UTC)
QUARTER = FixedRate(TEN, timedelta(minutes=15))
HOURLY = FixedRate(TEN, timedelta(hours=1))
FAILED = OutcomeKind.FAILED


def clock(moment: datetime) -> str:
    return f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"


def world_of(trigger, policy=FirePolicy(), now=TEN - timedelta(minutes=1), **job) -> World:  # noqa: B008 - frozen
    world = World(now=now)
    world.job(**job)
    world.schedule(trigger, policy=policy)
    return world


def run_for(world: World, until: datetime, takes: timedelta, kind=OutcomeKind.SUCCESS) -> list:
    """Step from moment to moment, ending each attempt after `takes`. Returns all decisions."""
    decisions, ends = [], {}
    while world.now < until:
        for instance_id in [i for i, at in ends.items() if at <= world.now]:
            del ends[instance_id]
            decisions += world.end(instance_id, kind).decisions
        plan = world.tell()
        decisions += plan.decisions
        for instance_id in world.engine.known.running:
            ends.setdefault(instance_id, world.now + takes)
        wake = world.tell().wake_at
        world.now = min(moment for moment in (wake, until, *ends.values()) if moment is not None)
    return decisions


def test_ticks_inside_a_run_are_skipped():
    world = world_of(QUARTER)
    found = run_for(world, TEN + timedelta(hours=1, minutes=31), timedelta(minutes=40))
    skipped = [clock(skip.logical_at) for fire in found if isinstance(fire, Fire) for skip in fire.skips]
    assert [clock(i.logical_at) for i in world.store.instances.values()] == ["10:00", "10:45", "11:30"]
    assert skipped == ["10:15", "10:30", "11:00", "11:15"]


def test_delay_counts_from_each_end():
    world = world_of(FixedDelay(timedelta(minutes=15), TEN))
    run_for(world, TEN + timedelta(hours=2), timedelta(minutes=40))
    assert [clock(i.logical_at) for i in world.store.instances.values()] == ["10:00", "10:55", "11:50"]


def test_delay_counts_from_the_last_attempt():
    retry = RetryPolicy(2, 30.0, 30.0, jitter=False)
    world = world_of(FixedDelay(timedelta(minutes=1), TEN), retry=retry)
    found = run_for(world, TEN + timedelta(minutes=3), timedelta(seconds=10), FAILED)
    retries = [clock(d.retry_at) for d in found if isinstance(d, Finish) and d.retry_at]
    assert retries[:2] == ["10:00:40", "10:01:20"]
    assert [clock(i.logical_at) for i in world.store.instances.values()] == ["10:00", "10:02:30"]


def test_delay_counts_from_a_cancel():
    world = world_of(FixedDelay(timedelta(minutes=1), TEN))
    world.wait(60)
    [instance_id] = world.store.instances
    world.wait(20)
    world.cancel(instance_id)
    world.end(instance_id, OutcomeKind.CANCELLED)
    assert clock(world.store.next_at[1]) == "10:01:20"


def test_caught_up_ones_queue_behind_each_other():
    world = world_of(HOURLY, FirePolicy(CatchUp.ALL, 10), now=TEN + timedelta(minutes=5))
    world.now = TEN + timedelta(hours=4, minutes=30)
    found = run_for(world, TEN + timedelta(hours=5, minutes=20), timedelta(minutes=10))
    made = list(world.store.instances.values())
    assert [clock(i.logical_at) for i in made] == ["11:00", "12:00", "13:00", "14:00"]
    skipped = [clock(skip.logical_at) for fire in found if isinstance(fire, Fire) for skip in fire.skips]
    assert skipped == ["15:00"]
    assert world.started() == [i.id for i in made]


def test_crash_after_the_row_makes_no_second():
    world = world_of(HOURLY, now=TEN + timedelta(minutes=30))
    world.wait(30 * 60)
    again = World(now=world.now + timedelta(seconds=20))
    again.store = world.store
    again.tell(JobChanged(world.store.jobs[1]), *(InstanceSeen(i) for i in world.store.instances.values()))
    again.schedule(HOURLY, watched_from=TEN + timedelta(minutes=30))
    assert [clock(i.logical_at) for i in world.store.instances.values()] == ["11:00"]


def test_three_retries_are_four_attempts():
    world = World(now=TEN)
    world.job(retry=RetryPolicy(3, 1.0, 1.0, jitter=False))
    instance_id = world.submit()
    run_for(world, TEN + timedelta(minutes=1), timedelta(seconds=1), FAILED)
    assert world.instance(instance_id).status is Status.FAILED
    assert [start.attempt for start in world.starts] == [1, 2, 3, 4]
    assert len({start.token for start in world.starts}) == 4


def test_cancel_ends_the_wait_for_a_retry():
    world = World(now=TEN)
    world.job(retry=RetryPolicy(3, 300.0, 300.0))
    instance_id = world.submit()
    world.end(instance_id, FAILED)
    world.cancel(instance_id)
    world.wait(3600)
    assert world.instance(instance_id).status is Status.CANCELLED
    assert len(world.starts) == 1


def test_wait_for_a_retry_is_active_and_holds_nothing():
    world = world_of(FixedRate(TEN, timedelta(minutes=1)), retry=RetryPolicy(3, 300.0, 300.0, jitter=False))
    world.wait(60)
    [instance_id] = world.store.instances
    world.end(instance_id, FAILED)
    world.wait(60)
    assert world.instance(instance_id).status is Status.RETRYING
    assert list(world.store.instances) == [instance_id]
    assert len(world.manager.free_cores) == 4


def test_restart_keeps_the_wait_for_a_retry():
    world = World(now=TEN)
    world.job(retry=RetryPolicy(3, 300.0, 300.0, jitter=False))
    instance_id = world.submit()
    world.end(instance_id, FAILED)
    again = World(now=TEN + timedelta(minutes=9))
    again.store = world.store
    again.tell(JobChanged(world.store.jobs[1]), InstanceSeen(world.instance(instance_id)))
    assert [start.attempt for start in again.starts] == [2]


def test_queue_is_bounded_behind_an_hour():
    """Every minute, one hour each: the bound waits, the rest is counted, each with its reason."""
    world = world_of(FixedRate(TEN, timedelta(minutes=1)), FirePolicy(overlap=Overlap.QUEUE, queue_bound=10))
    found = run_for(world, TEN + timedelta(minutes=59, seconds=30), timedelta(hours=1))
    skips = [skip for fire in found if isinstance(fire, Fire) for skip in fire.skips]
    assert len(world.store.instances) == 11
    assert {skip.code for skip in skips} == {"queue_bound"}
    assert len(skips) == 60 - 11
