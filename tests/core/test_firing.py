"""What becomes of the fires of a schedule: missed, overlapping, too late, spread, after the last end."""

from datetime import UTC, datetime, timedelta

import pytest

from jobs.core.calendarreading import parse_calendar
from jobs.core.catchup import CatchUp
from jobs.core.decisions import Dismiss, Fire, Rearm, Stop, Withdraw
from jobs.core.expressions import parse_trigger
from jobs.core.fixeddelay import FixedDelay
from jobs.core.jitter import jittered
from jobs.core.policies import FirePolicy, Overlap
from jobs.core.records import RetryPolicy
from jobs.core.states import OutcomeKind, Status
from jobs.core.triggers import FixedRate
from tests.core.world import START, World

MINUTE, HOUR = 60, 3600
HOURLY = FixedRate(START, timedelta(hours=1))
MINUTELY = FixedRate(START, timedelta(minutes=1))


def scheduled(policy: FirePolicy, trigger=MINUTELY, **job) -> World:
    world = World()
    world.job(**job)
    world.schedule(trigger, policy=policy)
    return world


def fires(plan) -> list[Fire]:
    return [d for d in plan.decisions if isinstance(d, Fire)]


def dates(world: World) -> list[float]:
    """Logical dates of all instances, as seconds after the start, in the order in which they were made."""
    return [(i.logical_at - START).total_seconds() for i in world.store.instances.values()]


def end_all(world: World) -> None:
    for instance_id in sorted(world.engine.known.running):
        world.end(instance_id)


def test_skip_makes_up_for_nothing():
    world = scheduled(FirePolicy(CatchUp.SKIP), HOURLY)
    plan = world.wait(4.5 * HOUR)
    assert dates(world) == []
    assert [(skip.code, skip.count) for skip in fires(plan)[0].skips] == [("missed", 4)]
    assert plan.wake_at == START + timedelta(hours=5)


def test_skip_still_runs_what_is_due_right_now():
    world = scheduled(FirePolicy(CatchUp.SKIP), HOURLY)
    world.wait(HOUR + 5)
    assert dates(world) == [HOUR]


def test_one_runs_for_the_latest_missed():
    world = scheduled(FirePolicy(CatchUp.ONE), HOURLY)
    plan = world.wait(4.5 * HOUR)
    assert dates(world) == [4 * HOUR]
    assert fires(plan)[0].missed == 3


def test_all_queues_the_latest_behind_each_other():
    world = scheduled(FirePolicy(CatchUp.ALL, catch_up_limit=3), HOURLY)
    world.wait(4.5 * HOUR)
    assert dates(world) == [2 * HOUR, 3 * HOUR, 4 * HOUR]
    assert len(world.engine.known.running) == 1
    end_all(world)
    end_all(world)
    assert world.started() == [1, 2, 3]


def test_all_takes_its_dates_oldest_first():
    world = scheduled(FirePolicy(CatchUp.ALL), HOURLY)
    world.wait(4.5 * HOUR)
    for _ in range(3):
        end_all(world)
    assert [world.instance(i).logical_at for i in world.started()] == sorted(
        world.instance(i).logical_at for i in world.started()
    )


def test_a_month_of_minutes_makes_no_more_than_the_limit():
    world = scheduled(FirePolicy(CatchUp.ALL, catch_up_limit=100))
    plan = world.wait(30 * 24 * HOUR)
    assert len(world.store.instances) == 100
    assert fires(plan)[0].missed == 30 * 24 * 60 - 100


def test_overlap_skip_leaves_the_running_one_alone():
    world = scheduled(FirePolicy())
    world.wait(MINUTE)
    plan = world.wait(MINUTE)
    assert dates(world) == [MINUTE]
    assert [skip.code for skip in fires(plan)[0].skips] == ["overlap"]


def test_overlap_queue_waits_for_the_one_before():
    world = scheduled(FirePolicy(overlap=Overlap.QUEUE))
    world.wait(MINUTE)
    world.wait(MINUTE)
    assert world.started() == [1]
    assert world.store.holds[2].code == "overlap"
    world.end(1)
    assert world.started() == [1, 2]


def test_the_queue_behind_one_job_is_bounded():
    world = scheduled(FirePolicy(overlap=Overlap.QUEUE, queue_bound=2))
    plans = [world.wait(MINUTE) for _ in range(5)]
    assert dates(world) == [MINUTE, 2 * MINUTE, 3 * MINUTE]
    assert [skip.code for plan in plans for skip in fires(plan)[0].skips] == ["queue_bound", "queue_bound"]


def test_a_queue_of_one_holds_one():
    world = scheduled(FirePolicy(overlap=Overlap.QUEUE, queue_bound=1))
    for _ in range(4):
        world.wait(MINUTE)
    assert dates(world) == [MINUTE, 2 * MINUTE]
    end_all(world)
    world.wait(MINUTE)
    assert dates(world) == [MINUTE, 2 * MINUTE, 5 * MINUTE]


