"""Field cases of clocks that jump (time-110 to time-114), and more of the kind, with the service's own loop."""

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from jobs import models
from jobs.core.inputs import Ended
from jobs.core.records import Outcome
from jobs.core.states import OutcomeKind
from jobs.nodes import state_of
from jobs.store import wishes
from tests.service.clockwork import START, Clockwork

pytestmark = pytest.mark.django_db(transaction=True)

HOUR, YEARS = timedelta(hours=1), timedelta(days=5 * 365)


@pytest.fixture
def clockwork(settings, tmp_path) -> Clockwork:
    settings.DATA_DIR, settings.MIN_FREE_DISK_MB = tmp_path, 0
    return Clockwork()


def at(hour: int, minute: int = 0) -> datetime:
    return START.replace(hour=hour, minute=minute)


def told(kind: str = "clock.changed") -> list[dict]:
    return list(models.Event.objects.filter(kind=kind).order_by("pk").values_list("data", flat=True))


def test_time_110_clock_set_back_by_years_keeps_ticking(clockwork):
    job = clockwork.job("interval", "20s")
    clockwork.start()
    clockwork.run_to(START + timedelta(seconds=50))
    clockwork.hands.set(-YEARS)
    clockwork.turn()
    before = len(clockwork.dates(job))
    clockwork.run_to(clockwork.hands.wall + timedelta(seconds=20))
    assert len(clockwork.dates(job)) == before + 1
    (change,) = told()
    assert (change["set_by_seconds"], change["reanchored"]) == (-YEARS.total_seconds(), 1)


def test_clock_set_back_while_nothing_ran_is_seen_at_the_start(clockwork):
    job = clockwork.job("interval", "20s")
    clockwork.start()
    clockwork.run_to(START + timedelta(seconds=50))
    clockwork.hands.set(-YEARS)
    clockwork.start()
    clockwork.run_to(clockwork.hands.wall + timedelta(seconds=20))
    assert len(clockwork.dates(job)) == 3
    assert told()[0]["reanchored"] == 1


def test_time_111_clock_that_starts_in_1970_is_one_step(clockwork):
    clockwork.hands.set(datetime(1970, 1, 1, tzinfo=UTC) - START)
    job = clockwork.job("interval", "5s", catch_up="skip")
    clockwork.start()
    clockwork.run_to(clockwork.hands.wall + timedelta(seconds=12))
    turns, made = clockwork.turns, len(clockwork.dates(job))
    clockwork.hands.set(START - clockwork.hands.wall)
    clockwork.turn()
    clockwork.end_all()
    assert clockwork.turns - turns <= 3
    assert len(clockwork.dates(job)) <= made + 1  # at most what was due just now
    assert clockwork.schedule(job).missed_count > 350_000_000
    clockwork.run_to(START + timedelta(seconds=5))
    assert clockwork.dates(job)[-1] > START


def test_time_112_jump_forward_is_downtime(clockwork):
    job = clockwork.job("cron", "0 * * * *")
    clockwork.start()
    clockwork.hands.set(3 * HOUR)
    clockwork.turn()
    assert clockwork.dates(job) == [at(13)]
    assert (clockwork.schedule(job).next_at, clockwork.schedule(job).missed_count) == (at(14), 2)


@pytest.mark.parametrize(("catch_up", "made"), [("skip", []), ("one", [13]), ("all", [11, 12, 13])])
def test_time_113_suspended_machine_was_down(clockwork, catch_up, made):
    job = clockwork.job("cron", "0 * * * *", catch_up=catch_up)
    clockwork.start()
    clockwork.hands.suspend(3 * 3600)
    clockwork.turn()
    assert clockwork.dates(job) == [at(hour) for hour in made]
    schedule = clockwork.schedule(job)
    assert (schedule.next_at, schedule.missed_count) == (at(14), 3 - len(made))
    assert told()[0]["suspended_seconds"] == 3 * 3600


def test_time_114_ten_seconds_go_on_through_a_fold(clockwork):
    clockwork.hands.set(datetime(2026, 10, 25, 0, 59, tzinfo=UTC) - START)
    job = clockwork.job("cron", "*/10 * * * * *", "Europe/Berlin")
    clockwork.start()
    clockwork.run_to(clockwork.hands.wall + timedelta(minutes=2))
    dates = clockwork.dates(job)
    assert len(dates) == 12
    assert {later - earlier for earlier, later in pairwise(dates)} == {timedelta(seconds=10)}


@pytest.mark.parametrize("by", [timedelta(minutes=10), 3 * HOUR - timedelta(minutes=30)])
@pytest.mark.parametrize(("type_", "expression"), [("interval", "5m"), ("cron", "*/5 * * * *"), ("daily", "10:35")])
def test_set_back_a_little_nothing_runs_twice(clockwork, by, type_, expression):
    job = clockwork.job(type_, expression)
    clockwork.start()
    clockwork.run_to(at(10, 50))
    before = clockwork.dates(job)
    clockwork.hands.set(-by)
    clockwork.turn()
    clockwork.run_to(at(10, 50))
    assert clockwork.dates(job) == before
    clockwork.run_to(at(11))
    assert clockwork.dates(job)[len(before) :] == ([at(10, 55), at(11)] if type_ != "daily" else [])
    assert told()[0]["reanchored"] == 0


