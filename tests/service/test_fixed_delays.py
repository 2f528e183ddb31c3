"""A schedule that counts from the end of the last run always knows when it is next: on both databases."""

from datetime import timedelta

import pytest

from jobs import actions, models
from jobs.core.inputs import Ended
from jobs.core.records import Outcome
from jobs.core.states import OutcomeKind
from jobs.store import schedules, wishes
from jobs.store.specs import ScheduleSpec
from tests.service.clockwork import START, Clockwork

MINUTE, EVERY = timedelta(minutes=1), timedelta(minutes=10)


@pytest.fixture
def clockwork(each_database, settings, tmp_path) -> Clockwork:
    settings.DATA_DIR, settings.MIN_FREE_DISK_MB = tmp_path, 0
    clockwork = Clockwork()
    clockwork.start()
    return clockwork


def delayed(clockwork, expression="10m", **fields) -> models.Job:
    job = clockwork.job("fixed_delay", expression, **fields)
    changed(clockwork, job)
    return job


def changed(clockwork, job) -> None:
    """What an action writes beside the schedule: the engine is told of it."""
    models.Event.objects.create(at=clockwork.hands.wall, kind="job.changed", job_id=job.pk, actor="ann")
    clockwork.turn()


def next_at(clockwork, job):
    stored = clockwork.schedule(job).next_at
    watched = clockwork.loop._engine.schedules._watched.get(clockwork.schedule(job).pk)
    assert watched is None or watched.next_at == stored, "the engine waits for another moment than it says"
    return stored


def fill(clockwork) -> None:
    """No core is left for anything else."""
    job = clockwork.job()
    for _ in clockwork.capacity.cores:
        wishes.submit(job, cause="manual", actor="ann", now=clockwork.hands.wall)
    clockwork.turn()


def running(clockwork, **fields) -> models.Job:
    """Its first run began at START + 10 minutes, and goes on."""
    job = delayed(clockwork, **fields)
    clockwork.wait(600)
    assert len(clockwork.processes.running) == 1
    return job


def test_new_one_comes_a_period_later(clockwork):
    assert next_at(clockwork, delayed(clockwork)) == START + EVERY


def test_nothing_is_next_while_it_runs(clockwork):
    assert next_at(clockwork, running(clockwork)) is None


def test_end_tells_the_next(clockwork):
    job = running(clockwork)
    clockwork.wait(90)
    clockwork.end_all()
    assert next_at(clockwork, job) == START + EVERY + timedelta(seconds=90) + EVERY
    clockwork.wait(600)
    assert len(clockwork.dates(job)) == 2


def test_retries_come_before_the_end(clockwork):
    job = running(clockwork)
    models.Job.objects.filter(pk=job.pk).update(max_retries=1, retry_jitter=False, revision=2)
    changed(clockwork, job)
    clockwork.end_all(OutcomeKind.FAILED)
    assert next_at(clockwork, job) is None
    clockwork.wait(60)
    clockwork.end_all(OutcomeKind.FAILED)
    assert next_at(clockwork, job) == START + EVERY + MINUTE + EVERY


def test_edit_while_it_waits_counts_from_the_edit(clockwork):
    job = delayed(clockwork)
    clockwork.wait(120)
    edit(clockwork, job, "1m")
    assert next_at(clockwork, job) == START + 3 * MINUTE


def test_edit_while_it_runs_counts_from_the_end(clockwork):
    job = running(clockwork)
    edit(clockwork, job, "1m")
    assert next_at(clockwork, job) is None
    clockwork.wait(60)
    clockwork.end_all()
    assert next_at(clockwork, job) == START + EVERY + 2 * MINUTE


def test_edit_that_the_engine_has_not_seen_wins_over_the_end(clockwork):
    job = running(clockwork)
    clockwork.loop._follower.look = lambda _now, *, poked: []  # it is committed, and not read yet
    edit(clockwork, job, "1m")
    clockwork.end_all()
    del clockwork.loop._follower.look
    clockwork.turn()
    assert next_at(clockwork, job) == START + EVERY + MINUTE


def edit(clockwork, job, expression) -> None:
    row = clockwork.schedule(job)
    schedules.change(row, ScheduleSpec("fixed_delay", expression, "UTC"), clockwork.hands.wall, paused=False)
    models.Job.objects.filter(pk=job.pk).update(revision=job.revision + 1)
    changed(clockwork, job)


