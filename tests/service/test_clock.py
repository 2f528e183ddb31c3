"""The clock on the wall is set, or the machine sleeps: told from what the other clocks say."""

from datetime import timedelta

import pytest

from jobs.service.clock import NO_CHANGE, ClockChange, Clocks, ClockWatch
from tests.service.clockwork import Hands

NOTHING, HOUR = timedelta(0), timedelta(hours=1)


@pytest.fixture
def hands() -> Hands:
    return Hands()


def changes(hands, *moves) -> list[ClockChange]:
    clocks = hands.clocks()
    watch = ClockWatch(clocks.read())
    found = []
    for move in moves:
        move()
        found.append(watch.look(clocks.read()))
    return found


def test_time_that_passes_is_no_change(hands):
    assert changes(hands, lambda: hands.pass_(1), lambda: hands.pass_(90_000)) == [NO_CHANGE, NO_CHANGE]


@pytest.mark.parametrize("by", [HOUR, -HOUR, timedelta(days=365 * 56), -timedelta(days=365 * 5), timedelta(seconds=5)])
def test_clock_that_was_set_is_told_once(hands, by):
    assert changes(hands, lambda: hands.set(by), lambda: hands.pass_(1)) == [ClockChange(by, NOTHING), NO_CHANGE]


def test_sleep_of_the_machine_is_told(hands):
    assert changes(hands, lambda: hands.suspend(3 * 3600)) == [ClockChange(NOTHING, timedelta(hours=3))]


def test_sleep_with_a_clock_set_meanwhile_is_both(hands):
    def both():
        hands.suspend(600)
        hands.set(-HOUR)

    assert changes(hands, both) == [ClockChange(-HOUR, timedelta(minutes=10))]


def test_clock_that_is_being_corrected_is_no_change(hands):
    def slewed():
        hands.pass_(1)
        hands.set(timedelta(microseconds=500))

    assert not any(changes(hands, *[slewed] * 20_000))


def test_thread_that_was_held_up_reads_again(hands):
    boots = iter([0.0, 70.0, 70.0, 70.1])
    reading = Clocks(lambda: hands.wall, lambda: next(boots), lambda: hands.awake).read()
    assert reading.boot_seconds == 70.0


def test_changes_add_up():
    first, second = ClockChange(HOUR, NOTHING), ClockChange(-HOUR, HOUR)
    assert first.and_then(second) == ClockChange(NOTHING, HOUR)
