from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from jobs.core.days import DayRule
from jobs.core.walltimes import WallTimes

SECOND = timedelta(seconds=1)


def some(low: int, high: int, most: int) -> st.SearchStrategy[tuple[int, ...]]:
    values = st.sets(st.integers(low, high), min_size=1, max_size=most)
    return values.map(lambda chosen: tuple(sorted(chosen)))


wall_times = st.builds(
    WallTimes,
    some(0, 23, 4),
    some(0, 59, 4),
    some(0, 59, 4),
    st.builds(DayRule, some(1, 12, 12), dates=some(1, 28, 9).map(frozenset), weekdays=some(0, 6, 3).map(frozenset)),
)
moments = st.datetimes(datetime(1950, 1, 1), datetime(2100, 1, 1))  # noqa: DTZ001 - wall times have no zone


def matches(times: WallTimes, wall: datetime) -> bool:
    days = times.days
    day = wall.day in days.dates and wall.isoweekday() % 7 in days.weekdays and wall.month in days.months
    return day and (wall.hour in times.hours and wall.minute in times.minutes and wall.second in times.seconds)


@given(wall_times, moments)
def test_what_is_found_is_named_and_not_earlier(times: WallTimes, wall: datetime) -> None:
    found = times.at_or_after(wall)
    assert found is not None
    assert found >= wall
    assert matches(times, found)
    assert times.at_or_after(found) == found


@given(wall_times, moments)
def test_nothing_lies_between_it_and_the_moment(times: WallTimes, wall: datetime) -> None:
    found = times.at_or_after(wall)
    assert found is not None
    assert times.count(wall, found) == 0
    assert times.count(wall, found + SECOND) == 1


@given(wall_times, moments, st.integers(0, 20))
def test_counting_equals_stepping(times: WallTimes, wall: datetime, steps: int) -> None:
    since = wall
    for _ in range(steps):
        found = times.at_or_after(since)
        assert found is not None
        since = found + SECOND
    assert times.count(wall, since) == steps


@given(wall_times, moments, st.timedeltas(timedelta(0), timedelta(days=900)), st.timedeltas(timedelta(0), timedelta(9)))
def test_counts_add_up(times: WallTimes, wall: datetime, first: timedelta, second: timedelta) -> None:
    middle, last = wall + first, wall + first + second
    assert times.count(wall, middle) + times.count(middle, last) == times.count(wall, last)


def test_a_time_without_a_day_is_never_found() -> None:
    never = WallTimes((0,), (0,), (0,), DayRule(months=(2,), dates=frozenset({30})))
    assert never.at_or_after(datetime(2026, 1, 1)) is None  # noqa: DTZ001 - wall times have no zone


def test_the_end_of_the_calendar_is_an_end() -> None:
    assert WallTimes((0,), (0,)).at_or_after(datetime(9999, 12, 31, 12)) is None  # noqa: DTZ001 - wall times have no zone
