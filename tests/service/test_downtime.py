"""Thirty days without the service, with fifty schedules of a minute: by policy, on the real store."""

import tracemalloc
from datetime import timedelta

import pytest

from jobs import models
from jobs.core.inputs import Ended
from jobs.core.records import Outcome
from jobs.core.states import OutcomeKind
from jobs.core.triggers import FixedRate
from jobs.core.wallclock import WallClock
from jobs.store import wishes
from tests.service.clockwork import Clockwork

pytestmark = pytest.mark.django_db(transaction=True)

DOWN = timedelta(days=30)
MINUTE = timedelta(minutes=1)
FIRES = 30 * 24 * 60


@pytest.fixture
def clockwork(settings, tmp_path) -> Clockwork:
    settings.DATA_DIR, settings.MIN_FREE_DISK_MB = tmp_path, 0
    return Clockwork()


def fifty(clockwork, **fields) -> list[models.Job]:
    """Half of them intervals, half of them cron; each has run once, and rests."""
    jobs = [clockwork.job("interval", "1m", **fields) for _ in range(25)]
    jobs += [clockwork.job("cron", "* * * * *", "Europe/Berlin", **fields) for _ in range(25)]
    clockwork.start()
    clockwork.run_to(clockwork.hands.wall + MINUTE)
    return jobs


def come_back(clockwork) -> None:
    clockwork.hands.pass_(DOWN.total_seconds() + 10)  # beside the minute
    clockwork.start()


@pytest.mark.parametrize(("fields", "made"), [
    ({"catch_up": "skip"}, 1),  # of ten seconds ago: that is not missed
    ({"catch_up": "skip", "misfire_grace_seconds": 5.0}, 0),
    ({"catch_up": "one"}, 1),
    ({"catch_up": "all"}, 3),
    ({"catch_up": "all", "catch_up_limit": 7}, 7),
])  # fmt: skip
def test_thirty_days_of_minutes_are_made_up_as_the_policy_says(clockwork, fields, made):
    jobs = fifty(clockwork, **fields)
    before = clockwork.hands.wall
    come_back(clockwork)
    clockwork.end_all()
    latest = before + DOWN
    for job in jobs:
        assert clockwork.dates(job) == [before, *(latest - n * MINUTE for n in reversed(range(made)))]
        schedule = clockwork.schedule(job)
        assert (schedule.missed_count, schedule.skipped_count) == (FIRES - made, 0)
        assert schedule.next_at == latest + MINUTE
    assert set(models.Instance.objects.values_list("status", flat=True)) == {"success"}


@pytest.mark.parametrize("catch_up", ["skip", "one", "all"])
def test_coming_back_is_arithmetic_in_one_pass(clockwork, catch_up, monkeypatch):
    fifty(clockwork, catch_up=catch_up)
    asked = 0

    def counting(next_after):
        def counted(self, moment):
            nonlocal asked
            asked += 1
            return next_after(self, moment)

        return counted

    for kind in (FixedRate, WallClock):
        monkeypatch.setattr(kind, "next_after", counting(kind.next_after))
    fires = models.Event.objects.filter(kind="instance.queued").count()
    clockwork.hands.pass_(DOWN.total_seconds() + 10)
    turns = clockwork.turns
    clockwork.start()
    assert clockwork.turns == turns + 1
    assert models.Event.objects.filter(kind="instance.queued").count() == fires + 50 * (3 if catch_up == "all" else 1)
    assert asked <= 50 * 60, "for 43,200 fires of each"
    assert clockwork.wake_at > clockwork.hands.wall


def test_memory_does_not_grow_with_what_was_missed(clockwork):
    fifty(clockwork, catch_up="all")
    clockwork.hands.pass_(10 * 60 + 10)
    peaks = [peak_of(clockwork.start)]
    clockwork.end_all()
    clockwork.hands.pass_(DOWN.total_seconds() - 10)
    peaks.append(peak_of(clockwork.start))
    assert peaks[1] < 2 * peaks[0] + 1_000_000


def peak_of(act) -> int:
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_one_behind_the_other_oldest_first(clockwork):
    job = clockwork.job("cron", "0 * * * *", catch_up="all")
    clockwork.start()
    clockwork.hands.pass_(4 * 3600)
    clockwork.start()
    order = []
    while clockwork.processes.running:
        assert len(clockwork.processes.running) == 1
        order.append(clockwork.processes.launched[-1].logical_at.hour)
        end_one(clockwork)
    assert order == [12, 13, 14] == [date.hour for date in clockwork.dates(job)]


def end_one(clockwork) -> None:
    token, launch = next(iter(clockwork.processes.running.items()))
    del clockwork.processes.running[token]
    clockwork.mailbox.put(Ended(launch.instance_id, token, Outcome(OutcomeKind.SUCCESS, clockwork.hands.wall)))
    clockwork.turn()


def test_what_is_due_now_is_not_behind_the_backlog(clockwork):
    fifty(clockwork, catch_up="all")
    come_back(clockwork)  # two cores run two of a hundred and fifty
    assert models.Instance.objects.filter(status="queued").count() == 148
    on_time = clockwork.job("interval", "5m")
    clockwork.start()
    clockwork.wait(300)
    end_one(clockwork)
    assert clockwork.processes.launched[-1].job_id == on_time.pk


def test_backlog_has_its_turn_after_an_hour(clockwork):
    fifty(clockwork, catch_up="all")
    come_back(clockwork)
    first = models.Instance.objects.filter(status="queued").order_by("order_key", "pk").first()
    clockwork.hands.pass_(3601)
    wishes.submit(clockwork.job(), cause="manual", actor="ann", now=clockwork.hands.wall)
    clockwork.turn()
    end_one(clockwork)
    assert clockwork.processes.launched[-1].instance_id == first.pk
