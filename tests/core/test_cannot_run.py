"""Jobs of which nothing can ever start, such as one whose callable is gone."""

from dataclasses import replace

import pytest

from jobs.core.inputs import JobChanged
from jobs.core.policies import UpstreamRule
from jobs.core.records import Job
from jobs.core.states import OutcomeKind, Status
from tests.core.test_engine import RETRY_TWICE, Every
from tests.core.world import World

GONE = "there is no callable app.jobs.clean"


def gone(world: World, job: Job) -> None:
    world.store.jobs[job.id] = replace(job, cannot_run=GONE)
    world.tell(JobChanged(world.store.jobs[job.id]))


def test_what_is_due_fails_at_once():
    world = World()
    gone(world, world.job())
    first = world.submit()
    assert world.instance(first).status is Status.FAILED
    assert world.started() == []


def test_what_is_due_later_fails_when_it_is():
    world = World()
    gone(world, world.job())
    later = world.submit(after=5)
    assert world.instance(later).status is Status.PENDING
    world.wait(5)
    assert world.instance(later).status is Status.FAILED


def test_what_waits_for_cores_fails_when_its_callable_goes():
    world = World(cores=1, overcommit=1.0)
    job = world.job(2)
    world.job(1)
    world.submit(1)
    waiting = world.submit(2)
    gone(world, job)
    assert world.instance(waiting).status is Status.FAILED
    assert not len(world.engine.waiting.ready)


def test_a_reason_is_given():
    world = World()
    job = world.job()
    waiting = world.submit(after=5)
    gone(world, job)
    world.now = world.instance(waiting).due_at
    (dismiss,) = world.engine.step(world.now, []).decisions
    assert (dismiss.code, dismiss.reason) == ("cannot_run", f"can never run: {GONE}")


def test_each_fire_of_its_schedule_fails():
    world = World()
    gone(world, world.job())
    world.schedule(Every(10))
    world.wait(10)
    world.wait(10)
    assert [one.status for one in world.store.instances.values()] == [Status.FAILED, Status.FAILED]


def test_a_retry_fails_when_its_wait_is_over():
    world = World()
    job = world.job(retry=RETRY_TWICE)
    first = world.submit()
    world.end(first, OutcomeKind.FAILED)
    gone(world, job)
    world.wait(10)
    assert world.instance(first).status is Status.FAILED


@pytest.mark.parametrize(
    ("rule", "status"),
    [(UpstreamRule.ALL_SUCCESS, Status.UPSTREAM_FAILED), (UpstreamRule.ANY_FAILED, Status.RUNNING)],
)
def test_what_waits_for_it_goes_on_as_its_rule_says(rule, status):
    world = World()
    gone(world, world.job(1))
    world.job(2, upstreams=(1,), upstream_rule=rule)
    world.schedule(Every(10))
    world.wait(10)
    world.wait(0)
    below = next(one for one in world.store.instances.values() if one.job_id == 2)
    assert below.status is status


def test_a_paused_one_waits_to_be_mended():
    world = World()
    job = world.job(paused=True)
    waiting = world.submit()
    gone(world, job)
    assert world.instance(waiting).status is Status.QUEUED
    world.store.jobs[1] = replace(job, paused=False)
    world.tell(JobChanged(world.store.jobs[1]))
    assert world.instance(waiting).status is Status.RUNNING


def test_it_counts_as_a_failure_and_pauses():
    world = World()
    gone(world, world.job(pause_after_failures=2))
    world.submit()
    assert not world.store.jobs[1].paused
    world.submit()
    assert world.store.jobs[1].paused
