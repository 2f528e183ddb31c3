"""What has gone wrong in other schedulers with schedules, overlaps and recovery (bugs.json), tried with the service."""

import random
import sqlite3
from datetime import timedelta

import pytest

from jobs import actions, models, nodes
from jobs.api import health
from jobs.core.inputs import Ended
from jobs.core.records import Outcome
from jobs.core.states import OutcomeKind
from jobs.service.loop import utc_now
from jobs.store import schedules
from jobs.store.specs import ScheduleSpec
from tests.service.clockwork import START, Clockwork
from tests.service.conftest import Home
from tests.waiting import DEADLINE_SECONDS, until

UNTIL_OPEN = "import pathlib, time\nwhile not pathlib.Path({gate!r}).exists(): time.sleep(0.02)"

# As in the case, with a folder of the test's own as the lock.
TAKES_ABOUT_A_SECOND = """#!/bin/sh
mkdir {lock} || {{ echo OVERLAP; exit 9; }}
sleep $(awk "BEGIN{{srand($$);print 0.9+rand()*0.2}}"); rmdir {lock}
"""


@pytest.fixture
def clockwork(db_of_its_own, settings, tmp_path) -> Clockwork:
    settings.DATA_DIR, settings.MIN_FREE_DISK_MB = tmp_path, 0
    return Clockwork()


@pytest.fixture
def db_of_its_own(transactional_db) -> None:
    """As the mark `django_db(transaction=True)`, for the tests that turn the loop by hand."""


def every(home: Home, seconds: int, script: str) -> int:
    raw = {"name": "often", "kind": "script", "script_content": script, "max_retries": 0}
    raw |= {"schedule_type": "interval", "schedule_expression": f"{seconds}s"}
    return actions.create_job(raw, actor="ann", now=utc_now()).job_id


def ended(job_id: int) -> int:
    return models.Instance.objects.filter(job_id=job_id, status="success").count()


# --- bug-032: time zone setting change floods ---


@pytest.mark.parametrize("catch_up", ["one", "all"])
def test_bug_032_zone_of_a_job_changes_and_nothing_is_missed(clockwork, catch_up):
    job = clockwork.job("cron", "30 16 * * *", catch_up=catch_up)
    clockwork.start()
    clockwork.run_to(START + timedelta(days=3))
    before = clockwork.dates(job)
    moved = ScheduleSpec("cron", "30 16 * * *", "America/New_York", catch_up=catch_up)
    schedules.change(clockwork.schedule(job), moved, clockwork.hands.wall, paused=False)
    clockwork.start()
    clockwork.end_all()
    assert clockwork.dates(job) == before
    assert clockwork.schedule(job).missed_count == 0
    assert clockwork.schedule(job).next_at == (START + timedelta(days=3)).replace(hour=21, minute=30)


def test_bug_032_default_zone_changes_and_schedules_keep_theirs(clockwork, settings):
    job = clockwork.job("cron", "30 16 * * *")
    clockwork.start()
    clockwork.run_to(START + timedelta(days=3))
    before = clockwork.dates(job)
    settings.TIME_ZONE = "America/New_York"
    clockwork.start()
    clockwork.run_to(START + timedelta(days=4))
    assert clockwork.dates(job) == [*before, (START + timedelta(days=3)).replace(hour=16)]
    assert clockwork.schedule(job).missed_count == 0


# --- bug-042: overlap=skip blocks for ever after a restart ---


@pytest.mark.parametrize("ends_while_down", [True, False])
def test_bug_042_job_runs_again_within_a_period_after_a_restart(clockwork, ends_while_down):
    job = clockwork.job("interval", "10s")
    clockwork.start()
    for _ in range(20):
        clockwork.wait(1)
    (token,) = clockwork.processes.running
    if ends_while_down:
        del clockwork.processes.running[token]
        outcome = Outcome(OutcomeKind.SUCCESS, clockwork.hands.wall)
        clockwork.hands.pass_(1)
        clockwork.start(ended={token: outcome})
    else:
        clockwork.hands.pass_(1)
        clockwork.start()
        clockwork.wait(39)
        assert len(clockwork.dates(job)) == 1
        clockwork.end_all()
    for _ in range(10):
        clockwork.wait(1)
    assert len(clockwork.dates(job)) == 2


