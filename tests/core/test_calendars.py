"""When a calendar is closed. In Berlin 02:00-03:00 is skipped on 29 March 2026 and comes twice on 25 October 2026."""

from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.core.calendarreading import parse_calendar
from jobs.core.calendars import Calendar, WeeklyWindow
from jobs.core.invalid import InvalidSchedule

BERLIN = "Europe/Berlin"
MINUTE = timedelta(minutes=1)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def closed(zone: str = BERLIN, **definition: object) -> Calendar:
    return parse_calendar("ops", {"timezone": zone, **definition})


def nightly(begins: str, ends: str, zone: str = BERLIN, days: str = "mon-sun") -> Calendar:
    return closed(zone, blackouts=[{"days": days, "from": begins, "to": ends}])


def stretches(calendar: Calendar, since: str, until: str) -> list[tuple[datetime, datetime]]:
    return [(closure.begins, closure.ends) for closure in calendar.closures(utc(since), utc(until))]


FREEZE = closed(blackouts=[{"name": "release freeze", "from": "2026-12-20", "to": "2027-01-03"}])


@pytest.mark.parametrize(
    ("moment", "is_closed"),
    [
        ("2026-12-19T23:59:59.999999+01:00", False),
        ("2026-12-20T00:00+01:00", True),
        ("2027-01-03T23:59:59.999999+01:00", True),
        ("2027-01-04T00:00+01:00", False),
    ],
)
def test_range_of_dates_holds_its_last_day(moment: str, is_closed: bool) -> None:
    assert (FREEZE.blocks(utc(moment)) is not None) is is_closed


def test_what_closes_it_is_told_by_name() -> None:
    closure = FREEZE.blocks(utc("2026-12-24T12:00Z"))
    assert closure is not None
    assert closure.says == "closed time 'release freeze' of calendar 'ops'"
    assert closure.ends == utc("2027-01-04T00:00+01:00")


def test_range_of_moments_is_open_at_its_end() -> None:
    calendar = closed(blackouts=[{"from": "2026-05-01T18:00", "to": "2026-05-02T08:00"}])
    assert stretches(calendar, "2026-01-01T00:00Z", "2027-01-01T00:00Z") == [
        (utc("2026-05-01T18:00+02:00"), utc("2026-05-02T08:00+02:00"))
    ]


def test_window_may_cross_midnight() -> None:
    found = stretches(nightly("22:00", "06:00", days="fri"), "2026-05-01T00:00Z", "2026-05-08T12:00Z")
    assert found == [(utc("2026-05-01T22:00+02:00"), utc("2026-05-02T06:00+02:00"))]


# Each night by hand: the window, the night, when it is closed.
NIGHTS = [
    ("22:00", "06:00", "2026-03-28", "2026-03-28T22:00+01:00", "2026-03-29T06:00+02:00"),
    ("22:00", "06:00", "2026-10-24", "2026-10-24T22:00+02:00", "2026-10-25T06:00+01:00"),
    ("01:00", "02:30", "2026-03-29", "2026-03-29T01:00+01:00", "2026-03-29T03:00+02:00"),
    ("02:30", "04:00", "2026-03-29", "2026-03-29T03:00+02:00", "2026-03-29T04:00+02:00"),
    ("01:00", "02:30", "2026-10-25", "2026-10-25T01:00+02:00", "2026-10-25T02:30+01:00"),
    ("02:30", "04:00", "2026-10-25", "2026-10-25T02:30+02:00", "2026-10-25T04:00+01:00"),
    ("02:15", "02:45", "2026-10-25", "2026-10-25T02:15+02:00", "2026-10-25T02:45+01:00"),
]


@pytest.mark.parametrize(("begins", "ends", "day", "closes", "opens"), NIGHTS)
def test_window_over_a_change_of_clocks_loses_no_hour(
    begins: str, ends: str, day: str, closes: str, opens: str
) -> None:
    weekday = datetime.fromisoformat(day).strftime("%a").lower()
    found = stretches(nightly(begins, ends, days=weekday), f"{day}T00:00Z", opens)
    assert (utc(closes), utc(opens)) in found


def test_window_that_lies_in_a_gap_does_not_exist() -> None:
    assert stretches(nightly("02:10", "02:50"), "2026-03-29T00:00Z", "2026-03-29T12:00Z") == []


