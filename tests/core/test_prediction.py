"""When what waits could start: the numbers, whose end makes the room, and why nobody can tell."""

from datetime import UTC, datetime, timedelta

from jobs.core.cores import CoreManager
from jobs.core.outlook import NodeOutlook, Queued, queue_starts
from jobs.core.prediction import Holding, Prediction, Room, by_end, earliest_start, expected_end
from jobs.core.ready import Needs
from jobs.core.records import Allocation, Demand

NOW = datetime(2026, 1, 1, tzinfo=UTC)
UNCOUNTED = None  # memory of a node that does not say how much it has


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def run(instance_id: int, slots: int, ends: float | None, memory_mb: int = 0) -> Holding:
    return Holding(instance_id, slots, memory_mb, None if ends is None else at(ends))


def start(cores: int, free: int, *holdings: Holding) -> Prediction:
    return earliest_start(Demand(cores), Room(free, UNCOUNTED), sorted(holdings, key=by_end), NOW)


def node(node_id: int, slots: int, *holdings: Holding, memory_mb: int | None = UNCOUNTED) -> NodeOutlook:
    """What its `holdings` do not hold is free."""
    manager = CoreManager(range(slots), overcommit=1.0, memory_mb=memory_mb or 0)
    for held in holdings:
        manager.restore(held.instance_id, Allocation((), held.slots, held.memory_mb))
    return NodeOutlook(node_id, manager, list(holdings))


def wait(instance_id: int, cores: int, seconds: float | None = 100, memory_mb: int = 0) -> Queued:
    """One whose patience is over."""
    return Queued(instance_id, Needs(Demand(cores, memory_mb)), seconds)


def starts(queue: list[Queued], *nodes: NodeOutlook) -> dict[int, float | None]:
    """Seconds from now."""
    found = queue_starts(queue, nodes, NOW)
    return {n: None if p.at is None else (p.at - NOW).total_seconds() for n, p in found.items()}


# --- one demand ---


def test_what_fits_starts_now():
    assert start(2, 2, run(7, 2, 60)) == Prediction(NOW)


def test_starts_when_enough_have_ended():
    assert start(4, 1, run(9, 2, 90), run(8, 2, 30), run(7, 1, 60)) == Prediction(at(60), (8, 7))


def test_ends_at_one_moment_count_in_the_order_of_ids():
    assert start(1, 0, run(9, 1, 30), run(8, 1, 30)) == Prediction(at(30), (8,))


def test_only_those_that_give_what_lacks_are_named():
    holdings = [run(1, 2, 10), run(2, 1, 20, memory_mb=500)]
    found = earliest_start(Demand(1, 400), Room(3, 100), holdings, NOW)
    assert found == Prediction(at(20), (2,))


def test_memory_is_waited_for_like_cores():
    holdings = [run(1, 4, 10), run(2, 1, 50, memory_mb=300)]
    found = earliest_start(Demand(4, 300), Room(0, 0), holdings, NOW)
    assert found == Prediction(at(50), (1, 2))


def test_uncounted_memory_never_lacks():
    assert earliest_start(Demand(1, 10**6), Room(1, UNCOUNTED), [], NOW) == Prediction(NOW)


def test_run_without_known_end_makes_it_unknown():
    found = start(4, 1, run(1, 2, 10), run(2, 1, None))
    assert (found.at, found.freed_by) == (None, ())
    assert found.unknown_because == "nothing tells how long instance 2 will take (no time limit, no earlier run)"


def test_unknown_end_that_is_not_needed_does_no_harm():
    assert start(3, 1, run(1, 2, 10), run(2, 1, None)) == Prediction(at(10), (1,))


def test_several_unknown_ones_are_named():
    assert "how long instances 1 and 2 will" in start(9, 0, *(run(n, 1, None) for n in (1, 2))).unknown_because
    assert "how long instances 1, 2 and 3 will" in start(9, 0, *(run(n, 1, None) for n in (1, 2, 3))).unknown_because
    many = start(9, 0, *(run(n, 1, None) for n in range(1, 9)))
    assert "how long instances 1, 2, 3 and others will" in many.unknown_because


def test_what_nothing_gives_back_stays_unknown():
    assert start(9, 1, run(1, 2, 10)).unknown_because == "nothing that runs here gives back enough"


def test_overdue_run_may_end_any_moment():
    ends_at = expected_end(at(-900), 600, NOW)
    assert ends_at == NOW
    assert start(1, 0, Holding(1, 1, 0, ends_at)) == Prediction(NOW, (1,))