def test_set_back_twice_by_two_hours_begins_anew(clockwork):
    job = clockwork.job("interval", "5m")
    clockwork.start()
    clockwork.run_to(at(10, 50))
    for _ in range(2):
        clockwork.hands.set(-2 * HOUR)
        clockwork.turn()
    clockwork.run_to(at(6, 56))
    assert [change["reanchored"] for change in told()] == [0, 1]
    assert clockwork.dates(job)[-1] < at(7)


def test_no_date_runs_twice_when_the_clock_is_right_again(clockwork):
    jobs = [clockwork.job("interval", "5m"), clockwork.job("cron", "*/5 * * * *"), clockwork.job("daily", "10:45")]
    clockwork.start()
    clockwork.run_to(at(10, 50))
    before = [clockwork.dates(job) for job in jobs]
    clockwork.hands.set(-YEARS)
    clockwork.turn()
    clockwork.run_to(clockwork.hands.wall + timedelta(minutes=7))
    clockwork.hands.set(YEARS)
    clockwork.turn()
    clockwork.end_all()
    wrong = START - timedelta(days=365)
    for job, dates in zip(jobs, before, strict=True):
        assert [date for date in clockwork.dates(job) if date > wrong][: len(dates)] == dates
    daily = clockwork.dates(jobs[2])
    assert daily.count(at(10, 45)) == 1 == len([date for date in daily if date > wrong])


def test_change_of_clock_is_told_with_its_schedules(clockwork):
    job = clockwork.job("interval", "5m")
    clockwork.start()
    clockwork.hands.set(-YEARS)
    clockwork.turn()
    (event,) = models.Event.objects.filter(kind="schedule.reanchored")
    assert (event.job_id, event.data["former_mark"]) == (job.pk, START.isoformat())


def test_time_that_passes_is_told_to_nobody(clockwork):
    clockwork.job("interval", "5m")
    clockwork.start()
    clockwork.run_to(at(12))
    assert told() == []


# --- what waits ---


@pytest.mark.parametrize("by", [-YEARS, -HOUR, timedelta(seconds=30), YEARS])
def test_wait_for_a_retry_is_as_long_as_it_was(clockwork, by):
    job = clockwork.job(max_retries=3)
    clockwork.start()
    instance = wishes.submit(job, cause="manual", actor="ann", now=START)
    clockwork.turn()
    (launch,) = clockwork.processes.launched
    clockwork.mailbox.put(Ended(instance.pk, launch.token, Outcome(OutcomeKind.FAILED, START)))
    clockwork.turn()
    instance.refresh_from_db()
    waits = (instance.retry_at - START).total_seconds()
    clockwork.hands.set(by)
    clockwork.turn()
    clockwork.wait(waits - 0.001)
    assert len(clockwork.processes.launched) == 1
    clockwork.wait(0.002)
    assert len(clockwork.processes.launched) == 2


def test_retry_from_a_future_that_was_wrong_comes_within_its_cap(clockwork):
    job = clockwork.job(max_retries=3)
    models.Instance.objects.create(
        job=job, logical_at=START, due_at=START, created_at=START, queued_at=START, order_key=1, cause="manual",
        status="retrying", retry_at=START + YEARS, attempt_count=1,
    )  # fmt: skip
    clockwork.start()
    clockwork.wait(job.retry_max_delay_seconds)
    assert len(clockwork.processes.launched) == 1


def test_due_times_stay_on_the_calendar(clockwork):
    job = clockwork.job()
    clockwork.start()
    wishes.submit(job, cause="manual", actor="ann", now=START, due_at=START + HOUR)
    clockwork.turn()
    clockwork.hands.set(-HOUR)
    clockwork.turn()
    clockwork.run_to(START + HOUR - timedelta(seconds=1))
    assert clockwork.processes.launched == []
    clockwork.hands.set(HOUR)
    clockwork.turn()
    assert len(clockwork.processes.launched) == 1


def test_fixed_delay_counts_time_that_passed(clockwork):
    job = clockwork.job("fixed_delay", "10m")
    clockwork.start()
    clockwork.run_to(at(10, 41))
    clockwork.hands.set(-YEARS)
    clockwork.turn()
    clockwork.run_to(clockwork.hands.wall + timedelta(minutes=10))
    assert len(clockwork.dates(job)) == 2


def test_end_told_by_a_clock_that_was_ahead_is_now(clockwork):
    job = clockwork.job("fixed_delay", "10m")
    clockwork.start()
    clockwork.wait(600)
    (launch,) = clockwork.processes.launched
    clockwork.hands.set(-YEARS)
    clockwork.mailbox.put(Ended(launch.instance_id, launch.token, Outcome(OutcomeKind.SUCCESS, at(10, 41))))
    clockwork.turn()
    assert clockwork.schedule(job).next_at == clockwork.hands.wall + timedelta(minutes=10)


