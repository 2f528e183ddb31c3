from datetime import UTC, datetime

import pytest

from jobs.actions import (
    InvalidInput,
    NotFound,
    Refused,
    change_job,
    create_job,
    pause_job,
    resume_job,
    run_job,
)
from jobs.models import Event, Instance, Job, Node, Schedule
from tests.actions.places import HOURLY, NOW, events, later, make_job

pytestmark = pytest.mark.django_db


def change(job, *, now=NOW, **fields):
    return change_job(job.pk, fields, actor="ada", now=now).changed


def test_once_without_date_runs_at_once():
    created = create_job({"name": "now", "command": "true"}, actor="ada", now=NOW)
    instance = Instance.objects.get(pk=created.instance_id)
    assert (instance.status, instance.cause, instance.logical_at) == ("queued", "submit", NOW)
    assert events() == ["job.created", "instance.queued"]


def test_job_saved_only_runs_by_hand():
    job = make_job(start=False)
    assert not Instance.objects.exists()
    run = run_job(job.pk, actor="ada", now=later(hours=1))
    assert Instance.objects.get(pk=run.instance_id).logical_at == later(hours=1)


def test_once_with_date_waits_for_its_fire():
    job = make_job(start=True, start_date="2026-05-05T10:00")
    assert job.schedule.next_at == datetime(2026, 5, 5, 10, tzinfo=UTC)
    assert not Instance.objects.exists()


def test_once_a_little_back_runs_for_its_own_date():
    job = make_job(start=True, start_date="2026-05-04T12:00")
    assert Instance.objects.get().logical_at == datetime(2026, 5, 4, 12, tzinfo=UTC)
    assert (job.schedule.next_at, job.schedule.last_logical_at) == (None, Instance.objects.get().logical_at)


def test_date_just_passed_runs_even_when_only_saved():
    make_job(start=False, start_date="2026-05-04T12:00")
    assert Instance.objects.count() == 1


def test_creator_is_who_asked(django_user_model):
    ada = django_user_model.objects.create_user("ada")
    assert make_job(created_by="somebody else").created_by == ada


def test_refused_job_stores_nothing():
    with pytest.raises(InvalidInput):
        create_job({"name": "x", "command": "true", "tags": 1}, actor="ada", now=NOW)
    assert not Job.objects.exists()
    assert events() == []


def test_name_that_is_taken_is_refused():
    make_job("backup")
    with pytest.raises(InvalidInput, match="There is a job named"):
        make_job(" backup ")
    with pytest.raises(InvalidInput, match="There is a job named"):
        change(make_job("other"), name="backup")


def test_demand_is_held_against_the_best_node():
    Node.objects.create(name="small", cores=[0, 1], memory_mb=1000)
    Node.objects.create(name="big", cores=[0, 1, 2, 3], memory_mb=2000)
    assert make_job("six", cpu_cores_required=6, memory_mb_required=2000).cores == 6
    with pytest.raises(InvalidInput, match=r"more than 6 .*more than 2000 MB"):
        make_job("seven", cpu_cores_required=7, memory_mb_required=2001)