def test_overlap_allow_runs_them_side_by_side():
    world = scheduled(FirePolicy(overlap=Overlap.ALLOW))
    world.wait(MINUTE)
    world.wait(MINUTE)
    assert world.started() == [1, 2]


def test_overlap_replace_asks_the_running_one_to_stop():
    world = scheduled(FirePolicy(overlap=Overlap.REPLACE))
    world.wait(MINUTE)
    plan = world.wait(MINUTE)
    assert [type(d) for d in plan.decisions if isinstance(d, Withdraw | Stop)] == [Withdraw, Stop]
    assert world.started() == [1]
    world.end(1, OutcomeKind.CANCELLED)
    assert world.instance(1).status is Status.CANCELLED
    assert world.started() == [1, 2]


def test_overlap_replace_cancels_what_only_waits():
    world = World(cores=1, overcommit=1.0)
    world.job(1)
    world.job(2)
    world.submit(2)
    world.schedule(MINUTELY, policy=FirePolicy(overlap=Overlap.REPLACE))
    world.wait(MINUTE)
    plan = world.wait(MINUTE)
    assert [d.code for d in plan.decisions if isinstance(d, Dismiss)] == ["replaced"]
    assert [world.instance(i).status for i in (2, 3)] == [Status.CANCELLED, Status.QUEUED]


def test_overlap_replace_keeps_the_place_of_whom_it_replaces():
    world = World(cores=1, overcommit=1.0)
    world.job(1)
    world.job(2)
    world.submit(2)
    world.schedule(MINUTELY, policy=FirePolicy(overlap=Overlap.REPLACE))
    world.wait(MINUTE)
    world.submit(2, after=1)
    world.wait(MINUTE)
    world.end(1)
    assert world.instance(world.started()[-1]).job_id == 1


def test_waiting_for_a_retry_counts_as_an_overlap():
    world = scheduled(FirePolicy(), max_running=None)
    world.wait(MINUTE)
    world.end(1, OutcomeKind.LOST)
    assert world.instance(1).status is Status.RETRYING
    world.now += timedelta(seconds=1)
    plan = world.wait(MINUTE - 1)
    assert [skip.code for skip in fires(plan)[0].skips] == ["overlap"]


def test_a_fire_later_than_its_start_deadline_makes_nothing():
    world = scheduled(FirePolicy(CatchUp.ALL), HOURLY, start_deadline_seconds=2 * HOUR)
    plan = world.wait(4.5 * HOUR)
    assert dates(world) == [3 * HOUR, 4 * HOUR]
    assert [skip.code for skip in fires(plan)[0].skips] == ["missed", "start_deadline"]


def test_what_waits_past_its_start_deadline_is_skipped():
    world = World(cores=1, overcommit=1.0)
    world.job(1)
    world.job(2, start_deadline_seconds=30)
    world.submit(1)
    waiting = world.submit(2)
    world.wait(31)
    assert world.instance(waiting).status is Status.SKIPPED


def test_a_start_deadline_that_is_lifted_skips_nothing():
    world = World(cores=1, overcommit=1.0)
    world.job(1)
    world.job(2, start_deadline_seconds=30)
    world.submit(1)
    waiting = world.submit(2)
    world.job(2, revision=1)
    world.wait(31)
    assert world.instance(waiting).status is Status.QUEUED


def test_a_start_deadline_given_later_counts_for_what_waits():
    world = World(cores=1, overcommit=1.0)
    world.job(1)
    world.submit(1)
    waiting = world.submit(1)
    world.job(1, start_deadline_seconds=30)
    world.wait(31)
    assert world.instance(waiting).status is Status.SKIPPED


def test_a_start_deadline_is_about_the_first_start_only():
    world = World(cores=1, overcommit=1.0)
    world.job(1, start_deadline_seconds=1)
    started = world.submit(1)
    world.end(started, OutcomeKind.LOST)
    world.wait(10)
    assert world.instance(started).status is Status.RUNNING


def test_jitter_moves_the_due_moment_and_not_the_date():
    world = scheduled(FirePolicy(jitter_seconds=30))
    world.wait(MINUTE)
    (instance,) = world.store.instances.values()
    assert instance.logical_at == START + timedelta(seconds=MINUTE)
    assert instance.logical_at <= instance.due_at < instance.logical_at + timedelta(seconds=30)
    world.wait(30)
    assert world.started() == [instance.id]


def delayed(policy: FirePolicy = FirePolicy(), **job) -> World:  # noqa: B008 - a frozen value
    return scheduled(policy, FixedDelay(timedelta(minutes=15), START + timedelta(minutes=15)), **job)


def test_fixed_delay_counts_from_the_end():
    world = delayed()
    world.wait(15 * MINUTE)
    world.wait(40 * MINUTE)
    assert world.started() == [1]
    plan = world.end(1)
    assert [d.next_at for d in plan.decisions if isinstance(d, Rearm)] == [world.now + timedelta(minutes=15)]
    world.wait(15 * MINUTE)
    assert world.started() == [1, 2]


