"""Jobs that nothing is to be decided of take no memory: a service may be given thousands of one-off jobs a day."""

from datetime import timedelta

from jobs.core.inputs import Abandoned, JobChanged, ScheduleGone
from jobs.core.records import Outcome
from jobs.core.states import OutcomeKind, Status
from jobs.core.triggers import FixedRate
from tests.core.world import START, World


def is_known(world: World, job_id: int = 1) -> bool:
    world.engine.forget_idle_jobs()
    return world.engine.known.find_job(job_id) is not None


def test_one_off_job_is_forgotten_after_its_end():
    world = World()
    world.job(max_running=1)
    first = world.submit()
    assert is_known(world)
    world.end(first)
    assert not is_known(world)
    assert world.engine.limits.that_bind(["job:1"], []) == ((), ())


def test_forgotten_job_runs_again():
    world = World()
    job = world.job(max_running=1, limits=("job:1",))
    world.end(world.submit())
    assert not is_known(world)
    world.tell(JobChanged(job))
    again, waiting = world.submit(), world.submit()
    assert world.store.holds[waiting].code == "limit"
    world.end(again)
    assert world.started() == [1, 2, 3]


def test_job_that_waits_is_kept():
    world = World(cores=1, overcommit=1.0)
    world.job(1)
    world.job(2)
    world.submit(1)
    world.submit(2)
    world.engine.forget_idle_jobs()
    world.end(1)
    assert world.started() == [1, 2]


def test_job_whose_thread_goes_on_is_kept():
    world = World()
    world.job()
    world.submit()
    token = world.engine.known.running[1].token
    world.tell(Abandoned(1, token, Outcome(OutcomeKind.TIMEOUT, world.now)))
    assert is_known(world)
    world.end(1)
    assert not is_known(world)


def test_scheduled_job_is_kept_until_its_schedule_is_gone():
    world = World()
    world.job()
    world.schedule(FixedRate(START, timedelta(minutes=1)))
    assert is_known(world)
    world.wait(60)
    assert world.started() == [1]
    world.end(1)
    world.tell(ScheduleGone(1))
    assert not is_known(world)


def test_jobs_of_a_workflow_are_kept():
    world = World()
    world.job(1)
    world.job(2, upstreams=(1,))
    assert is_known(world, 1)
    assert is_known(world, 2)
    above = world.submit(1, logical_at=START)
    world.end(above, OutcomeKind.FAILED)
    below = world.submit(2, logical_at=START)
    assert world.instance(below).status is not Status.RUNNING


def test_job_that_runs_often_keeps_what_was_learnt():
    world = World()
    world.job()
    for seconds in (10.0, 12.0, 300.0):
        world.end(world.submit(), seconds=seconds)
    assert is_known(world)
    assert world.engine.known.job(1).usual_seconds == 12.0