def test_what_queued_before_starts_before_what_comes_after(clockwork):
    job = clockwork.job()
    clockwork.start()
    ids = [wishes.submit(job, cause="manual", actor="ann", now=clockwork.hands.wall).pk for _ in range(4)]
    clockwork.turn()
    clockwork.hands.set(-YEARS)
    clockwork.turn()
    ids += [wishes.submit(job, cause="manual", actor="ann", now=clockwork.hands.wall).pk for _ in range(3)]
    clockwork.turn()
    clockwork.end_all()
    assert [launch.instance_id for launch in clockwork.processes.launched] == ids


# --- the loop itself ---


def test_loop_never_sleeps_past_a_clock_that_was_set(clockwork):
    clockwork.job("daily", "10:29")
    clockwork.start()
    assert clockwork.loop._deadline() <= clockwork.loop._look.next_at


def test_change_that_could_not_be_mended_is_not_forgotten(clockwork, monkeypatch):
    from django.db import OperationalError

    from jobs.service import loop

    clockwork.job("interval", "20s")
    clockwork.start()
    mend = loop.mend
    monkeypatch.setattr(loop, "mend", lambda *_: (_ for _ in ()).throw(OperationalError("database is locked")))
    clockwork.hands.set(-YEARS)
    with pytest.raises(OperationalError):
        clockwork.turn()
    monkeypatch.setattr(loop, "mend", mend)
    clockwork.turn()
    assert told()[0]["set_by_seconds"] == -YEARS.total_seconds()


def test_node_whose_clock_the_database_denies_sets_nobody_back(clockwork, monkeypatch, caplog):
    from jobs.store import reanchoring

    job = clockwork.job("interval", "20s")
    clockwork.start()
    monkeypatch.setattr(reanchoring, "clock_of_database", lambda: START)
    clockwork.hands.set(-YEARS)
    clockwork.turn()
    assert clockwork.schedule(job).watched_from == START
    assert "set it right" in caplog.text


@pytest.mark.parametrize("type_", ["interval", "fixed_delay"])
def test_clock_that_comes_right_after_days_goes_on(clockwork, type_):
    job = clockwork.job(type_, "10m")
    clockwork.start()
    for by in (-YEARS, YEARS + timedelta(days=3)):
        clockwork.run_to(clockwork.hands.wall + timedelta(minutes=25))
        clockwork.hands.set(by)
        clockwork.turn()
        clockwork.end_all()
    made = len(clockwork.dates(job))
    clockwork.run_to(clockwork.hands.wall + timedelta(minutes=25))
    assert len(clockwork.dates(job)) >= made + 2


@pytest.mark.parametrize("while_it_runs", [True, False])
def test_fixed_delay_set_back_a_little_goes_on_after_its_mark(clockwork, while_it_runs):
    job = clockwork.job("fixed_delay", "10m")
    clockwork.start()
    clockwork.wait(600)
    if not while_it_runs:
        clockwork.end_all()
    clockwork.hands.set(-2 * HOUR)
    clockwork.turn()
    clockwork.end_all()
    clockwork.run_to(at(10, 51))
    assert clockwork.dates(job) == [at(10, 40), at(10, 50)]


def test_node_looks_alive_at_once_and_not_for_ever(clockwork):
    clockwork.start()
    clockwork.hands.set(-YEARS)
    beaten = models.Node(heartbeat_at=START)
    assert state_of(beaten, clockwork.hands.wall) == "stale"
    clockwork.turn()
    assert state_of(models.Node.objects.get(), clockwork.hands.wall) == "live"


# --- whatever comes ---


@pytest.mark.parametrize("seed", range(3))
def test_no_history_of_a_clock_stops_or_repeats_a_schedule(clockwork, seed):
    chance = random.Random(seed)  # noqa: S311 - the same each time
    jobs = [
        clockwork.job("interval", "50m"),
        clockwork.job("fixed_delay", "50m"),
        clockwork.job("interval", "50m", start_at=START),
    ]
    clockwork.start()
    hands = clockwork.hands
    moves = [
        lambda: clockwork.run_to(hands.wall + timedelta(minutes=chance.uniform(1, 30))),
        lambda: hands.suspend(chance.uniform(0, 20_000)),
        lambda: hands.set(timedelta(seconds=chance.uniform(-3 * 3600, 3 * 3600))),
        lambda: hands.set(timedelta(days=chance.choice([-400, -3, 3, 400]))),
        clockwork.start,
    ]
    for _ in range(8):
        chance.choice(moves)()
        clockwork.turn()
        clockwork.end_all()
        before = [len(clockwork.dates(job)) for job in jobs]
        clockwork.run_to(hands.wall + 3 * HOUR + timedelta(minutes=50))
        assert all(len(clockwork.dates(job)) > n for job, n in zip(jobs, before, strict=True))
    for job in jobs:
        dates = clockwork.dates(job)
        assert len(dates) == len(set(dates))