@pytest.mark.parametrize("kind", [OutcomeKind.FAILED, OutcomeKind.TIMEOUT, OutcomeKind.CANCELLED])
def test_fixed_delay_counts_from_any_end(kind):
    world = delayed()
    world.wait(15 * MINUTE)
    world.end(1, kind)
    world.wait(15 * MINUTE)
    assert len(world.started()) == 2


def test_fixed_delay_waits_out_the_retries():
    world = delayed(retry=RetryPolicy(1, 60, jitter=False))
    world.wait(15 * MINUTE)
    world.end(1, OutcomeKind.FAILED)
    world.wait(30 * MINUTE)
    assert world.started() == [1, 1]
    world.end(1, OutcomeKind.FAILED)
    world.wait(15 * MINUTE)
    assert world.started() == [1, 1, 2]


def test_fixed_delay_that_was_missed_runs_once():
    world = delayed()
    world.wait(10 * HOUR)
    assert dates(world) == [15 * MINUTE]


def test_fixed_delay_that_skips_what_it_missed_goes_on():
    world = delayed(FirePolicy(CatchUp.SKIP))
    plan = world.wait(10 * HOUR)
    assert dates(world) == []
    assert plan.wake_at == world.now + timedelta(minutes=15)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def watched(trigger, since: str) -> World:
    world = World(now=at(since))
    world.job()
    world.schedule(trigger)
    return world


def told(world: World, until: str) -> list[tuple[str, datetime, int]]:
    world.now = at(until)
    return [(skip.code, skip.logical_at, skip.count) for fire in fires(world.tell()) for skip in fire.skips]


def test_fire_that_clocks_skip_is_told_with_the_next():
    wishes = {"zone": "Europe/Berlin", "anchor": START, "start": None, "end": None, "gap": "skip"}
    world = watched(parse_trigger("daily", "02:30", **wishes), "2026-03-28T12:00+01:00")
    assert told(world, "2026-03-30T02:30+02:00") == [("dst_gap", at("2026-03-29T03:00+02:00"), 1)]
    assert len(world.store.instances) == 1


def test_fire_in_a_closed_time_is_told_with_what_closed_it():
    backup = {"name": "backup", "days": "fri", "from": "22:00", "to": "24:00"}
    calendar = parse_calendar("ops", {"business_days": "mon-fri", "blackouts": [backup]})
    noon = parse_trigger("daily", "12:00", zone="UTC", anchor=START, start=None, end=None, calendar=calendar)
    world = watched(noon, "2026-01-02T13:00Z")
    world.now = at("2026-01-05T12:00Z")
    [skip] = fires(world.tell())[0].skips
    assert (skip.code, skip.logical_at, skip.count) == ("blackout", at("2026-01-03T12:00Z"), 2)
    assert skip.reason == "falls in Saturday, no business day of calendar 'ops'"


def test_what_the_latest_stands_for_is_told_as_missed():
    world = scheduled(FirePolicy(), HOURLY)
    assert told(world, "2026-01-01T04:30Z") == [("missed", START + timedelta(hours=1), 3)]


def test_what_was_missed_yields_to_what_is_due_now():
    world = World(cores=1)
    world.job(1)
    world.job(2)
    world.submit(1, logical_at=START - timedelta(days=1))
    minutely = FixedRate(START - timedelta(hours=1), timedelta(minutes=1))
    world.schedule(minutely, 1, 1, minutely.anchor, FirePolicy(CatchUp.ALL, overlap=Overlap.QUEUE))
    backlog = [i.id for i in world.store.instances.values() if i.schedule_id == 1]
    world.wait(60)  # of the same job, and due now: still behind
    world.submit(2)
    order = sorted((i.order_key, i.id, i.job_id) for i in world.store.instances.values() if i.status == "queued")
    assert [job_id for *_, job_id in order] == [2, 1, 1, 1, 1]
    assert [instance_id for _, instance_id, job_id in order if job_id == 1][:3] == backlog


@pytest.mark.parametrize(("late", "starts"), [(timedelta(0), True), (timedelta(microseconds=1), False)])
def test_a_fire_at_its_start_deadline_is_in_time(late, starts):
    world = scheduled(FirePolicy(), HOURLY, start_deadline_seconds=MINUTE)
    world.now += late
    world.wait(HOUR + MINUTE)
    assert bool(world.started()) is starts


@pytest.mark.parametrize(("late", "starts"), [(timedelta(0), True), (timedelta(microseconds=1), False)])
def test_what_waits_is_in_time_at_its_start_deadline(late, starts):
    world = World(cores=1, overcommit=1.0)
    world.job(1)
    world.job(2, start_deadline_seconds=MINUTE)
    first, waiting = world.submit(1), world.submit(2)
    world.now += timedelta(seconds=MINUTE) + late
    world.end(first)
    assert world.instance(waiting).status is (Status.RUNNING if starts else Status.SKIPPED)


def test_a_start_deadline_counts_from_the_jittered_moment():
    world = scheduled(FirePolicy(jitter_seconds=50), start_deadline_seconds=5)
    late = jittered(START + timedelta(seconds=MINUTE), 50, "1") - START + timedelta(seconds=5)
    world.wait(late.total_seconds())
    assert len(world.started()) == 1