def test_bug_042_with_real_processes(home: Home):
    gate = home.folder / "gate"
    service = home.start()
    job_id = every(home, 1, UNTIL_OPEN.format(gate=str(gate)))
    schedule = models.Schedule.objects.filter(job_id=job_id)
    until(lambda: schedule.get().skipped_count >= 1)
    home.kill(service)
    home.start()
    skipped = schedule.get().skipped_count
    until(lambda: schedule.get().skipped_count > skipped)
    assert models.Instance.objects.filter(job_id=job_id).count() == 1
    gate.touch()
    until(lambda: ended(job_id) >= 2)


# --- bug-044: overlap skip is racy ---


def test_bug_044_no_two_at_once_on_the_real_store(clockwork):
    job = clockwork.job("interval", "1s")
    clockwork.start()
    chance = random.Random(44)  # noqa: S311 - the same each time
    ends: dict = {}
    last = START + timedelta(minutes=3)
    while clockwork.hands.wall < last:
        for token in clockwork.processes.running.keys() - ends:
            ends[token] = clockwork.hands.wall + timedelta(seconds=chance.uniform(0.9, 1.1))
        assert len(clockwork.processes.running) <= 1
        following = min([clockwork.wake_at, *(ends[token] for token in clockwork.processes.running)])
        clockwork.hands.pass_(max(0.0, (min(following, last) - clockwork.hands.wall).total_seconds()))
        for token, launch in list(clockwork.processes.running.items()):
            if ends[token] <= clockwork.hands.wall:
                del clockwork.processes.running[token]
                outcome = Outcome(OutcomeKind.SUCCESS, clockwork.hands.wall)
                clockwork.mailbox.put(Ended(launch.instance_id, token, outcome))
        clockwork.turn()
    schedule = clockwork.schedule(job)
    assert schedule.run_count + schedule.skipped_count == 180
    assert schedule.run_count == len(clockwork.dates(job)) > 90
    assert schedule.skipped_count > 30


def test_bug_044_with_real_processes(home: Home):
    home.start()
    script = TAKES_ABOUT_A_SECOND.format(lock=str(home.folder / "lk"))
    job_id = every(home, 1, script)
    until(lambda: ended(job_id) >= 4)
    until(lambda: models.Schedule.objects.get(job_id=job_id).skipped_count >= 1)
    assert not models.Instance.objects.filter(job_id=job_id, status="failed").exists()


# --- bug-069: scheduler thread dies quietly ---


def test_bug_069_scheduling_goes_on_after_the_database_was_locked(home: Home, monkeypatch):
    monkeypatch.setattr(nodes, "STALE_AFTER", timedelta(seconds=3))
    home.start(crash_at="beats often")
    job_id = every(home, 1, "pass")
    until(lambda: ended(job_id) >= 1)
    assert until(lambda: health.look(utc_now()).fine)

    lock = sqlite3.connect(home.folder / "db.sqlite3", timeout=DEADLINE_SECONDS, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    until(lambda: not health.look(utc_now()).fine)
    assert "here" in health.look(utc_now()).sentence
    before = ended(job_id)
    lock.execute("ROLLBACK")
    lock.close()

    until(lambda: health.look(utc_now()).fine)
    until(lambda: ended(job_id) >= before + 2)
    dates = list(models.Instance.objects.filter(job_id=job_id).values_list("logical_at", flat=True))
    assert len(dates) == len(set(dates))
    assert models.Schedule.objects.get(job_id=job_id).missed_count >= 1, "those of meanwhile are one"
