from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.core.triggers import MOST_COUNTED, FixedRate, Once, Trigger, fires, missed_between

ANCHOR = datetime(2026, 1, 1, 10, 7, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
QUARTER = FixedRate(ANCHOR, 15 * MINUTE)


@dataclass
class Uncounted:
    """A trigger that cannot count, and how often it was asked."""

    inner: Trigger
    asked: int = 0

    def next_after(self, moment: datetime) -> datetime | None:
        self.asked += 1
        return self.inner.next_after(moment)

    def describe(self) -> str:
        return self.inner.describe()


def test_rate_fires_first_at_a_future_anchor() -> None:
    assert QUARTER.next_after(ANCHOR - timedelta(days=3)) == ANCHOR


def test_rate_fires_a_period_after_a_past_anchor() -> None:
    assert QUARTER.next_after(ANCHOR) == ANCHOR + 15 * MINUTE


def test_rate_keeps_its_phase_for_ever() -> None:
    assert QUARTER.next_after(datetime(2031, 6, 1, 12, tzinfo=UTC)) == datetime(2031, 6, 1, 12, 7, tzinfo=UTC)


def test_rate_ends_at_its_end_inclusive() -> None:
    bounded = FixedRate(ANCHOR, 15 * MINUTE, end=ANCHOR + 30 * MINUTE)
    assert fires(bounded, ANCHOR, 9) == [ANCHOR + 15 * MINUTE, ANCHOR + 30 * MINUTE]
    assert bounded.count_between(ANCHOR, ANCHOR + timedelta(days=9)) == 2


def test_rate_reaches_back_in_its_phase() -> None:
    back = QUARTER.reaching_back_to(ANCHOR - 32 * MINUTE)
    assert back.next_after(ANCHOR - 32 * MINUTE) == ANCHOR - 30 * MINUTE
    assert back.next_after(ANCHOR) == QUARTER.next_after(ANCHOR)
    assert QUARTER.reaching_back_to(ANCHOR) == QUARTER


def test_rate_beyond_the_calendar_is_over() -> None:
    assert FixedRate(ANCHOR, timedelta(days=3_000_000)).next_after(ANCHOR) is None


def test_once_fires_once() -> None:
    assert fires(Once(ANCHOR), ANCHOR - MINUTE, 3) == [ANCHOR]
    assert Once(ANCHOR).next_after(ANCHOR) is None


@pytest.mark.parametrize(("end", "count"), [(ANCHOR, 1), (ANCHOR - timedelta(microseconds=1), 0)])
def test_once_respects_its_end(end: datetime, count: int) -> None:
    assert len(fires(Once(ANCHOR, end), ANCHOR - MINUTE, 3)) == count
    assert Once(ANCHOR, end).count_between(ANCHOR - MINUTE, ANCHOR) == count


def test_moments_of_other_zones_are_answered_in_utc() -> None:
    elsewhere = ANCHOR.astimezone(datetime.fromisoformat("2026-01-01T00:00+05:30").tzinfo)
    for trigger in (Once(elsewhere), FixedRate(elsewhere, MINUTE)):
        fire = trigger.next_after(elsewhere - MINUTE)
        assert fire is not None
        assert (fire, fire.tzinfo) == (ANCHOR, UTC)


def test_nothing_due_is_nothing_missed() -> None:
    missed = missed_between(QUARTER, ANCHOR, ANCHOR + 14 * MINUTE)
    assert (missed.count, missed.latest, missed.capped) == (0, None, False)


def test_missed_counts_until_inclusive_but_not_after() -> None:
    missed = missed_between(QUARTER, ANCHOR, ANCHOR + 30 * MINUTE)
    assert (missed.count, missed.latest) == (2, ANCHOR + 30 * MINUTE)


def test_latest_missed_is_exact_where_counting_is_capped() -> None:
    year = timedelta(days=365)
    missed = missed_between(Uncounted(FixedRate(ANCHOR, timedelta(seconds=1))), ANCHOR, ANCHOR + year)
    assert (missed.count, missed.latest, missed.capped) == (MOST_COUNTED, ANCHOR + year, True)


def test_latest_missed_costs_few_questions_wherever_it_lies() -> None:
    day, year = timedelta(days=1), timedelta(days=365)
    trigger = Uncounted(FixedRate(ANCHOR, timedelta(seconds=1), end=ANCHOR + day))
    missed = missed_between(trigger, ANCHOR, ANCHOR + year)
    assert (missed.latest, missed.capped) == (ANCHOR + day, True)
    assert trigger.asked < MOST_COUNTED + 100


def test_counting_one_by_one_ends_without_a_cap() -> None:
    missed = missed_between(Uncounted(QUARTER), ANCHOR, ANCHOR + timedelta(days=1))
    assert (missed.count, missed.capped) == (96, False)


seconds = st.integers(0, 20_000)


@given(every=st.integers(1, 900), after=seconds, length=seconds, end=st.none() | seconds)
def test_arithmetic_equals_counting(every: int, after: int, length: int, end: int | None) -> None:
    start = ANCHOR - timedelta(seconds=5_000) + timedelta(seconds=after)
    until = start + timedelta(seconds=length / 10)
    last = None if end is None else ANCHOR + timedelta(seconds=end)
    trigger = FixedRate(ANCHOR, timedelta(seconds=every), last)
    counted, missed = missed_between(Uncounted(trigger), start, until), missed_between(trigger, start, until)
    assert missed == counted