def test_pause_while_it_runs_and_resume_after(clockwork):
    job = running(clockwork)
    actions.pause_job(job.pk, actor="ann", now=clockwork.hands.wall)
    clockwork.turn()
    clockwork.end_all()
    assert next_at(clockwork, job) is None
    clockwork.wait(3600)
    actions.resume_job(job.pk, actor="ann", now=clockwork.hands.wall)
    clockwork.turn()
    assert next_at(clockwork, job) == clockwork.hands.wall + EVERY
    assert len(clockwork.dates(job)) == 1


def test_pause_and_resume_while_it_runs(clockwork):
    job = running(clockwork)
    for act in (actions.pause_job, actions.resume_job):
        act(job.pk, actor="ann", now=clockwork.hands.wall)
        clockwork.turn()
    assert next_at(clockwork, job) is None
    clockwork.end_all()
    assert next_at(clockwork, job) == clockwork.hands.wall + EVERY


def test_cancel_while_it_waits_is_an_end(clockwork):
    fill(clockwork)
    job = delayed(clockwork)
    clockwork.wait(600)
    instance = models.Instance.objects.get(job=job)
    assert instance.status == "queued"
    clockwork.wait(60)
    wishes.cancel(instance.pk, actor="ann", now=clockwork.hands.wall)
    clockwork.turn()
    assert next_at(clockwork, job) == START + EVERY + MINUTE + EVERY


def test_cancel_while_no_service_runs_is_seen_at_the_start(clockwork):
    job = running(clockwork)
    clockwork.end_all()
    fill(clockwork)
    clockwork.wait(600)
    wishes.cancel(models.Instance.objects.get(status="queued").pk, actor="ann", now=clockwork.hands.wall)
    cancelled_at = clockwork.hands.wall
    clockwork.hands.pass_(60)
    clockwork.start()
    assert next_at(clockwork, job) == cancelled_at + EVERY


def test_skipped_by_its_start_deadline_is_an_end(clockwork):
    fill(clockwork)
    job = delayed(clockwork)
    models.Job.objects.filter(pk=job.pk).update(start_deadline_seconds=60.0)
    changed(clockwork, job)
    clockwork.wait(600)
    clockwork.wait(61)
    assert models.Instance.objects.get(job=job).status == "skipped"
    assert next_at(clockwork, job) == clockwork.hands.wall + EVERY


def test_down_over_its_moment_it_runs_once(clockwork):
    job = delayed(clockwork)
    clockwork.hands.pass_(86_400)
    clockwork.start()
    clockwork.end_all()
    assert clockwork.dates(job) == [START + EVERY]
    assert next_at(clockwork, job) == clockwork.hands.wall + EVERY


def test_down_with_skip_it_counts_from_the_start(clockwork):
    job = delayed(clockwork, catch_up="skip")
    clockwork.hands.pass_(86_400)
    clockwork.start()
    assert (clockwork.dates(job), clockwork.schedule(job).missed_count) == ([], 1)
    assert next_at(clockwork, job) == clockwork.hands.wall + EVERY


def test_restart_while_it_runs_waits_for_its_end(clockwork):
    job = running(clockwork)
    clockwork.hands.pass_(60)
    clockwork.start()
    assert next_at(clockwork, job) is None
    clockwork.end_all()
    assert next_at(clockwork, job) == clockwork.hands.wall + EVERY


def test_end_that_is_seen_a_period_late_is_followed_once(clockwork):
    """It ended while no service ran, so long ago that the next is due when that is known."""
    job = running(clockwork)
    (token,) = clockwork.processes.running
    clockwork.processes.running.clear()
    ended_at = clockwork.hands.wall + MINUTE
    clockwork.hands.pass_(3600)
    clockwork.start(ended={token: Outcome(OutcomeKind.SUCCESS, ended_at, duration_seconds=60.0)})
    assert clockwork.dates(job) == [START + EVERY, ended_at + EVERY]
    assert next_at(clockwork, job) is None
    clockwork.wait(60)
    clockwork.end_all()
    assert next_at(clockwork, job) == clockwork.hands.wall + EVERY


def test_what_replaces_a_waiting_one_is_waited_for(clockwork):
    fill(clockwork)
    job = delayed(clockwork, overlap="replace")
    clockwork.wait(300)
    by_hand = wishes.submit(job, cause="manual", actor="ann", now=clockwork.hands.wall)
    clockwork.wait(300)
    by_hand.refresh_from_db()
    assert by_hand.status == "cancelled"
    assert next_at(clockwork, job) is None
    clockwork.wait(60)
    clockwork.end_all()
    assert next_at(clockwork, job) == clockwork.hands.wall + EVERY


