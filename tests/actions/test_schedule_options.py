"""The finer choices of a schedule: what is taken, what is refused in its own name, what is kept."""

from datetime import UTC, datetime, timedelta

import pytest

from jobs.actions import InvalidInput, change_job, create_calendar, create_job, pause_job, preview, resume_job
from jobs.models import Instance, Schedule
from jobs.store.schedules import policy_of
from tests.actions.places import HOURLY, NOW, later, make_job

pytestmark = pytest.mark.django_db

INTERVAL = {"schedule_type": "interval", "schedule_expression": "15m"}
DELAY = {"schedule_type": "fixed_delay", "schedule_expression": "15m"}
CHOSEN = {
    "gap": "skip", "fold": "both", "catch_up": "all", "catch_up_limit": 7, "misfire_grace_seconds": 5.0,
    "overlap": "queue", "queue_bound": 3, "jitter_seconds": 30.0,
}  # fmt: skip


def refused(**fields):
    with pytest.raises(InvalidInput) as refusal:
        make_job(**fields)
    return [problem.field for problem in refusal.value.problems]


def edit(job, now=NOW, **patch):
    return change_job(job.pk, patch, actor="ada", now=now).changed


def test_all_choices_are_stored_and_decide():
    schedule = make_job(**HOURLY, **CHOSEN).schedule
    assert {name: getattr(schedule, name) for name in CHOSEN} == CHOSEN
    policy = policy_of(schedule)
    assert (policy.catch_up, policy.catch_up_limit, policy.overlap, policy.queue_bound) == ("all", 7, "queue", 3)


def test_choices_survive_an_edit_of_something_else():
    job = make_job(**HOURLY, **CHOSEN)
    assert edit(job, description="edited") == ("description",)
    assert edit(job, overlap="skip") == ("schedule",)
    schedule = Schedule.objects.get()
    assert (schedule.overlap, schedule.catch_up, schedule.gap) == ("skip", "all", "skip")


def test_other_type_keeps_what_is_not_about_the_type():
    job = make_job(**HOURLY, **CHOSEN)
    edit(job, **INTERVAL)
    schedule = Schedule.objects.get()
    assert (schedule.gap, schedule.fold, schedule.jitter_seconds) == ("default", "default", 0)
    assert (schedule.overlap, schedule.catch_up) == ("queue", "all")


def test_schedule_taken_away_takes_its_choices_away():
    job = make_job(**HOURLY, **CHOSEN)
    assert "schedule" in edit(job, schedule_type="once")
    assert refused(name="x", overlap="queue") == ["overlap"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("gap", "never"), ("fold", 2), ("calendar", "no such"), ("calendar", 5), ("calendar_action", "wait"),
     ("catch_up", "none"), ("catch_up_limit", 0), ("catch_up_limit", 1001), ("misfire_grace_seconds", 0),
     ("misfire_grace_seconds", -1), ("overlap", "forbid"), ("queue_bound", 0), ("queue_bound", "ten"),
     ("jitter_seconds", 3600), ("jitter_seconds", -1), ("first_at_once", "yes"), ("first_at_once", True)],
)  # fmt: skip
def test_bad_choice_is_refused_in_its_own_name(field, value):
    assert refused(**HOURLY, **{field: value}) == [field]


@pytest.mark.parametrize(("field", "value"), [("gap", "skip"), ("fold", "both")])
@pytest.mark.parametrize("kind", [INTERVAL, DELAY])
def test_elapsed_time_knows_no_clocks(kind, field, value):
    assert refused(**kind, **{field: value}) == [field]


def test_first_at_once_runs_when_the_job_is_made():
    created = create_job({"name": "n", "command": "true", **INTERVAL, "first_at_once": True}, actor="ada", now=NOW)
    schedule, instance = Schedule.objects.get(), Instance.objects.get()
    assert (created.instance_id, instance.logical_at, schedule.last_logical_at) == (instance.pk, NOW, NOW)
    assert (schedule.next_at, schedule.run_count) == (later(minutes=15), 1)


def test_first_at_once_waits_for_a_start_to_come():
    start = (NOW + timedelta(hours=1)).isoformat()
    schedule = make_job(**INTERVAL, first_at_once=True, start_date=start).schedule
    assert schedule.next_at == later(hours=1)
    assert not Instance.objects.exists()


@pytest.mark.parametrize("kind", [INTERVAL, DELAY])
def test_edit_and_resume_start_nothing_at_once(kind):
    job = make_job(**kind)
    edit(job, later(minutes=1), first_at_once=True, overlap="allow")
    pause_job(job.pk, actor="ada", now=later(minutes=2))
    resume_job(job.pk, actor="ada", now=later(minutes=3))
    assert not Instance.objects.exists()
    assert Schedule.objects.get().next_at > later(minutes=3)


