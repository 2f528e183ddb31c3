"""What needs no core: callables that share a process."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from jobs.core.cores import CoreManager
from jobs.core.inputs import LimitsChanged
from jobs.core.outlook import NodeOutlook, Queued, queue_starts
from jobs.core.prediction import Room
from jobs.core.present import Machine, Present, Underway
from jobs.core.ready import Needs
from jobs.core.records import Allocation, Demand, Instance, Job
from jobs.core.simulate import simulate
from jobs.core.states import Status
from tests.core.world import START, World

NOTHING = Demand(0)


def test_it_starts_where_all_cores_are_taken():
    world = World(cores=1, overcommit=1.0)
    world.job(1)
    world.job(2, cores=0)
    busy, free = world.submit(1), world.submit(2)
    assert world.started() == [busy, free]
    assert world.starts[1].allocation == Allocation((), 0, 0)


def test_it_passes_a_big_one_whose_patience_is_over():
    world = World(cores=2, overcommit=1.0)
    world.job(1)
    world.job(2, cores=2)
    world.job(3, cores=0)
    running = world.submit(1)
    world.submit(2)
    world.wait(3600)
    assert world.started() == [running]
    free = world.submit(3)
    assert world.started() == [running, free]


def test_a_limit_of_its_model_bounds_it():
    world = World()
    world.tell(LimitsChanged({"model:async": 1}, {}))
    world.job(1, cores=0, limits=("model:async",))
    first, second = world.submit(1), world.submit(1)
    assert world.started() == [first]
    world.end(first)
    assert world.started() == [first, second]


def test_it_does_not_wait_for_memory_that_it_does_not_need():
    manager = CoreManager(range(2), memory_mb=100)
    manager.restore(1, Allocation((), 0, 150))
    assert manager.fits(NOTHING)
    assert Room(0, -50).meets(NOTHING)


@given(st.lists(st.integers(0, 3), max_size=20))
def test_nothing_leaks_whatever_comes_and_goes(demands):
    manager = CoreManager(range(2), overcommit=1.5)
    given_out = [holder for holder, cores in enumerate(demands) if manager.allocate(holder, Demand(cores))]
    assert {holder for holder, cores in enumerate(demands) if cores == 0} <= set(given_out)
    assert manager.free_slots >= 0
    assert all(manager.release(holder) for holder in given_out)
    assert manager.free_slots == manager.slots


def test_its_start_is_predicted_for_now():
    manager = CoreManager([0], overcommit=1.0)
    manager.allocate(9, Demand(1))
    queue = [Queued(1, Needs(Demand(1)), 10.0), Queued(2, Needs(NOTHING), 10.0, key=1)]
    found = queue_starts(queue, [NodeOutlook(1, manager, [])], START)
    assert found[1].at is None
    assert found[2].at == START


def test_a_simulation_starts_it_beside_what_holds_all_cores():
    busy = Instance(1, 1, Status.RUNNING, START, START, attempts=1)
    free = Instance(2, 2, Status.QUEUED, START, START, queued_at=START, order_key=0)
    course = simulate(
        Present(
            now=START,
            machines=(Machine("one", 1, 1.0),),
            jobs=(Job(1, timeout_seconds=3600), Job(2, demand=NOTHING, timeout_seconds=1)),
            schedules=(),
            waiting=(free,),
            running=(Underway(busy, START, 1),),
        ),
        days=0.01,
    )
    (run,) = [run for run in course.runs if run.job_id == 2]
    assert run.started_at == START
    assert run.ended_at == START + timedelta(seconds=1)