def test_one_that_is_too_late_as_the_next_comes_is_no_end(clockwork):
    fill(clockwork)
    job = delayed(clockwork, overlap="queue")
    models.Job.objects.filter(pk=job.pk).update(start_deadline_seconds=299.0)
    changed(clockwork, job)
    clockwork.wait(300)
    wishes.submit(job, cause="manual", actor="ann", now=clockwork.hands.wall)
    clockwork.wait(300)
    assert sorted(models.Instance.objects.filter(job=job).values_list("status", flat=True)) == ["queued", "skipped"]
    assert next_at(clockwork, job) is None


@pytest.mark.parametrize("restarts", [False, True])
def test_run_by_hand_does_not_put_off_what_is_planned(clockwork, restarts):
    job = delayed(clockwork, overlap="allow")
    clockwork.wait(60)
    wishes.submit(job, cause="manual", actor="ann", now=clockwork.hands.wall)
    clockwork.turn()
    if restarts:
        clockwork.start()
    assert next_at(clockwork, job) == START + EVERY
    clockwork.wait(540)
    assert len(clockwork.processes.running) == 2


def test_past_its_end_it_is_over_after_any_restart(clockwork):
    job = delayed(clockwork, end_at=START + EVERY + EVERY + MINUTE)
    clockwork.wait(600)
    clockwork.wait(120)
    clockwork.end_all()
    for _ in range(3):
        clockwork.hands.pass_(3600)
        clockwork.start()
        clockwork.end_all()
    assert (len(clockwork.dates(job)), next_at(clockwork, job)) == (1, None)


def test_jittered_one_waits_for_the_end_of_what_is_not_due_yet(clockwork):
    job = delayed(clockwork, jitter_seconds=500.0)
    clockwork.wait(600)
    assert models.Instance.objects.get(job=job).status == "pending"
    clockwork.start()
    assert next_at(clockwork, job) is None
    clockwork.wait(500)
    clockwork.end_all()
    assert next_at(clockwork, job) == clockwork.hands.wall + EVERY


@pytest.mark.parametrize("who_sees_first", ["first", "second"])
def test_two_engines_agree_on_the_next(clockwork, who_sees_first):
    other = Clockwork(name="there")
    other.hands = clockwork.hands
    other.start()
    job = delayed(clockwork)
    other.turn()
    for _ in range(4):
        clockwork.hands.pass_(600)
        engines = [clockwork, other] if who_sees_first == "first" else [other, clockwork]
        for engine in (*engines, *engines):
            engine.turn()
        assert len(clockwork.processes.running) + len(other.processes.running) == 1
        clockwork.hands.pass_(30)
        for engine in engines:
            engine.end_all()
            clockwork.hands.pass_(0.02)
        for engine in (*engines, *engines):
            engine.turn()
        assert next_at(clockwork, job) == next_at(other, job) is not None
    schedule = clockwork.schedule(job)
    assert (schedule.run_count, schedule.skipped_count, schedule.missed_count) == (4, 0, 0)


def test_long_daily_downtime_is_made_up_once_a_day(clockwork):
    job = clockwork.job("daily", "03:00")
    changed(clockwork, job)
    clockwork.hands.pass_(30 * 86_400)
    clockwork.start()
    clockwork.end_all()
    latest = (START + timedelta(days=30)).replace(hour=3, minute=0)
    assert clockwork.dates(job) == [latest]
    assert (clockwork.schedule(job).missed_count, next_at(clockwork, job)) == (29, latest + timedelta(days=1))


@pytest.mark.parametrize("catch_up", ["one", "skip"])
def test_one_that_is_over_stays_so_when_its_runs_are_deleted(clockwork, catch_up):
    """The last ran until behind the end of the schedule; without its row its end is known no more."""
    job = delayed(clockwork, end_at=START + EVERY + EVERY + MINUTE, catch_up=catch_up)
    clockwork.wait(600)
    clockwork.wait(120)
    clockwork.end_all()
    models.Attempt.objects.all().delete()
    models.Instance.objects.all().delete()
    clockwork.hands.pass_(1000)
    clockwork.start()
    clockwork.turn()
    schedule = clockwork.schedule(job)
    assert (clockwork.dates(job), schedule.next_at, schedule.missed_count) == ([], None, 0)


def test_end_that_comes_as_the_next_minutes_are_read_tells_the_next(clockwork):
    """The database says still that it runs, in the turn that takes its end."""
    job = running(clockwork)
    (token, launch) = clockwork.processes.running.popitem()
    clockwork.loop._follower.horizon.reload_at = clockwork.hands.wall
    clockwork.mailbox.put(Ended(launch.instance_id, token, Outcome(OutcomeKind.SUCCESS, clockwork.hands.wall)))
    clockwork.turn()
    assert next_at(clockwork, job) == clockwork.hands.wall + EVERY