def test_machine_stands_in_for_the_first_node(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    assert make_job("three", cpu_cores_required=3).cores == 3
    with pytest.raises(InvalidInput, match="more than 3"):
        make_job("four", cpu_cores_required=4)


def test_interval_is_counted_from_its_start_else_creation():
    plain = make_job("plain", schedule_type="interval", schedule_expression="15m")
    assert plain.schedule.next_at == later(minutes=15)
    started = make_job("started", schedule_type="interval", schedule_expression="15m", start_date="2026-01-01T10:07")
    assert started.schedule.next_at == datetime(2026, 5, 4, 12, 7, tzinfo=UTC)


def test_hashed_minute_differs_by_schedule():
    hourly = {"schedule_type": "cron", "schedule_expression": "H * * * *"}
    assert len({make_job(f"job {n}", **hourly).schedule.next_at for n in range(8)}) > 1


def test_phase_of_an_interval_survives_edits():
    job = make_job(schedule_type="interval", schedule_expression="15m")
    change(job, now=later(minutes=20), description="edited", schedule_expression="10m")
    schedule = Schedule.objects.get()
    assert (schedule.anchor_at, schedule.next_at) == (NOW, later(minutes=30))


def test_edit_changes_only_what_it_names():
    job = make_job(tags=["etl"], environment={"A": "1"}, timeout_seconds=9, **HOURLY)
    assert change(job, now=later(hours=1), cpu_cores_required=2) == ("cores",)
    after = Job.objects.get()
    assert (after.cores, after.revision) == (2, job.revision + 1)
    assert (after.tags, after.environment, after.timeout_seconds) == (["etl"], {"A": "1"}, 9)
    assert (after.created_at, after.updated_at) == (job.created_at, later(hours=1))


def test_edit_of_the_schedule_counts_from_now():
    job = make_job(schedule_type="cron", schedule_expression="30 13 * * *")
    assert change(job, now=later(hours=3), schedule_expression="0 16 * * *") == ("schedule",)
    schedule = Schedule.objects.get()
    assert (schedule.watched_from, schedule.next_at) == (later(hours=3), datetime(2026, 5, 4, 16, tzinfo=UTC))
    assert not Instance.objects.exists()


def test_edit_of_the_rest_keeps_a_fire_that_is_due():
    job = make_job(**HOURLY)
    change(job, now=later(minutes=59.6), description="saved just after the hour")
    assert Schedule.objects.get().watched_from == NOW


def test_edit_that_changes_nothing_is_no_edit():
    job = make_job(**HOURLY)
    assert change(job, now=later(hours=5), name=job.name, schedule_expression="0 * * * *") == ()
    assert Job.objects.get().revision == job.revision
    assert events() == ["job.created"]


def test_edit_clears_a_fault():
    job = make_job(**HOURLY)
    Schedule.objects.update(fault="zone gone", next_at=None)
    change(job, timezone="Europe/Berlin")
    assert Schedule.objects.get().fault == ""


def test_schedule_taken_away_keeps_its_history():
    job = make_job(**HOURLY)
    Schedule.objects.update(run_count=7, last_logical_at=NOW)
    change(job, now=later(days=1), schedule_type="once")
    schedule = Schedule.objects.get()
    assert (schedule.next_at, schedule.run_count, schedule.last_logical_at) == (None, 7, NOW)
    change(job, now=later(days=1), **HOURLY)
    assert Schedule.objects.get().next_at == datetime(2026, 5, 5, 13, tzinfo=UTC)


def test_schedule_given_later_starts_nothing():
    job = make_job(start=False)
    change(job, now=later(hours=1), **HOURLY)
    assert Schedule.objects.get().next_at == datetime(2026, 5, 4, 14, tzinfo=UTC)
    assert not Instance.objects.exists()


def test_stale_edit_is_refused():
    job = make_job()
    change(job, priority=3)
    with pytest.raises(Refused, match="changed by somebody else"):
        change_job(job.pk, {"priority": 0}, actor="bob", now=NOW, revision=job.revision)


def test_edit_event_names_no_values():
    job = make_job()
    change(job, environment={"API_TOKEN": "s3cr3t"}, priority="high")
    assert Event.objects.get(kind="job.changed").data == {"changed": ["environment", "priority"]}


def test_pause_stops_the_schedule_and_resume_starts_nothing():
    job = make_job(**HOURLY)
    assert pause_job(job.pk, actor="bob", now=later(minutes=10)).changed
    paused = Job.objects.get()
    assert (paused.paused_by, paused.schedule.next_at) == ("bob", None)
    assert resume_job(job.pk, actor="bob", now=later(hours=3)).changed
    resumed = Job.objects.get()
    assert (resumed.paused_at, resumed.revision) == (None, job.revision + 1)
    assert resumed.schedule.watched_from == later(hours=3)
    assert resumed.schedule.next_at == datetime(2026, 5, 4, 16, tzinfo=UTC)
    assert not Instance.objects.exists()


def test_resume_counts_failures_anew():
    job = make_job()
    Job.objects.update(failures_in_a_row=3, paused_at=NOW, paused_by="rota:failures")
    resume_job(job.pk, actor="bob", now=NOW)
    assert Job.objects.get().failures_in_a_row == 0


def test_second_pause_or_resume_changes_nothing():
    job = make_job(**HOURLY)
    assert not resume_job(job.pk, actor="ada", now=later(hours=1)).changed
    pause_job(job.pk, actor="ada", now=later(hours=1))
    assert not pause_job(job.pk, actor="bob", now=later(hours=2)).changed
    assert Job.objects.get().paused_by == "ada"
    assert events() == ["job.created", "job.paused"]


def test_edit_of_a_paused_job_leaves_it_paused():
    job = make_job(**HOURLY)
    pause_job(job.pk, actor="ada", now=NOW)
    change(job, now=later(hours=1), schedule_expression="30 * * * *")
    after = Job.objects.get()
    assert after.paused
    assert after.schedule.next_at is None


def test_zone_that_has_gone_becomes_a_fault():
    job = make_job(**HOURLY)
    pause_job(job.pk, actor="ada", now=NOW)
    Schedule.objects.update(zone="Mars/Phobos")
    resume_job(job.pk, actor="ada", now=NOW)
    assert "Mars/Phobos" in Schedule.objects.get().fault


@pytest.mark.parametrize("action", [pause_job, resume_job, run_job])
def test_job_that_is_gone_is_not_found(action):
    with pytest.raises(NotFound, match="no job 4711"):
        action(4711, actor="ada", now=NOW)


def test_edit_of_a_job_that_is_gone_is_not_found():
    with pytest.raises(NotFound):
        change_job(4711, {}, actor="ada", now=NOW)


@pytest.mark.parametrize(
    ("given", "patch", "retries"),
    [
        ({}, HOURLY, 0),
        ({"max_retries": 2}, HOURLY, 2),
        ({}, HOURLY | {"max_retries": 3}, 3),
        (HOURLY, {"schedule_type": "once", "start_date": "2026-05-05"}, 3),
        (HOURLY | {"max_retries": 1}, {"schedule_type": "once"}, 1),
        (HOURLY, {"schedule_type": "daily", "schedule_expression": "10:00"}, 0),
        ({}, {"description": "new"}, 3),
    ],
)
def test_retries_of_a_type_go_with_the_type(given, patch, retries):
    job = make_job(**given)
    change(job, **patch)
    assert Job.objects.get().max_retries == retries


def test_past_start_is_said_on_the_clock_of_its_zone():
    with pytest.raises(InvalidInput, match=r"2026-05-04T08:00:00\+09:00.* lies in the past"):
        make_job(start_date="2026-05-04T08:00", timezone="Asia/Tokyo")
