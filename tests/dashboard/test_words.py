from datetime import timedelta

import pytest

from dashboard.presentation import amounts
from dashboard.presentation.counts import COUNTED_UP_TO, Count
from dashboard.presentation.logtext import plain
from dashboard.presentation.looks import OUTCOMES, STATUSES
from jobs.core.states import OutcomeKind, Status
from tests.dashboard.places import THEN


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 ms"),
        (0.34, "340 ms"),
        (0.9996, "1.0 s"),
        (2.34, "2.3 s"),
        (9.96, "10 s"),
        (59.6, "1 min"),
        (72, "1 min 12 s"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
        (273600, "3 d 4 h"),
        (-1, "0 ms"),
    ],
)
def test_duration_has_two_units_at_most(seconds, words):
    assert amounts.duration(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "now"), (3, "3 s ago"), (200, "3 min ago"), (-12, "in 12 s"), (90000, "1 d ago")]
)
def test_moment_is_said_from_now(seconds, words):
    assert amounts.ago(THEN - timedelta(seconds=seconds), THEN) == words


@pytest.mark.parametrize(
    ("cores", "virtual", "words"),
    [
        ([], 0, ""),
        ([2], 0, "core 2"),
        ([0, 1, 2, 5], 0, "cores 0\N{EN DASH}2, 5"),
        ([3], 1, "core 3 + 1 virtual slot"),
        ([], 2, "2 virtual slots"),
    ],
)
def test_what_is_held_is_said_shortly(cores, virtual, words):
    assert amounts.held(cores, virtual) == words


def test_sizes_are_in_binary_units():
    assert [amounts.size(n) for n in (812, 65536, 2**30)] == ["812 B", "64.0 kB", "1.0 GB"]


def test_signal_has_name_and_number():
    assert amounts.signal_name(15) == "SIGTERM (15)"
    assert amounts.signal_name(99) == "signal 99"


def test_every_status_and_outcome_has_a_look():
    assert set(STATUSES) == set(Status)
    assert set(OUTCOMES) == set(OutcomeKind)


def test_looks_differ_by_more_than_colour():
    assert len({(look.word, look.icon) for look in STATUSES.values()}) == len(STATUSES)


def test_count_is_exact_up_to_its_bound():
    assert (str(Count(999)), Count(999).beyond(50)) == ("999", "949")
    assert (str(Count(COUNTED_UP_TO + 1)), Count(COUNTED_UP_TO + 1).beyond(50)) == ("1,000+", "over 950")
    assert Count(50).beyond(50) == ""


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m\n", "red\n"),
        ("\x1b]0;title\x07text", "text"),
        ("\r  0%\r 50%\r100%\ndone", "100%\ndone"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("bell\x07\x00", "bell"),
        ("tab\tstays", "tab\tstays"),
    ],
)
def test_plain_text_has_no_commands(raw, shown):
    assert plain(raw) == shown
