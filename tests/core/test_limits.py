"""Limits beside cores: who is held back, by which one, and who is not."""

from datetime import timedelta

from jobs.core.buckets import Bucket
from jobs.core.inputs import LimitsChanged
from jobs.core.limits import Rate
from jobs.core.records import RetryPolicy
from jobs.core.states import OutcomeKind
from tests.core.world import World


def limited(maxima: dict[str, int], rates: dict[str, Rate] | None = None) -> World:
    world = World()
    world.tell(LimitsChanged(maxima, rates or {}))
    return world


def test_a_tag_lets_only_so_many_run_at_once():
    world = limited({"tag:etl": 2})
    world.job(limits=("tag:etl",))
    ids = [world.submit() for _ in range(3)]
    assert world.started() == ids[:2]
    hold = world.store.holds[ids[2]]
    assert (hold.code, hold.subject) == ("limit", {"limit": "tag:etl", "maximum": 2, "in_use": 2})


def test_the_next_starts_when_one_of_the_tag_ends():
    world = limited({"tag:etl": 1})
    world.job(limits=("tag:etl",))
    first, second = world.submit(), world.submit()
    world.end(first)
    assert world.started() == [first, second]


def test_a_job_may_limit_itself():
    world = World()
    world.job(max_running=1, limits=("job:1",))
    first, _ = world.submit(), world.submit()
    assert world.started() == [first]


def test_one_that_runs_is_counted_by_the_tags_it_has_now():
    world = limited({"tag:etl": 1})
    world.job(1)
    world.job(2, limits=("tag:etl",))
    running = world.submit(1)
    world.job(1, limits=("tag:etl",))
    waiting = world.submit(2)
    assert world.store.holds[waiting].code == "limit"
    world.end(running)
    assert world.started() == [running, waiting]


def test_who_is_held_by_a_limit_keeps_nobody_else_waiting():
    world = limited({"tag:etl": 0})
    world.job(1, limits=("tag:etl",), priority=3)
    world.job(2)
    world.submit(1)
    other = world.submit(2)
    assert world.started() == [other]


def test_a_limit_that_is_lifted_lets_them_go():
    world = limited({"tag:etl": 0})
    world.job(limits=("tag:etl",))
    held = world.submit()
    world.tell(LimitsChanged({}, {}))
    assert world.started() == [held]


def test_waiting_for_a_retry_holds_no_place():
    world = limited({"model:process": 1})
    world.job(1, limits=("model:process",), retry=RetryPolicy(3, 60, jitter=False))
    world.job(2, limits=("model:process",))
    world.end(world.submit(1), OutcomeKind.FAILED)
    other = world.submit(2)
    assert world.started()[-1] == other


def test_a_rate_starts_the_burst_and_then_one_at_a_time():
    world = limited({}, {"api": Rate(Bucket(0.5, 2))})
    world.job(rates=("api",))
    ids = [world.submit() for _ in range(4)]
    assert world.started() == ids[:2]
    plan = world.tell()
    assert plan.wake_at == world.now + timedelta(seconds=2)
    world.wait(2)
    assert world.started() == ids[:3]


def test_a_rate_says_when_the_next_may_start():
    world = limited({}, {"api": Rate(Bucket(1, 1))})
    world.job(rates=("api",))
    world.submit()
    held = world.submit()
    hold = world.store.holds[held]
    assert hold.code == "rate"
    assert hold.subject == {"limit": "api", "at": (world.now + timedelta(seconds=1)).isoformat()}
