"""Calendars: checked whole, followed by every schedule that goes by them, kept while any does."""

from datetime import UTC, datetime

import pytest

from jobs.actions import (
    InvalidInput,
    NotFound,
    Refused,
    change_calendar,
    change_job,
    create_calendar,
    delete_calendar,
    pause_job,
)
from jobs.models import Calendar, Event, Instance, Job, Schedule
from tests.actions.places import NOW, events, later, make_job

pytestmark = pytest.mark.django_db

NOON = {"schedule_type": "daily", "schedule_expression": "12:00", "calendar": "ops"}


def make_calendar(name="ops", **fields):
    return create_calendar({"name": name, **fields}, actor="ada", now=NOW).calendar_id


def change(calendar_id, now=NOW, **patch):
    return change_calendar(calendar_id, patch, actor="ada", now=now).changed


def test_calendar_is_stored_with_its_event():
    make_calendar(business_days="mon-fri")
    assert Calendar.objects.get().definition == {"business_days": "mon-fri"}
    assert events() == ["calendar.created"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("name", ""), ("name", "ops"), ("name", 5), ("timezone", "Mars/Phobos"), ("business_days", "lundi"),
     ("business_days", ["mon"]), ("holidays", ["soon"]), ("holidays", "2026-12-25"), ("blackouts", [{"from": "x"}]),
     ("blackouts", [{"days": "mon-sun", "from": "00:00", "to": "24:00"}]), ("colour", "red"),
     ("blackouts", [{"name": "\0", "from": "2026-01-01", "to": "2026-01-02"}])],
)  # fmt: skip
def test_bad_field_is_refused_by_name(field, value):
    make_calendar()
    with pytest.raises(InvalidInput) as refusal:
        create_calendar({"name": "new", field: value}, actor="ada", now=NOW)
    assert [problem.field for problem in refusal.value.problems] == [field]
    assert Calendar.objects.count() == 1


def test_change_moves_every_schedule_that_goes_by_it():
    ops = make_calendar()
    job, other = make_job("by it", **NOON), make_job("without", **NOON | {"calendar": None})
    assert change(ops, later(minutes=1), holidays=["2026-05-05"]) == ("definition",)
    schedule = Schedule.objects.get(job=job)
    assert (schedule.next_at, schedule.watched_from) == (datetime(2026, 5, 6, 12, tzinfo=UTC), later(minutes=1))
    assert Schedule.objects.get(job=other).next_at == datetime(2026, 5, 5, 12, tzinfo=UTC)
    assert Job.objects.get(pk=job.pk).revision == job.revision + 1
    changed = Event.objects.filter(kind="job.changed").values_list("job_id", "data")
    assert list(changed) == [(job.pk, {"changed": ["calendar"]})]
    assert not Instance.objects.exists()


def test_paused_job_stays_paused_through_a_change():
    ops, job = make_calendar(), make_job(**NOON)
    pause_job(job.pk, actor="ada", now=NOW)
    change(ops, business_days="mon-fri")
    assert Schedule.objects.get().next_at is None


def test_change_that_changes_nothing_is_none():
    ops = make_calendar(business_days="mon-fri")
    make_job(**NOON)
    assert change(ops, later(hours=1), business_days="mon-fri") == ()
    assert Schedule.objects.get().watched_from == NOW


def test_null_takes_a_part_away():
    ops = make_calendar(business_days="mon-fri", timezone="Europe/Berlin")
    change(ops, business_days=None)
    assert Calendar.objects.get().definition == {"timezone": "Europe/Berlin"}


def test_calendar_in_use_is_not_deleted():
    ops = make_calendar()
    for name in "abcdefg":
        make_job(name, **NOON)
    with pytest.raises(Refused, match="a, b, c, d, e and 2 more"):
        delete_calendar(ops, actor="ada", now=NOW)
    for job in Job.objects.all():
        change_job(job.pk, {"calendar": None}, actor="ada", now=NOW)
    assert delete_calendar(ops, actor="ada", now=NOW) == "ops"
    assert events()[-1] == "calendar.deleted"


def test_schedule_taken_away_lets_its_calendar_go():
    ops, job = make_calendar(), make_job(**NOON)
    change_job(job.pk, {"schedule_type": "once"}, actor="ada", now=NOW)
    delete_calendar(ops, actor="ada", now=NOW)


def test_calendar_that_is_gone_is_not_found():
    for act in (lambda: change(77, name="x"), lambda: delete_calendar(77, actor="ada", now=NOW)):
        with pytest.raises(NotFound):
            act()


def test_renamed_calendar_keeps_its_schedules():
    ops, job = make_calendar(business_days="mon-fri"), make_job(**NOON)
    assert change(ops, name="office") == ("name",)
    assert Schedule.objects.get(job=job).calendar.name == "office"


def test_calendars_work_on_each_database(each_database):
    ops, job = make_calendar(timezone="Europe/Berlin"), make_job(**NOON)
    assert change(ops, holidays=["2026-05-05"]) == ("definition",)
    assert Schedule.objects.get(job=job).next_at == datetime(2026, 5, 6, 12, tzinfo=UTC)
    with pytest.raises(Refused):
        delete_calendar(ops, actor="ada", now=NOW)
    with pytest.raises(InvalidInput, match="already"):
        make_calendar()
    change_job(job.pk, {"calendar": None}, actor="ada", now=NOW)
    assert delete_calendar(ops, actor="ada", now=NOW) == "ops"
