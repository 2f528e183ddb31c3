from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from jobs.core.timetable import Timetable

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def test_hands_out_in_order_of_moment():
    timetable = Timetable[str]()
    timetable.set("late", at(3))
    timetable.set("soon", at(1))
    assert list(timetable.take_due(at(5))) == ["soon", "late"]


def test_equal_moments_keep_their_sequence():
    timetable = Timetable[str]()
    for key in "abc":
        timetable.set(key, at(1))
    assert list(timetable.take_due(at(1))) == ["a", "b", "c"]


def test_nothing_comes_out_early():
    timetable = Timetable[str]()
    timetable.set("a", at(2))
    assert list(timetable.take_due(at(1.999999))) == []


def test_setting_again_replaces_the_moment():
    timetable = Timetable[str]()
    timetable.set("a", at(1))
    timetable.set("a", at(9))
    assert list(timetable.take_due(at(5))) == []
    assert timetable.next_moment() == at(9)


def test_cancelled_key_never_comes_out():
    timetable = Timetable[str]()
    timetable.set("a", at(1))
    assert timetable.cancel("a") is True
    assert timetable.cancel("a") is False
    assert timetable.next_moment() is None


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


@given(st.lists(st.tuples(st.sampled_from(["set", "cancel"]), st.integers(0, 20), st.integers(0, 50)), max_size=200))
def test_agrees_with_a_plain_dictionary(steps):
    timetable, model = Timetable[int](), {}
    for what, key, seconds in steps:
        if what == "set":
            timetable.set(key, at(seconds))
            model[key] = at(seconds)
        else:
            assert timetable.cancel(key) == (model.pop(key, None) is not None)
    assert timetable.next_moment() == min(model.values(), default=None)
    due = list(timetable.take_due(at(25)))
    assert sorted(due) == sorted(key for key, moment in model.items() if moment <= at(25))
    assert [model[key] for key in due] == sorted(model[key] for key in due)
