import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.core.cores import CoreManager
from jobs.core.records import Allocation, Demand

A, B, C, D = 1, 2, 3, 4


def test_four_cores_at_one_and_a_half_are_six_slots():
    assert CoreManager(range(4), overcommit=1.5).slots == 6


def test_design_example_of_four_jobs():
    manager = CoreManager(range(4), overcommit=1.5)
    assert manager.allocate(A, Demand(2)) == Allocation((0, 1), 0, 0)
    assert manager.allocate(B, Demand(1)) == Allocation((2,), 0, 0)
    assert manager.allocate(C, Demand(2)) == Allocation((3,), 1, 0)
    assert manager.allocate(D, Demand(3)) is None
    assert manager.lacks(Demand(3)) == "cores"
    manager.release(A)
    assert manager.allocate(D, Demand(3)) == Allocation((0, 1), 1, 0)


def test_lowest_loaded_physical_core_is_first():
    manager = CoreManager(range(3))
    assert manager.allocate(A, Demand(1), {0: 0.9, 1: 0.5, 2: 0.1}) == Allocation((2,), 0, 0)


def test_overcommit_of_one_is_a_hard_limit():
    manager = CoreManager(range(2), overcommit=1.0)
    manager.allocate(A, Demand(2))
    assert manager.allocate(B, Demand(1)) is None


def test_release_gives_back_both_kinds_once():
    manager = CoreManager(range(2), overcommit=1.5)
    manager.allocate(A, Demand(3))
    assert manager.release(A) is True
    assert manager.release(A) is False
    assert (manager.free_cores, manager.free_virtual) == ((0, 1), 1)


def test_memory_is_checked_with_cores():
    manager = CoreManager(range(4), memory_mb=1000)
    manager.allocate(A, Demand(1, 800))
    assert manager.lacks(Demand(1, 300)) == "memory"
    assert manager.fits(Demand(1, 200))


def test_demand_beyond_the_empty_node_can_never_be_met():
    manager = CoreManager(range(2), overcommit=1.5, memory_mb=100)
    assert not manager.can_ever(Demand(4))
    assert not manager.can_ever(Demand(1, 101))
    assert manager.can_ever(Demand(3, 100))


def test_second_allocation_of_one_holder_is_refused():
    manager = CoreManager(range(2))
    manager.allocate(A, Demand(1))
    with pytest.raises(ValueError, match="release it first"):
        manager.allocate(A, Demand(1))


def test_restored_allocation_counts_as_held():
    manager = CoreManager(range(2), overcommit=1.0)
    manager.restore(A, Allocation((1,), 0, 0))
    assert manager.allocate(B, Demand(1)) == Allocation((0,), 0, 0)
    assert manager.allocate(C, Demand(1)) is None


@given(
    st.integers(1, 8),
    st.sampled_from([1.0, 1.25, 1.5, 2.0]),
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 6), st.integers(0, 500)), max_size=100),
)
def test_never_over_budget_and_all_comes_back(count, overcommit, steps):
    manager = CoreManager(range(count), overcommit=overcommit, memory_mb=1000)
    held = {}
    for holder, cores, memory in steps:
        if holder in held:
            manager.release(holder)
            del held[holder]
        elif (allocation := manager.allocate(holder, Demand(cores, memory))) is not None:
            held[holder] = allocation
        physical = [core for allocation in held.values() for core in allocation.cores]
        assert len(physical) == len(set(physical))
        assert sum(a.virtual for a in held.values()) <= manager.virtual_total
        assert sum(a.memory_mb for a in held.values()) <= 1000
    for holder in held:
        manager.release(holder)
    assert manager.free_cores == manager.cores
    assert manager.free_slots == manager.slots
    assert manager.free_memory_mb == 1000
