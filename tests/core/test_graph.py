"""The shape of workflows."""

import pytest

from jobs.core.graph import Graph, find_cycle, in_order


def graph(**upstreams: list[int]) -> Graph:
    """`graph(j2=[1])`: job 2 waits for job 1."""
    made = Graph()
    for name, ups in upstreams.items():
        made.put(int(name[1:]), ups)
    return made


def test_below_names_every_dependent_after_its_upstreams():
    assert graph(j4=[2, 3], j3=[2], j2=[1], j9=[8]).below(1) == [2, 3, 4]


def test_component_is_the_whole_workflow():
    made = graph(j3=[1, 2], j4=[3], j9=[8])
    assert made.component(4) == {1, 2, 3, 4}
    assert made.component(5) == {5}


def test_a_job_that_waits_for_nobody_leaves_the_workflow():
    made = graph(j2=[1])
    made.put(2, [])
    assert 1 not in made
    assert made.below(1) == []


def test_an_edge_that_is_taken_back_is_gone():
    made = graph(j3=[1, 2])
    made.put(3, [2])
    assert made.dependents(1) == []
    assert made.upstreams(3) == (2,)


def test_cycle_is_named_from_the_job_back_to_itself():
    assert find_cycle({1: [3], 2: [1], 3: [2]}, 1) == [1, 3, 2, 1]


def test_a_job_that_waits_for_itself_is_a_cycle():
    assert find_cycle({7: [7]}, 7) == [7, 7]


def test_a_diamond_is_no_cycle():
    assert find_cycle({4: [2, 3], 3: [1], 2: [1]}, 4) == []


def test_a_circle_has_no_order():
    with pytest.raises(ValueError, match="wait for each other"):
        in_order([1, 2], {1: [2], 2: [1]}.__getitem__)
