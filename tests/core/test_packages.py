"""What waits for its packages holds nothing, and is asked for once for all that wait for the same."""

from dataclasses import replace

from jobs.core.inputs import JobChanged
from jobs.core.packages import PackagesNeeded, Preparations
from tests.core.world import START, World


def needing(key="numpy", cores=4, **fields):
    world = World(cores=cores, overcommit=1.0)
    world.job(1, environment=key, **fields)
    return world


def test_the_same_packages_in_another_order_are_the_same():
    one, other = PackagesNeeded("", ("a==1", "b")), PackagesNeeded("", ("b", "a==1", "b"))
    assert one.key == other.key != PackagesNeeded("", ("a==2", "b")).key


def test_python_alone_makes_another_environment():
    keys = {PackagesNeeded(python).key for python in ("", "==3.12.*", "==3.13.*")}
    assert "" in keys
    assert len(keys) == 3


def test_it_starts_when_its_environment_is_there():
    world = needing()
    instance = world.submit()
    assert (world.started(), world.preparing) == ([], ["numpy"])
    world.prepare("numpy")
    assert world.started() == [instance]


def test_an_environment_that_waits_holds_no_cores():
    world = needing(cores=1)
    world.job(2)
    world.submit(1)
    assert world.manager.free_slots == 1
    other = world.submit(2)
    assert world.started() == [other]


def test_two_that_need_the_same_ask_once():
    world = needing()
    world.job(2, environment="numpy", cores=2)
    both = [world.submit(1), world.submit(2)]
    assert world.preparing == ["numpy"]
    world.prepare("numpy")
    assert world.started() == both


def test_nothing_is_asked_for_before_its_moment():
    world = needing()
    world.submit(after=60)
    assert world.preparing == []
    world.wait(60)
    assert world.preparing == ["numpy"]


def test_a_cancel_of_the_last_that_waits_ends_the_asking():
    world = needing()
    first, last = world.submit(), world.submit()
    world.cancel(first)
    assert world.preparing == ["numpy"]
    world.cancel(last)
    assert world.preparing == []


def test_an_answer_that_comes_after_the_cancel_changes_nothing():
    world = needing()
    world.cancel(world.submit())
    world.preparing.append("numpy")
    world.prepare("numpy")
    world.prepared.clear()
    world.submit()
    assert (world.started(), world.preparing) == ([], ["numpy"])


def test_the_hold_says_since_when_and_where():
    preparations = Preparations("atlas")
    preparations.ask("numpy", START)
    hold = preparations.hold("numpy")
    assert (hold.code, hold.subject) == ("environment", {"key": "numpy", "node": "atlas", "since": START.isoformat()})


def test_what_is_there_at_once_is_not_worth_a_row():
    world = needing()
    instance = world.submit()
    assert instance not in world.store.holds
    world.wait(1)
    assert world.store.holds[instance].code == "environment"


def test_an_edit_makes_it_wait_for_what_it_needs_now():
    world = needing()
    instance = world.submit()
    edited = replace(world.store.jobs[1], environment="pandas", revision=2)
    world.store.jobs[1] = edited
    world.tell(JobChanged(edited))
    assert world.preparing == ["pandas"]
    world.prepare("pandas")
    assert world.started() == [instance]


def test_a_pause_ends_the_asking():
    world = needing()
    world.submit()
    world.tell(JobChanged(replace(world.store.jobs[1], paused=True)))
    assert world.preparing == []


def test_a_big_one_that_waits_for_packages_keeps_no_cores():
    world = needing(cores=4)
    world.job(2, cores=4, environment="numpy")
    world.job(3, cores=1)
    world.submit(2)
    world.wait(1_000)
    small = world.submit(3)
    assert world.started() == [small]
    assert world.engine.starts.kept_for is None