def test_what_is_no_business_day_is_closed_as_a_whole() -> None:
    calendar = closed(business_days="mon-fri")
    found = stretches(calendar, "2026-10-23T12:00Z", "2026-10-27T12:00Z")
    assert found == [(utc("2026-10-24T00:00+02:00"), utc("2026-10-26T00:00+01:00"))]
    closure = calendar.blocks(utc("2026-10-24T12:00Z"))
    assert closure is not None
    assert closure.says == "Saturday, no business day of calendar 'ops'"


def test_holidays_join_the_weekend_before_them() -> None:
    calendar = closed(business_days="mon-fri", holidays=["2026-12-25", "2026-12-28"])
    assert calendar.end_of(utc("2026-12-25T09:00+01:00")) == utc("2026-12-29T00:00+01:00")


def test_windows_that_follow_on_one_another_are_one() -> None:
    windows = [{"days": "mon", "from": "08:00", "to": "10:00"}, {"days": "mon", "from": "10:00", "to": "12:00"}]
    calendar = closed("UTC", blackouts=windows)
    assert calendar.end_of(utc("2026-05-04T09:00Z")) == utc("2026-05-04T12:00Z")
    assert stretches(calendar, "2026-05-04T00:00Z", "2026-05-05T00:00Z") == [
        (utc("2026-05-04T08:00Z"), utc("2026-05-04T12:00Z"))
    ]


def test_an_open_moment_is_its_own_end() -> None:
    assert FREEZE.end_of(utc("2026-05-04T09:00Z")) == utc("2026-05-04T09:00Z")
    assert FREEZE.around(utc("2026-05-04T09:00Z")) is None


def test_a_day_of_the_date_line_closes_nothing() -> None:
    apia = closed("Pacific/Apia", holidays=["2011-12-30", "2012-01-02"])
    assert stretches(apia, "2011-12-29T00:00Z", "2012-01-03T00:00Z") == [
        (utc("2012-01-02T00:00+14:00"), utc("2012-01-03T00:00+14:00"))
    ]


def test_a_midnight_that_comes_twice_belongs_to_the_day_closed() -> None:
    amman = closed("Asia/Amman", holidays=["2014-10-30"])
    assert amman.end_of(utc("2014-10-30T12:00Z")) == utc("2014-10-30T21:00Z")
    goose_bay = closed("America/Goose_Bay", holidays=["2010-11-06"])
    assert goose_bay.end_of(utc("2010-11-06T12:00Z")) == utc("2010-11-07T04:00Z")


def test_what_is_closed_for_ever_has_no_end() -> None:
    always = Calendar("ops", "UTC", weekly=(WeeklyWindow(frozenset(range(7)), time(), time()),))
    assert always.end_of(utc("2026-05-04T09:00Z")) is None


def test_a_century_closed_is_one_step() -> None:
    calendar = closed("UTC", blackouts=[{"from": "1950-01-01", "to": "2049-12-31"}])
    assert calendar.end_of(utc("1970-01-01T00:00Z")) == utc("2050-01-01T00:00Z")


@pytest.mark.parametrize("moment", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_both_ends_of_the_calendar_are_open(moment: datetime) -> None:
    assert FREEZE.blocks(moment) is None


CALENDARS = [
    FREEZE,
    nightly("22:00", "06:00"),
    nightly("01:30", "02:30"),
    nightly("23:30", "00:30", "America/Santiago"),
    closed(business_days="mon-fri", holidays=["2026-03-30", "2026-10-23"]),
    closed("Australia/Lord_Howe", business_days="sun-thu", blackouts=[{"days": "sun", "from": "01:45", "to": "02:15"}]),
    closed("America/Goose_Bay", business_days="mon,wed,sat"),
]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(CALENDARS), st.sampled_from(["2026-03-27", "2026-10-23", "2026-04-02", "2010-11-05"]), st.data())
def test_stretches_and_single_moments_agree(calendar: Calendar, day: str, data: st.DataObject) -> None:
    since = utc(f"{day}T00:00Z")
    until = since + timedelta(days=4)
    found = list(calendar.closures(since, until))
    moment = since + data.draw(st.integers(0, 4 * 24 * 60)) * MINUTE
    within = [closure for closure in found if closure.begins <= moment < closure.ends]
    around = calendar.around(moment)
    assert within == ([around] if around else [])
    assert calendar.end_of(moment) == (around.ends if around else moment)
    assert all(calendar.blocks(closure.ends) is None for closure in found)
    assert all(calendar.blocks(closure.begins - MINUTE / 60) is None for closure in found)