def test_fixed_delay_comes_a_period_after_it_was_made_or_resumed():
    job = make_job(**DELAY)
    assert job.schedule.next_at == later(minutes=15)
    pause_job(job.pk, actor="ada", now=later(minutes=5))
    resume_job(job.pk, actor="ada", now=later(hours=1))
    assert Schedule.objects.get().next_at == later(hours=1, minutes=15)


def test_fixed_delay_at_once_follows_the_end_of_its_first():
    make_job(**DELAY, first_at_once=True)
    assert Schedule.objects.get().next_at is None
    assert Instance.objects.count() == 1


def test_once_in_the_skipped_hour_follows_gap():
    fields = {"start_date": "2027-03-14T02:30", "timezone": "America/New_York"}
    [fire] = preview(fields, now=NOW).coming
    assert fire.at.isoformat() == "2027-03-14T03:00:00-04:00"
    assert fire.marks == ("clocks go forward: 02:30 does not exist, 03:00 is meant",)
    assert refused(**fields, gap="skip") == ["start_date"]


def test_once_in_the_repeated_hour_follows_fold():
    fields = {"start_date": "2026-11-01T01:30", "timezone": "America/New_York", "fold": "second"}
    assert preview(fields, now=NOW).fires[0].isoformat() == "2026-11-01T01:30:00-05:00"


def test_strict_refuses_what_has_just_passed():
    raw = {"name": "n", "command": "true", "start_date": (NOW - timedelta(seconds=10)).isoformat()}
    with pytest.raises(InvalidInput, match="lies in the past"):
        create_job(raw, actor="ada", now=NOW, lenient=False)
    assert create_job(raw, actor="ada", now=NOW).instance_id


def test_grace_says_how_far_back_a_form_may_lie():
    start = (NOW - timedelta(seconds=100)).isoformat()
    assert refused(start_date=start) == ["start_date"]
    make_job(start_date=start, misfire_grace_seconds=120)
    assert Instance.objects.count() == 1


def test_preview_says_what_is_made_up_for():
    found = preview(
        HOURLY | {"catch_up": "all", "catch_up_limit": 2, "down_from": "2026-05-04T05:10:00Z"}, now=NOW
    ).caught_up
    assert found is not None
    assert ([at.hour for at in found.at_once], found.missed) == ([11, 12], 5)


def test_preview_shows_what_a_calendar_closes():
    fields = {"schedule_type": "daily", "schedule_expression": "12:00", "count": 2, "after": "2026-05-08"}
    found = preview(fields | {"calendar": {"name": "work", "business_days": "mon-fri"}}, now=NOW)
    assert [fire.day for fire in found.fires] == [8, 11]
    assert [(gone.code, gone.count) for gone in found.left_out] == [("blackout", 2)]
    moved = preview(fields | {"calendar": {"business_days": "mon-fri"}, "calendar_action": "move"}, now=NOW)
    assert [fire.isoformat() for fire in moved.fires] == ["2026-05-08T12:00:00+00:00", "2026-05-11T00:00:00+00:00"]
    assert "moved out of" in moved.coming[1].marks[0]


def test_jitter_of_a_known_schedule_is_shown():
    fields = HOURLY | {"jitter_seconds": 60, "count": 3}
    assert not any(fire.starts_at for fire in preview(fields, now=NOW).coming)
    for fire in preview(fields | {"hash_id": "7"}, now=NOW).coming:
        assert fire.at <= fire.starts_at < fire.at + timedelta(seconds=60)


def test_schedule_that_a_calendar_always_closes_is_refused():
    create_calendar({"name": "week", "business_days": "mon-fri"}, actor="ada", now=NOW)
    sundays = {"schedule_type": "weekly", "schedule_expression": "sun 12:00", "calendar": "week"}
    assert refused(**sundays) == ["calendar"]
    assert make_job(**sundays, calendar_action="move").schedule.next_at == datetime(2026, 5, 11, tzinfo=UTC)


def test_once_in_a_closed_time_is_refused_or_moved():
    create_calendar({"name": "week", "business_days": "mon-fri"}, actor="ada", now=NOW)
    once = {"start_date": "2026-05-09T12:00Z", "calendar": "week"}
    assert refused(**once) == ["calendar"]
    assert make_job(**once, calendar_action="move").schedule.next_at == datetime(2026, 5, 11, tzinfo=UTC)