def test_expected_end_counts_from_the_beginning():
    assert expected_end(at(-100), 600, NOW) == at(500)
    assert expected_end(at(-100), None, NOW) is None


# --- a queue ---


def test_empty_queue_or_no_node_predicts_nothing_certain():
    assert queue_starts([], [node(1, 4)], NOW) == {}
    assert starts([wait(5, 1)]) == {5: None}


def test_each_takes_its_room_before_the_next():
    assert starts([wait(5, 3), wait(6, 2), wait(7, 1)], node(1, 4)) == {5: 0, 6: 100, 7: 0}
    assert starts([wait(5, 3), wait(6, 2), wait(7, 1, seconds=101)], node(1, 4)) == {5: 0, 6: 100, 7: 100}


def test_nobody_overtakes_the_one_ahead():
    assert starts([wait(5, 4), wait(6, 1)], node(1, 4, run(1, 1, 60))) == {5: 60, 6: 160}


def test_two_that_start_at_one_end_both_name_it():
    found = queue_starts([wait(5, 2), wait(6, 2)], [node(1, 4, run(1, 4, 60))], NOW)
    assert {n: (p.at, p.freed_by) for n, p in found.items()} == {5: (at(60), (1,)), 6: (at(60), (1,))}


def test_one_ahead_frees_room_when_it_ends():
    found = queue_starts([wait(5, 4, seconds=30), wait(6, 4)], [node(1, 4)], NOW)
    assert (found[6].at, found[6].freed_by) == (at(30), (5,))


def test_one_ahead_of_unknown_length_is_named():
    found = queue_starts([wait(5, 4, seconds=None), wait(6, 4), wait(7, 1)], [node(1, 4)], NOW)
    assert found[5].at == NOW
    assert "how long instance 5 will take" in found[6].unknown_because
    assert found[7].unknown_because == "it comes after instance 6, whose start is unknown"


def test_overdue_run_gives_room_to_all_that_it_suffices_for():
    assert starts([wait(5, 1), wait(6, 1)], node(1, 2, run(1, 2, 0))) == {5: 0, 6: 0}


def test_too_big_for_the_node_keeps_nobody_waiting():
    found = queue_starts([wait(5, 9), wait(6, 1)], [node(1, 4)], NOW)
    assert found[5].unknown_because == "no node could ever give what it needs"
    assert found[6].at == NOW


def test_too_much_memory_keeps_nobody_waiting():
    assert starts([wait(5, 1, memory_mb=2000), wait(6, 1)], node(1, 4, memory_mb=1000)) == {5: None, 6: 0}


def test_memory_of_those_ahead_is_taken():
    queue = [wait(5, 1, memory_mb=700), wait(6, 1, memory_mb=700)]
    assert starts(queue, node(1, 4, memory_mb=1000)) == {5: 0, 6: 100}
    assert starts(queue, node(1, 4, memory_mb=None)) == {5: 0, 6: 0}


# --- several nodes ---


def test_node_that_is_free_first_takes_it():
    found = queue_starts([wait(5, 4)], [node(1, 4, run(1, 4, 90)), node(2, 4, run(2, 4, 30))], NOW)
    assert found[5] == Prediction(at(30), (2,), node_id=2)


def test_next_one_goes_to_the_other_node():
    nodes = [node(1, 2), node(2, 2)]
    found = queue_starts([wait(5, 2), wait(6, 2), wait(7, 2)], nodes, NOW)
    assert [(p.at, p.node_id) for p in found.values()] == [(NOW, 1), (NOW, 2), (at(100), 1)]


def test_known_end_elsewhere_beats_an_unknown_one():
    found = queue_starts([wait(5, 2)], [node(1, 2, run(1, 2, None)), node(2, 2, run(2, 2, 50))], NOW)
    assert (found[5].at, found[5].node_id) == (at(50), 2)


def test_big_one_does_not_hold_up_a_node_too_small_for_it():
    nodes = [node(1, 8, run(1, 1, None)), node(2, 2)]
    assert starts([wait(5, 8), wait(6, 2), wait(7, 4)], *nodes) == {5: None, 6: 0, 7: None}


def test_big_one_keeps_room_on_each_node_that_could_have_it():
    nodes = [node(1, 4, run(1, 1, 60)), node(2, 4, run(2, 1, 90))]
    found = queue_starts([wait(5, 4), wait(6, 3)], nodes, NOW)
    assert (found[5].at, found[5].node_id) == (at(60), 1)
    assert (found[6].at, found[6].node_id, found[6].freed_by) == (at(60), 2, ())