def test_a_calendar_is_said_in_words() -> None:
    calendar = closed(
        business_days="mon-fri",
        holidays=["2026-12-25"],
        blackouts=[{"days": "fri", "from": "16:00", "to": "24:00"}, {"from": "2026-12-20", "to": "2026-12-31"}],
    )
    assert calendar.describe() == (
        "closed on days other than Monday to Friday, on 1 holiday, on Friday from 16:00 to 24:00 "
        "and from 2026-12-20 00:00 to 2027-01-01 00:00 (Europe/Berlin)"
    )
    assert closed().describe() == "never closed (Europe/Berlin)"


def test_what_is_read_is_a_value() -> None:
    again = closed(blackouts=[{"name": "release freeze", "from": "2026-12-20", "to": "2027-01-03"}])
    assert again == FREEZE
    assert hash(again) == hash(FREEZE)
    assert closed(holidays=["2026-12-25"]).holidays == {date(2026, 12, 25)}


REFUSED = [
    ({"zone": "UTC"}, "zone", "it has timezone, blackouts"),
    ({"timezone": "Mars/Phobos"}, "timezone", "no time zone"),
    ({"timezone": 5}, "timezone", "expected a text"),
    ({"business_days": "mo-fr"}, "business_days", "'mon-fri'"),
    ({"business_days": ["mon"]}, "business_days", "expected a text"),
    ({"holidays": "2026-12-25"}, "holidays", "expected a list"),
    ({"holidays": ["25.12.2026"]}, "holidays", "such as 2026-12-25"),
    ({"holidays": [20261225]}, "holidays", "is no date"),
    ({"holidays": ["0026-12-25"]}, "holidays", "slip"),
    ({"holidays": ["2026-12-25"] * 2001}, "holidays", "at most 2,000"),
    ({"blackouts": {"from": "2026-12-20"}}, "blackouts", "expected a list"),
    ({"blackouts": ["2026-12-20"]}, "blackouts", "Closed time 1: .* is none; it has days, from, to, name"),
    ({"blackouts": [{"from": "2026-12-20", "until": "2026-12-21"}]}, "blackouts", "it has days, from, to, name"),
    ({"blackouts": [{"from": "2026-12-20"}]}, "blackouts", "both a 'from' and a 'to'"),
    ({"blackouts": [{"from": "2026-12-20", "to": "2026-12-19"}]}, "blackouts", "ends .* before it has begun"),
    ({"blackouts": [{"from": "2026-12-20T10:00", "to": "2026-12-20T10:00"}]}, "blackouts", "before it has begun"),
    ({"blackouts": [{"from": "soon", "to": "2026-12-19"}]}, "blackouts", "Closed time 1: 'soon' is no date"),
    ({"blackouts": [{"days": "mon", "from": "9", "to": "10:00"}]}, "blackouts", "no time of day"),
    ({"blackouts": [{"days": "mon", "from": "09:00", "to": "09:00"}]}, "blackouts", "00:00 to 24:00"),
    ({"blackouts": [{"days": "", "from": "09:00", "to": "10:00"}]}, "blackouts", "no weekday"),
    ({"blackouts": [{"name": "x" * 101, "from": "2026-12-20", "to": "2026-12-21"}]}, "blackouts", "101 characters"),
    ({"blackouts": [{"days": "mon-sun", "from": "00:00", "to": "24:00"}]}, "blackouts", "every moment"),
    ({"blackouts": [{"days": "mon-sun", "from": "06:00", "to": "06:00:01"}] * 201}, "blackouts", "at most 200"),
]


@pytest.mark.parametrize(("definition", "field", "sentence"), REFUSED)
def test_what_is_no_calendar_is_told_why(definition: dict[str, object], field: str, sentence: str) -> None:
    with pytest.raises(InvalidSchedule, match=sentence) as refused:
        parse_calendar("ops", definition)
    assert refused.value.field == field
    assert refused.value.sentence[-1] in ".?"
