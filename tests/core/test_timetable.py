"""What a timetable promises, kept by the heap and by the wheel; and what is true of each alone."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.core.timetable import Timetable
from jobs.core.wheel import Wheel

START = datetime(2026, 1, 1, tzinfo=UTC)

KINDS = {
    "heap": Timetable,
    "wheel": Wheel,
    "small wheel": lambda: Wheel(timedelta(seconds=3), slots=5),
    "one slot": lambda: Wheel(timedelta(seconds=0.7), slots=1),
}
each_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
each_wheel = pytest.mark.parametrize("make", list(KINDS.values())[1:], ids=list(KINDS)[1:])


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


# --- the contract ---


@each_kind
def test_hands_out_in_order_of_moment(make):
    timetable = make()
    for key, seconds in [("late", 30), ("soon", 1), ("sooner", 0.5), ("between", 2)]:
        timetable.set(key, at(seconds))
    assert list(timetable.take_due(at(30))) == ["sooner", "soon", "between", "late"]


@each_kind
def test_equal_moments_keep_their_sequence(make):
    timetable = make()
    for key in "bcad":
        timetable.set(key, at(1))
    timetable.set("c", at(1))
    assert list(timetable.take_due(at(1))) == ["b", "a", "d", "c"]


@each_kind
@pytest.mark.parametrize("seconds", [0, 2, 4000, 5000, 1e9])
def test_nothing_comes_out_early(make, seconds):
    timetable = make()
    list(timetable.take_due(START))
    timetable.set("a", at(seconds))
    assert list(timetable.take_due(at(seconds) - timedelta(microseconds=1))) == []
    assert list(timetable.take_due(at(seconds))) == ["a"]


@each_kind
def test_taken_key_is_gone(make):
    timetable = make()
    timetable.set("a", at(1))
    assert ("a" in timetable, len(timetable)) == (True, 1)
    assert list(timetable.take_due(at(1))) == ["a"]
    assert ("a" in timetable, len(timetable), timetable.next_moment()) == (False, 0, None)
    assert list(timetable.take_due(at(9))) == []


@each_kind
def test_setting_again_replaces_the_moment(make):
    timetable = make()
    timetable.set("a", at(1))
    timetable.set("a", at(9))
    assert list(timetable.take_due(at(5))) == []
    assert at(5) < timetable.next_moment() <= at(9)
    assert (list(timetable.take_due(at(9))), len(timetable)) == (["a"], 0)


@each_kind
def test_setting_to_sooner_replaces_the_moment(make):
    timetable = make()
    list(timetable.take_due(START))
    timetable.set("a", at(9000))
    timetable.set("a", at(2))
    assert timetable.next_moment() <= at(2)
    assert list(timetable.take_due(at(2))) == ["a"]


@each_kind
def test_past_moment_is_due_at_once(make):
    timetable = make()
    list(timetable.take_due(at(1000)))
    timetable.set("a", at(-5000))
    assert timetable.next_moment() <= at(-5000)
    assert list(timetable.take_due(at(1000))) == ["a"]


@each_kind
def test_cancelled_key_never_comes_out(make):
    timetable = make()
    timetable.set("a", at(1))
    assert timetable.cancel("a") is True
    assert timetable.cancel("a") is False
    assert (timetable.next_moment(), list(timetable.take_due(at(5)))) == (None, [])


@each_kind
def test_first_one_may_lie_far_ahead(make):
    timetable = make()
    timetable.set("far", at(1e9))
    timetable.set("near", at(3))
    list(timetable.take_due(START))
    timetable.set("nearer", at(2))
    assert list(timetable.take_due(at(4))) == ["nearer", "near"]
    assert list(timetable.take_due(at(1e9))) == ["far"]


@each_kind
def test_clock_set_back_hands_nothing_out_early(make):
    timetable = make()
    timetable.set("a", at(7200))
    timetable.set("b", at(9000))
    list(timetable.take_due(at(7000)))
    list(timetable.take_due(at(10)))
    timetable.set("c", at(11))
    assert timetable.next_moment() <= at(11)
    assert list(timetable.take_due(at(7199))) == ["c"]
    assert list(timetable.take_due(at(9000))) == ["a", "b"]


@each_kind
def test_sleeper_comes_to_every_moment(make):
    # Whoever sleeps until `next_moment` and takes what is due then is never late, and never goes in circles.
    timetable, now, taken = make(), START, {}
    for key, seconds in enumerate([0.1, 0.1, 2.9, 3, 3.5, 100, 100.25, 20_000]):
        timetable.set(key, at(seconds))
    assert list(timetable.take_due(now)) == []
    while (moment := timetable.next_moment()) is not None:
        assert moment > now
        now = moment
        taken |= dict.fromkeys(timetable.take_due(now), now)
    assert taken == dict(enumerate(map(at, [0.1, 0.1, 2.9, 3, 3.5, 100, 100.25, 20_000])))


seconds = st.integers(-20, 120).map(lambda n: n / 2)
steps = st.lists(
    st.tuples(st.just("set"), st.integers(0, 20), seconds)
    | st.tuples(st.just("cancel"), st.integers(0, 20), st.none())
    | st.tuples(st.just("now"), st.none(), seconds),
    max_size=200,
)


@each_kind
@given(steps=steps)
@settings(deadline=None)
def test_agrees_with_a_plain_dictionary(make, steps):
    timetable, model = make(), {}
    for number, (what, key, moment) in enumerate(steps):
        if what == "set":
            timetable.set(key, at(moment))
            model[key] = (at(moment), number)
        elif what == "cancel":
            assert timetable.cancel(key) == (model.pop(key, None) is not None)
        else:
            due = sorted((key for key in model if model[key][0] <= at(moment)), key=model.get)
            assert list(timetable.take_due(at(moment))) == due
            model = {key: model[key] for key in model if key not in due}
            assert timetable.next_moment() is None or timetable.next_moment() > at(moment)
        assert len(timetable) == len(model)
        assert all((key in timetable) == (key in model) for key in range(20))
        assert (timetable.next_moment() is None) == (not model)
        assert not model or timetable.next_moment() <= min(model.values())[0]


@each_wheel
@given(steps=steps)
@settings(deadline=None)
def test_wheel_hands_out_what_the_heap_does(make, steps):
    heap, wheel = Timetable[int](), make()
    for what, key, moment in steps:
        if what == "now":
            assert list(wheel.take_due(at(moment))) == list(heap.take_due(at(moment)))
        for timetable in (heap, wheel):
            if what == "set":
                timetable.set(key, at(moment))
            elif what == "cancel":
                timetable.cancel(key)
    assert list(wheel.take_due(at(9999))) == list(heap.take_due(at(9999)))


# --- the heap ---


def test_heap_names_the_very_next_moment():
    timetable = Timetable[str]()
    timetable.set("a", at(1.5))
    timetable.set("a", at(9.25))
    assert timetable.next_moment() == at(9.25)


def test_heap_is_rebuilt_when_mostly_cancelled():
    timetable = Timetable[int]()
    for key in range(1000):
        timetable.set(key, at(key))
    for key in range(900):
        timetable.cancel(key)
    assert len(timetable._heap) <= 2 * len(timetable)


def test_resetting_one_key_does_not_grow():
    timetable = Timetable[int]()
    for n in range(10_000):
        timetable.set(1, at(n))
    assert len(timetable._heap) <= 100


# --- the wheel ---


def listed(wheel: Wheel) -> int:
    """Entries in all slots and the heap, the dead ones too."""
    return sum(map(len, wheel._slots)) + len(wheel._near._heap)


def test_cancelled_leave_nothing_in_the_wheel():
    wheel = Wheel[int]()
    list(wheel.take_due(START))
    for key in range(1000):
        wheel.set(key, at(1 + key))
        wheel.set(key, at(2 + key))
    for key in range(990):
        wheel.cancel(key)
    assert listed(wheel) == len(wheel) == 10


def test_only_the_tick_at_hand_is_in_the_heap():
    wheel = Wheel[int](timedelta(seconds=1), slots=16)
    list(wheel.take_due(START))
    for key in range(100):
        wheel.set(key, at(1 + key / 10))
    assert (len(list(wheel.take_due(at(3.25)))), len(wheel._near)) == (23, 7)


def test_thirty_days_asleep_turn_the_wheel_once(monkeypatch):
    wheel, poured = Wheel[int](timedelta(seconds=1), slots=8), []
    list(wheel.take_due(START))
    for key in range(8):
        wheel.set(key, at(40 * 86_400 + key))
    pour = wheel._pour
    monkeypatch.setattr(wheel, "_pour", lambda slot, end: (poured.extend(slot), pour(slot, end)))
    assert list(wheel.take_due(at(30 * 86_400))) == []
    assert (sorted(poured), len(wheel._near)) == (list(range(8)), 0)


def test_sleeper_wakes_twice_in_a_tick_at_most():
    wheel, wakes = Wheel[int](timedelta(seconds=10), slots=4), []
    list(wheel.take_due(START))
    wheel.set(1, at(37))
    while (moment := wheel.next_moment()) is not None:
        wakes.append(moment)
        list(wheel.take_due(moment))
    assert wakes == [at(30), at(37)]


@pytest.mark.parametrize(("resolution", "slots"), [(timedelta(0), 8), (timedelta(seconds=-1), 8), (timedelta(1), 0)])
def test_impossible_wheel_is_refused(resolution, slots):
    with pytest.raises(ValueError, match="it needs a slot at least, and ticks above 0"):
        Wheel(resolution, slots)
