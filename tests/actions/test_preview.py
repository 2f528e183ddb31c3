import json
from datetime import UTC, datetime, timedelta

import pytest

from jobs.actions import InvalidInput, create_calendar, create_job, preview
from tests.actions.places import HOURLY

NOW = datetime(2026, 5, 4, 12, 0, 30, tzinfo=UTC)


def fires(**raw):
    return [fire.isoformat() for fire in preview(raw, now=NOW).fires]


def test_fires_have_the_offset_of_their_day():
    raw = {"schedule_type": "daily", "schedule_expression": "01:30", "timezone": "America/New_York"}
    assert fires(**raw, after="2026-10-31T12:00:00-04:00", count=3) == [
        "2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00", "2026-11-03T01:30:00-05:00",
    ]  # fmt: skip


def test_interval_counts_from_where_the_preview_begins():
    after = "2026-01-01T10:07:00+00:00"
    assert fires(schedule_type="interval", schedule_expression="15m", after=after, count=1) == [
        "2026-01-01T10:22:00+00:00"
    ]


@pytest.mark.parametrize("seconds", [900, 900.0, "900", "900s", "15m"])
def test_seconds_may_be_a_number(seconds):
    found = fires(schedule_type="interval", schedule_expression=seconds, after="2026-01-01T10:00Z", count=1)
    assert found == ["2026-01-01T10:15:00+00:00"]


@pytest.mark.parametrize("seconds", [0, -5, 0.2, 1.5, True, None, [], 10**30, "abc"])
def test_what_is_no_number_of_seconds_is_refused(seconds):
    for kind in ("interval", "fixed_delay"):
        with pytest.raises(InvalidInput) as refusal:
            preview({"schedule_type": kind, "schedule_expression": seconds}, now=NOW)
        assert [problem.field for problem in refusal.value.problems] == ["schedule_expression"]


def test_bounds_are_inclusive():
    raw = {
        "schedule_type": "daily",
        "schedule_expression": "12:00",
        "start_date": "2026-05-10",
        "end_date": "2026-05-12",
    }
    assert fires(**raw) == [f"2026-05-{day}T12:00:00+00:00" for day in (10, 11, 12)]


def test_naive_after_is_local_to_the_zone():
    raw = {"schedule_type": "daily", "schedule_expression": "12:00", "timezone": "Asia/Tokyo"}
    assert fires(**raw, after="2026-05-05T11:59", count=1) == ["2026-05-05T12:00:00+09:00"]


def test_once_fires_at_its_date_or_at_once():
    assert fires(start_date="2026-05-05T12:00:00+09:00") == ["2026-05-05T03:00:00+00:00"]
    assert fires() == [NOW.isoformat()]


def test_schedule_is_said_in_words():
    assert preview({"schedule_type": "interval", "schedule_expression": "5m"}, now=NOW).description == "every 5 minutes"


@pytest.mark.parametrize(
    ("field", "value"),
    [("count", 0), ("count", 501), ("count", "ten"), ("after", "soon"), ("after", 5), ("zone", "UTC"),
     ("timezone", "Mars/Phobos"), ("schedule_expression", "61 * * * *")],
)  # fmt: skip
def test_bad_field_is_named(field, value):
    raw = {"schedule_type": "cron", "schedule_expression": "0 * * * *"} | {field: value}
    with pytest.raises(InvalidInput) as refusal:
        preview(raw, now=NOW)
    assert {problem.field for problem in refusal.value.problems} == {field}


def test_hashed_value_needs_what_it_is_hashed_from():
    hourly = {"schedule_type": "cron", "schedule_expression": "H * * * *"}
    with pytest.raises(InvalidInput, match="give hash_id"):
        preview(hourly, now=NOW)
    assert "at minute 23" in preview(hourly | {"hash_id": "job-1"}, now=NOW).description
    assert "H stands for" in preview(hourly, now=NOW, hash_id="0").description
    thursday = {"schedule_type": "cron", "schedule_expression": "5 * * * THU"}
    assert "H stands" not in preview(thursday, now=NOW).description


def test_zone_and_expression_are_refused_together():
    raw = {
        "schedule_type": "cron",
        "schedule_expression": "61 * * * *",
        "timezone": "Mars/Phobos",
        "start_date": "soon",
    }
    with pytest.raises(InvalidInput) as refusal:
        preview(raw, now=NOW)
    assert [problem.field for problem in refusal.value.problems] == ["timezone", "start_date", "schedule_expression"]


def test_unknown_type_is_the_only_complaint():
    with pytest.raises(InvalidInput) as refusal:
        preview({"schedule_type": "monthly", "schedule_expression": "5"}, now=NOW)
    assert [problem.field for problem in refusal.value.problems] == ["schedule_type"]


@pytest.mark.parametrize(("days", "said"), [("weekdays", "'weekdays' is"), ("mon,x", "'mon,x': 'x' is")])
def test_day_at_fault_is_said_once(days, said):
    with pytest.raises(InvalidInput, match=said):
        preview({"schedule_type": "weekly", "schedule_expression": f"{days} 10:00"}, now=NOW)


def test_moment_that_comes_twice_is_marked_once():
    [fire] = preview({"start_date": "2026-11-01T01:30", "timezone": "America/New_York"}, now=NOW).coming
    assert fire.marks == ("clocks go back: 01:30 comes twice, the first pass is meant",)


@pytest.mark.parametrize(
    "calendar",
    [{"name": "nul\0"}, {"name": 3}, {"blackouts": [{"name": "\0", "from": "2026-01-01", "to": "2026-01-02"}]},
     {"holidays": ["\ud800"]}, {"blackouts": json.loads("[" * 400 + "]" * 400)}],
)  # fmt: skip
def test_spelled_out_calendar_is_refused_as_a_stored_one(calendar):
    with pytest.raises(InvalidInput) as refusal:
        preview({**HOURLY, "calendar": calendar}, now=NOW)
    assert {problem.field for problem in refusal.value.problems} == {"calendar"}


@pytest.mark.parametrize(
    "never",
    [{"end_date": "2026-01-01T10:30Z"}, {"calendar": "closed"},
     {"schedule_type": "fixed_delay", "schedule_expression": "2d", "end_date": "2026-05-05"}],
)  # fmt: skip
@pytest.mark.django_db
def test_what_never_fires_is_refused_as_saving_does(never):
    nearly = {"days": "mon-sun", "from": "11:00", "to": "10:30"}
    create_calendar({"name": "closed", "blackouts": [nearly]}, actor="ann", now=NOW)
    raw = HOURLY | never
    with pytest.raises(InvalidInput) as saved:
        create_job({"name": "never", "command": "true", **raw}, actor="ann", now=NOW)
    with pytest.raises(InvalidInput, match="would never fire") as shown:
        preview(raw, now=NOW)
    assert shown.value.sentence == saved.value.sentence


def test_closed_for_eight_thousand_years_is_counted_by_cycles():
    closed = {"blackouts": [{"from": "2026-01-01", "to": "9996-12-31"}]}
    shown = preview({**HOURLY, "calendar": closed, "timezone": "America/New_York", "count": 1}, now=NOW)
    opens = datetime(9997, 1, 1, tzinfo=UTC)
    assert shown.fires == (opens,)
    assert shown.left_out[0].count == (opens - NOW) // timedelta(hours=1)
