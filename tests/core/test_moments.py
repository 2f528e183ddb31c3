from datetime import UTC, datetime, time, timedelta

import pytest

from jobs.core.daylight import Fold
from jobs.core.expressions import InvalidSchedule, parse_moment
from jobs.core.moments import not_before_moment
from jobs.core.zones import zone_named


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


@pytest.mark.parametrize(
    ("text", "zone", "expected"),
    [
        ("2026-05-10T10:00", "Europe/Berlin", "2026-05-10T08:00Z"),
        (" 2026-05-10 10:00:30.5 ", "Europe/Berlin", "2026-05-10T08:00:30.5Z"),
        ("2026-05-10T10:00Z", "Europe/Berlin", "2026-05-10T10:00Z"),
        ("2026-05-10T10:00+09:00", "Europe/Berlin", "2026-05-10T01:00Z"),
        ("2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:00Z"),
        ("2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30Z"),
        ("2026-10-25T02:30+01:00", "Europe/Berlin", "2026-10-25T01:30Z"),
        ("1986-01-01T00:10", "Asia/Kathmandu", "1985-12-31T18:30Z"),
    ],
)
@pytest.mark.parametrize("end_of_day", [False, True])
def test_a_time_is_one_moment(text: str, zone: str, expected: str, end_of_day: bool) -> None:
    assert parse_moment(text, zone, end_of_day=end_of_day) == utc(expected)


@pytest.mark.parametrize(
    ("day", "zone", "start", "next_start"),
    [
        ("2026-05-10", "UTC", "2026-05-10T00:00Z", "2026-05-11T00:00Z"),
        ("2026-03-29", "Europe/Berlin", "2026-03-28T23:00Z", "2026-03-29T22:00Z"),
        ("2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00Z", "2018-11-05T02:00Z"),  # has no midnight
        ("2026-04-04", "America/Santiago", "2026-04-04T03:00Z", "2026-04-05T04:00Z"),  # 23:00 twice
        ("2014-10-31", "Asia/Amman", "2014-10-30T21:00Z", "2014-10-31T22:00Z"),  # midnight twice
        ("2014-10-30", "Asia/Amman", "2014-10-29T21:00Z", "2014-10-30T21:00Z"),  # ends with the first of them
        ("2010-11-06", "America/Goose_Bay", "2010-11-06T03:00Z", "2010-11-07T04:00Z"),  # comes back after midnight
        ("2026-09-05", "America/Santiago", "2026-09-05T04:00Z", "2026-09-06T04:00Z"),  # the next has no midnight
        ("2011-12-30", "Pacific/Apia", "2011-12-30T10:00Z", "2011-12-30T10:00Z"),  # never was
        ("2011-12-29", "Pacific/Apia", "2011-12-29T10:00Z", "2011-12-30T10:00Z"),  # the next never was
    ],
)
def test_a_bare_date_is_the_whole_day(day: str, zone: str, start: str, next_start: str) -> None:
    assert parse_moment(day, zone, end_of_day=False) == utc(start)
    assert parse_moment(day, zone, end_of_day=True) == utc(next_start) - timedelta(microseconds=1)


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "2026-13-01", "2026-02-30", "2026-05-10T25:00", "10.5.2026", "0206-05-10", "9999-12-31"]
)
def test_nonsense_is_refused_with_its_field(text: str) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        parse_moment(text, "UTC", end_of_day=True)
    assert refused.value.field == "end_date"


def test_a_time_of_a_day_that_never_was_is_refused() -> None:
    with pytest.raises(InvalidSchedule, match="does not exist in Pacific/Apia") as refused:
        parse_moment("2011-12-30T12:00", "Pacific/Apia", end_of_day=False)
    assert refused.value.field == "start_date"


@pytest.mark.parametrize(
    ("fold", "expected"), [("default", "00:30"), ("first", "00:30"), ("both", "00:30"), ("second", "01:30")]
)
def test_a_repeated_time_is_once_the_wished_pass(fold: Fold, expected: str) -> None:
    found = parse_moment("2026-10-25T02:30", "Europe/Berlin", end_of_day=False, fold=fold)
    assert found == utc(f"2026-10-25T{expected}Z")


def test_a_skipped_time_is_refused_if_so_wished() -> None:
    with pytest.raises(InvalidSchedule, match="clocks go forward then") as refused:
        parse_moment("2026-03-29T02:30", "Europe/Berlin", end_of_day=False, gap="skip")
    assert refused.value.field == "start_date"


@pytest.mark.parametrize(
    ("logical_at", "clock", "zone", "expected"),
    [
        ("2026-05-04T06:00+02:00", time(8, 30), "Europe/Berlin", "2026-05-04T08:30+02:00"),
        ("2026-05-04T09:00+02:00", time(8, 30), "Europe/Berlin", "2026-05-04T09:00+02:00"),
        ("2026-05-03T23:30Z", time(8, 30), "Europe/Berlin", "2026-05-04T08:30+02:00"),  # there it is Monday
        ("2026-03-29T00:10+01:00", time(2, 30), "Europe/Berlin", "2026-03-29T03:00+02:00"),
        ("2026-10-25T00:10+02:00", time(2, 30), "Europe/Berlin", "2026-10-25T02:30+02:00"),
        ("2026-10-25T02:40+02:00", time(2, 30), "Europe/Berlin", "2026-10-25T02:40+02:00"),
        ("2026-10-04T01:00+10:30", time(2, 15), "Australia/Lord_Howe", "2026-10-04T02:30+11:00"),
    ],
)
def test_not_before_is_on_the_day_of_the_logical_date(logical_at: str, clock: time, zone: str, expected: str) -> None:
    assert not_before_moment(utc(logical_at), clock, zone_named(zone)) == utc(expected)
