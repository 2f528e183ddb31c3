"""Queued instances in their order, by what they demand; what left takes no room for long."""

from jobs.core.ready import Needs, Place, ReadySet
from jobs.core.records import Demand
from jobs.core.timetable import SMALL

ONE, TWO = Needs(Demand(1)), Needs(Demand(2))


def listed(ready: ReadySet) -> int:
    """Entries in all heaps, the dead ones too."""
    return sum(len(group.heap) for group in ready._groups.values())


def kinds(ready: ReadySet) -> list[Needs]:
    return [group.needs for group in ready.groups()]


def first(ready: ReadySet, needs: Needs = ONE) -> Place | None:
    return next((group.first() for group in ready.groups() if group.needs == needs), None)


def drained(ready: ReadySet, demand: Needs = ONE) -> list[int]:
    order = []
    while place := first(ready, demand):
        order.append(place[1])
        ready.discard(place[1])
    return order


def test_first_has_the_least_key_then_the_least_id():
    ready = ReadySet()
    for instance_id, key in [(4, 20), (3, 10), (2, 20), (9, 5)]:
        ready.add(instance_id, key, ONE)
    assert drained(ready) == [9, 3, 2, 4]


def test_each_demand_has_its_own_first():
    ready = ReadySet()
    ready.add(1, 10, ONE)
    ready.add(2, 20, TWO)
    assert (first(ready), first(ready, TWO), first(ready, Needs(Demand(3)))) == ((10, 1), (20, 2), None)


def test_memory_makes_another_group():
    ready = ReadySet()
    ready.add(1, 10, Needs(Demand(1, 100)))
    assert first(ready, Needs(Demand(1))) is None
    assert kinds(ready) == [Needs(Demand(1, 100))]


def test_demands_come_in_the_order_of_their_first():
    ready = ReadySet()
    ready.add(1, 30, ONE)
    ready.add(2, 20, TWO)
    assert kinds(ready) == [TWO, ONE]
    ready.add(3, 10, ONE)
    assert kinds(ready) == [ONE, TWO]


def test_discarded_first_makes_way():
    ready = ReadySet()
    ready.add(1, 10, ONE)
    ready.add(2, 20, ONE)
    ready.discard(1)
    assert first(ready) == (20, 2)
    assert (1 in ready, 2 in ready, len(ready)) == (False, True, 1)


def test_discard_of_a_stranger_changes_nothing():
    ready = ReadySet()
    ready.add(1, 10, ONE)
    ready.discard(7)
    ready.discard(7)
    assert (len(ready), first(ready)) == (1, (10, 1))


def test_group_without_anybody_is_gone():
    ready = ReadySet()
    ready.add(1, 10, ONE)
    ready.discard(1)
    assert (kinds(ready), listed(ready)) == ([], 0)


def test_other_demand_moves_to_its_group():
    ready = ReadySet()
    ready.add(1, 10, ONE)
    ready.add(1, 10, TWO)
    assert (first(ready), first(ready, TWO), len(ready)) == (None, (10, 1), 1)


def test_other_key_moves_within_the_group():
    ready = ReadySet()
    for instance_id, key in [(1, 10), (2, 20), (1, 30)]:
        ready.add(instance_id, key, ONE)
    assert drained(ready) == [2, 1]


def test_moved_there_and_back_is_there_once():
    ready = ReadySet()
    for demand in (ONE, TWO, ONE):
        ready.add(1, 10, demand)
    assert kinds(ready) == [ONE]
    assert drained(ready) == [1]


def test_same_place_again_is_listed_once():
    ready = ReadySet()
    for _ in range(3 * SMALL):
        ready.add(1, 10, ONE)
    assert listed(ready) == 1


def test_taken_out_and_put_back_is_listed_once():
    # As an edit of a job does with each of its queued instances.
    ready = ReadySet()
    ready.add(2, 5, ONE)
    for _ in range(3 * SMALL):
        ready.add(1, 10, ONE)
        ready.discard(1)
    ready.add(1, 10, ONE)
    assert listed(ready) == 2
    assert drained(ready) == [2, 1]


def test_dead_behind_a_held_first_are_dropped():
    ready = ReadySet()
    for instance_id in range(3001):
        ready.add(instance_id, instance_id, ONE)
    for instance_id in range(1, 3001):
        ready.discard(instance_id)
    assert first(ready) == (0, 0)
    assert listed(ready) <= SMALL


def test_order_survives_dropping_the_dead():
    ready = ReadySet()
    for instance_id in range(500):
        ready.add(instance_id, -instance_id, ONE)
    gone = {n for n in range(500) if n % 5}
    for instance_id in gone:
        ready.discard(instance_id)
    assert drained(ready) == [n for n in reversed(range(500)) if n not in gone]


def test_parked_one_is_looked_at_again_when_its_job_is_free():
    ready = ReadySet()
    for instance_id in (1, 2):
        ready.add(instance_id, instance_id, Needs(Demand(1), alone=7))
    assert (ready.park(1), ready.park(2)) == (True, False)
    assert (len(ready), 1 in ready, first(ready)) == (0, True, None)
    ready.unpark(7)
    assert drained(ready) == [1, 2]


def test_next_parked_takes_the_turn_of_one_that_goes():
    """Cancelled or started: else those behind would wait for an end that never comes."""
    ready = ReadySet()
    for instance_id in (3, 1, 2):
        ready.add(instance_id, instance_id, Needs(Demand(1), alone=7))
        ready.park(instance_id)
    ready.discard(2)
    ready.unpark(7)
    assert (len(ready), first(ready)) == (1, (1, 1))
    ready.discard(1)
    assert (len(ready), first(ready)) == (1, (3, 3))


def test_only_the_first_that_waits_for_its_job_is_told():
    ready = ReadySet()
    for instance_id in (1, 2, 3):
        ready.add(instance_id, instance_id, Needs(Demand(1), alone=7))
    assert [ready.park(instance_id) for instance_id in (2, 1, 3)] == [True, True, False]


def test_parked_ones_are_not_counted_among_their_kind():
    ready = ReadySet()
    for instance_id in (1, 2, 3):
        ready.add(instance_id, instance_id, Needs(Demand(1), alone=7))
    ready.park(1), ready.park(2)
    assert (len(ready), sum(map(len, ready.groups()))) == (1, 1)
    ready.discard(1)
    ready.unpark(7)
    assert (len(ready), sum(map(len, ready.groups()))) == (2, 2)


def test_jobs_that_wait_for_themselves_are_no_kinds_of_their_own():
    ready = ReadySet()
    for job_id in range(1, 50):
        ready.add(job_id, job_id, Needs(Demand(1), alone=job_id))
    assert kinds(ready) == [ONE]


def test_many_parked_in_one_pass_bring_no_dead_one_back():
    """A cancelled one far back was handed out again when parking those before it began the heap anew."""
    ready = ReadySet()
    alone = Needs(Demand(1), alone=7)
    for instance_id in range(3 * SMALL):
        ready.add(instance_id, instance_id, alone)
    living = 2 * SMALL - 10
    for instance_id in range(living, 3 * SMALL):
        ready.discard(instance_id)
    handed = []
    for _, instance_id in ready.groups()[0].in_order():
        handed.append(instance_id)
        ready.park(instance_id)
    assert handed == list(range(living))
