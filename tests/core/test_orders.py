"""What all five orders promise, and what each one is for."""

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.core.order import BAND, HEAD_START, ORDER_NAMES, Aging, Entry, UnknownOrder, make_order
from jobs.core.ready import Needs, ReadySet
from jobs.core.records import Demand, Priority

NOW = datetime(2026, 1, 1, tzinfo=UTC)
every_order = pytest.mark.parametrize("name", ORDER_NAMES)

moments = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - by timezones
entries = st.builds(
    Entry,
    priority=st.sampled_from(Priority).map(int),
    queued_at=moments,
    due_at=moments,
    deadline_seconds=st.none() | st.floats(0, 1e18),
    tenant=st.sampled_from(["", "a", "b"]),
)


def entry(priority=Priority.MEDIUM, *, after=0.0, deadline=None, tenant=""):
    at = NOW + timedelta(seconds=after)
    return Entry(priority, at, at, deadline, tenant)


def order_of(name, *asked):
    """Places in `asked` as they would start."""
    order = make_order(name, {})
    keys = [(order.key(each), place) for place, each in enumerate(asked)]
    return [place for _, place in sorted(keys)]


# --- all five ---


def test_unknown_order_names_the_possible_ones():
    with pytest.raises(UnknownOrder, match="no order 'lifo'; the possible ones are priority, fifo, aging, edf, fair"):
        make_order("lifo", {})


@every_order
@given(asked=st.lists(entries, max_size=20))
@settings(deadline=None)
def test_same_history_gives_the_same_keys(name, asked):
    one, other = make_order(name, {}), make_order(name, {})
    assert [one.key(each) for each in asked] == [other.key(each) for each in asked]


@every_order
@given(asked=st.lists(entries, max_size=20))
@settings(deadline=None)
def test_keys_fit_a_signed_column(name, asked):
    order = make_order(name, {"a": 0.01, "b": 100})
    assert all(-(2**63) <= order.key(each) < 2**63 for each in asked)


@every_order
def test_place_given_once_stays_among_new_ones(name):
    # A retry comes back with the key that it had: what was queued in the same way later is behind it.
    order = make_order(name, {})
    first = order.key(entry(deadline=60))
    order.started(first, "")
    assert all(order.key(entry(after=n, deadline=60)) > first for n in range(1, 50))


@every_order
def test_equals_start_in_the_order_of_id(name):
    order, ready = make_order(name, {}), ReadySet()
    for instance_id, tenant in [(3, "a"), (1, "b"), (2, "c")]:
        ready.add(instance_id, order.key(entry(tenant=tenant)), Needs(Demand()))
    assert drained(ready) == [1, 2, 3]


@every_order
def test_ready_set_hands_out_by_key(name):
    rng = random.Random(5)  # noqa: S311 - repeatable, not a secret
    order, ready, places = make_order(name, {"a": 3.0}), ReadySet(), []
    for instance_id in range(300):
        one = entry(
            rng.randrange(4),
            after=rng.uniform(0, 9999),
            deadline=rng.choice([None, 60, 600]),
            tenant="ab"[instance_id % 2],
        )
        places.append((order.key(one), instance_id))
        ready.add(instance_id, places[-1][0], Needs(Demand()))
    assert drained(ready) == [instance_id for _, instance_id in sorted(places)]


def drained(ready):
    taken = []
    while groups := ready.groups():
        place = groups[0].first()
        ready.discard(place[1])
        taken.append(place[1])
    return taken


@every_order
def test_what_is_told_changes_no_past_key(name):
    order = make_order(name, {})
    first = order.key(entry())
    for told in (order.seen, order.started, order.dropped):
        told(first, "")
    assert order.key(entry(after=1)) >= first


# --- each ---


def test_fifo_looks_at_arrival_only():
    assert order_of("fifo", entry(Priority.CRITICAL, after=2), entry(Priority.LOW, after=1)) == [1, 0]


def test_priority_goes_before_arrival():
    asked = [entry(Priority.LOW), entry(Priority.HIGH, after=9), entry(Priority.HIGH, after=5)]
    assert order_of("priority", *asked) == [2, 1, 0]


def test_aging_is_worth_a_head_start():
    low, seconds = entry(Priority.LOW), HEAD_START.total_seconds()
    assert order_of("aging", low, entry(Priority.MEDIUM, after=seconds - 1)) == [1, 0]
    assert order_of("aging", low, entry(Priority.MEDIUM, after=seconds + 1)) == [0, 1]


@given(entries, entries, moments)
@settings(deadline=None)
def test_aging_key_agrees_with_the_formula(one, other, now):
    # Priority plus what waiting has added by now, in head starts: whatever now is, the sooner one has more of it.
    def worth(each):
        return each.priority * HEAD_START + (now - each.queued_at)

    order = Aging()
    assert (order.key(one) < order.key(other)) == (worth(one) > worth(other))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 7200)), max_size=60))
@settings(deadline=None)
def test_low_one_is_overtaken_for_a_bounded_time(arrivals):
    order, low = Aging(), entry(Priority.LOW)
    ahead = [after for priority, after in arrivals if order.key(entry(priority, after=after)) < order.key(low)]
    assert all(after < 3 * HEAD_START.total_seconds() for after in ahead)


def test_low_one_starts_in_an_endless_stream():
    # One start a second, one critical arrival a second: by priority alone the low one would never start.
    order = Aging(timedelta(seconds=10))
    waiting = [(order.key(entry(Priority.LOW)), "low")]
    for second in range(100):
        waiting.append((order.key(entry(Priority.CRITICAL, after=second)), "critical"))
        waiting.sort()
        if waiting.pop(0)[1] == "low":
            break
    assert second == 31


def test_earliest_deadline_starts_first():
    asked = [entry(deadline=90), entry(deadline=30), entry(after=10, deadline=10)]
    assert order_of("edf", *asked) == [2, 1, 0]


def test_deadline_counts_from_the_due_moment():
    late = Entry(Priority.LOW, NOW + timedelta(hours=2), NOW, 60)
    assert order_of("edf", entry(Priority.CRITICAL, deadline=120), late) == [1, 0]


def test_no_deadline_is_last_by_priority_then_arrival():
    asked = [entry(after=5), entry(Priority.HIGH, after=9), entry(), entry(Priority.LOW, deadline=1e15)]
    assert order_of("edf", *asked) == [3, 1, 2, 0]


def test_equal_deadlines_go_by_priority():
    assert order_of("edf", entry(Priority.LOW, deadline=60), entry(Priority.CRITICAL, deadline=60)) == [1, 0]


@given(st.lists(entries, max_size=30))
@settings(deadline=None)
def test_deadlines_start_in_their_order(asked):
    def deadline(each):
        return min(each.due_at.timestamp() + each.deadline_seconds, BAND / 1e6)

    started = [asked[place] for place in order_of("edf", *asked)]
    hurried = [each for each in started if each.deadline_seconds is not None]
    assert started[: len(hurried)] == hurried
    assert all(deadline(a) <= deadline(b) + 1e-5 for a, b in pairwise(hurried))


def test_tenants_take_turns():
    asked = [entry(tenant="a")] * 3 + [entry(tenant="b")] * 3
    assert [asked[place].tenant for place in order_of("fair", *asked)] == list("ababab")
