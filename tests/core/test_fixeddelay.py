from datetime import UTC, datetime, timedelta

from jobs.core.expressions import parse_trigger
from jobs.core.fixeddelay import FixedDelay
from jobs.core.triggers import fires, first_after, missed_between

MADE = datetime(2026, 1, 1, 10, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def delay(start: datetime | None = None, end: datetime | None = None, at_once: datetime | None = None) -> FixedDelay:
    found = parse_trigger("fixed_delay", "15m", zone="UTC", anchor=MADE, start=start, end=end, at_once=at_once)
    assert isinstance(found, FixedDelay)
    return found


def test_each_run_follows_the_end_before() -> None:
    assert delay().after_end(MADE + 40 * MINUTE) == MADE + 55 * MINUTE


def test_the_first_comes_a_period_after_the_making() -> None:
    assert first_after(delay(), MADE) == MADE + 15 * MINUTE


def test_the_first_comes_at_a_start_to_come() -> None:
    assert first_after(delay(start=MADE + 99 * MINUTE), MADE) == MADE + 99 * MINUTE


def test_the_first_comes_at_once_if_asked() -> None:
    assert first_after(delay(at_once=MADE), MADE - datetime.resolution) == MADE
    assert first_after(delay(start=MADE - 99 * MINUTE, at_once=MADE), MADE - datetime.resolution) == MADE
    assert first_after(delay(start=MADE + MINUTE, at_once=MADE), MADE) == MADE + MINUTE


def test_resuming_starts_nothing_at_once() -> None:
    late = MADE + timedelta(days=9)
    assert first_after(delay(start=MADE - MINUTE), late) == late + 15 * MINUTE


def test_no_run_begins_before_the_start() -> None:
    assert delay(start=MADE + 99 * MINUTE).after_end(MADE) == MADE + 99 * MINUTE


def test_its_end_is_inclusive() -> None:
    bounded = delay(end=MADE + 30 * MINUTE)
    assert bounded.after_end(MADE + 15 * MINUTE) == MADE + 30 * MINUTE
    assert bounded.after_end(MADE + 16 * MINUTE) is None


def test_an_end_at_the_end_of_the_calendar_is_the_last() -> None:
    assert delay().after_end(datetime.max.replace(tzinfo=UTC)) is None


def test_a_preview_shows_only_the_first() -> None:
    assert fires(delay(), MADE, 10) == [MADE + 15 * MINUTE]
    assert delay().describe() == "15 minutes after the last one ended"


def test_downtime_makes_one_start_late() -> None:
    missed = missed_between(delay(start=MADE + MINUTE), MADE, MADE + timedelta(days=30))
    assert (missed.count, missed.latest) == (1, MADE + MINUTE)
