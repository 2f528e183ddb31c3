"""Which runs go: by age, by number, and never the last word on a job."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.core import retention
from jobs.core.retention import FOR_EVER, Ended, Keep, Place, goes

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
FAR = Place(newest=100)
STATUSES = ("success", "skipped", "failed", "timeout", "cancelled", "upstream_failed")


def run(status="success", days=0.0, number=1):
    return Ended(number, status, NOW - timedelta(days=days))


def place_of(runs, keep):
    """As the store finds it by its queries; `runs` are oldest first."""
    ids = [one.id for one in reversed(runs)]
    failures = [one.id for one in reversed(runs) if not one.succeeded]
    beyond = next(iter(ids[keep.instances :]), 0) if keep.instances else 0
    return Place(max(ids), beyond, next(iter(failures[retention.MOST_FAILURES :]), 0))


def gone(runs, keep, now=NOW):
    return [one for one in runs if goes(one, place_of(runs, keep), keep, now)]


@pytest.mark.parametrize(("status", "days", "gone"), [
    ("success", 29, False), ("success", 31, True), ("skipped", 31, True), ("failed", 31, False),
    ("cancelled", 89, False), ("timeout", 91, True), ("upstream_failed", 91, True),
])  # fmt: skip
def test_age_decides_by_how_it_ended(status, days, gone):
    assert goes(run(status, days), FAR, Keep(30, 90, FOR_EVER), NOW) == gone


def test_for_ever_is_for_ever():
    assert not any(goes(run(status, 9999), FAR, Keep(FOR_EVER, FOR_EVER, FOR_EVER), NOW) for status in STATUSES)


def test_number_takes_the_oldest_success():
    runs = [run(days=5 - n / 10, number=n) for n in range(1, 11)]
    assert [one.id for one in gone(runs, Keep(30, 90, 4))] == [1, 2, 3, 4, 5, 6]


def test_failures_outlive_the_number_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(retention, "MOST_FAILURES", 3)
    runs = [run("failed", 5 - n / 10, n) for n in range(1, 11)]
    assert [one.id for one in gone(runs, Keep(30, 90, 1))] == [1, 2, 3, 4, 5, 6, 7]


def test_job_says_what_it_keeps_itself():
    site = Keep(30, 90, 10_000)
    assert site.but(None, None, None) == site
    assert site.but(0, None, 5) == Keep(FOR_EVER, 90, 5)
    assert (site.longest_days, site.but(0, 1, 5).longest_days) == (90, FOR_EVER)


KEEPS = st.builds(Keep, st.integers(0, 40), st.integers(0, 40), st.integers(0, 12))
ENDS = st.lists(st.tuples(st.sampled_from(STATUSES), st.floats(0, 50)), min_size=1, max_size=40)


def made(ends):
    oldest_first = sorted(ends, key=lambda end: -end[1])
    return [run(status, days, number) for number, (status, days) in enumerate(oldest_first, 1)]


@given(ENDS, KEEPS)
def test_newest_run_and_the_last_hour_stay(ends, keep):
    runs = made(ends)
    went = gone(runs, keep)
    assert runs[-1] not in went
    assert all(one.ended_at <= NOW - timedelta(hours=1) for one in went)


@given(ENDS, KEEPS, st.floats(0, 30))
def test_what_is_gone_comes_not_back(ends, keep, later):
    runs = made(ends)
    assert set(gone(runs, keep)) <= set(gone(runs, keep, NOW + timedelta(days=later)))


@given(ENDS, KEEPS)
def test_what_is_left_obeys_every_bound(ends, keep):
    runs = made(ends)
    left = [one for one in runs[:-1] if one not in gone(runs, keep) and one.ended_at <= NOW - timedelta(hours=1)]
    assert not any(keep.too_old(one, NOW) for one in left)
    if keep.instances:
        newest = {one.id for one in runs[-keep.instances :]}
        assert all(one.id in newest or not one.succeeded for one in left)


@given(ENDS, KEEPS)
def test_nothing_younger_than_said_is_too_old(ends, keep):
    youngest = keep.youngest_too_old(NOW)
    old = [one for one in made(ends) if keep.too_old(one, NOW)]
    assert all(youngest is not None and one.ended_at <= youngest for one in old)
