"""Both DST nights of four zones, and a date line: the engine under a hand-moved clock fires what the preview shows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from jobs.core.catchup import CatchUp
from jobs.core.expressions import parse_moment, parse_trigger
from jobs.core.inputs import JobChanged, ScheduleChanged
from jobs.core.marks import coming
from jobs.core.policies import FirePolicy, Overlap
from jobs.core.triggers import Trigger
from tests.core.world import World

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)

# Zone, the instant at which its clocks change, and a time of day that this skips or repeats.
NIGHTS = [
    ("America/New_York", "2026-03-08T07:00", "2026-03-08", "02:30"),
    ("America/New_York", "2026-11-01T06:00", "2026-11-01", "01:30"),
    ("Europe/Berlin", "2026-03-29T01:00", "2026-03-29", "02:30"),
    ("Europe/Berlin", "2026-10-25T01:00", "2026-10-25", "02:30"),
    ("Australia/Lord_Howe", "2026-10-03T15:30", "2026-10-04", "02:15"),
    ("Australia/Lord_Howe", "2026-04-04T15:00", "2026-04-05", "01:45"),
    ("Pacific/Apia", "2012-09-29T14:00", "2012-09-30", "03:30"),
    ("Pacific/Apia", "2012-03-31T14:00", "2012-04-01", "03:30"),
    ("Pacific/Apia", "2011-12-30T10:00", "2011-12-31", "00:30"),
]
GAPS, FOLDS = ("default", "run_after", "skip"), ("default", "first", "second", "both")

# Everything that was slept through happens, one by one, however much of it there was.
ALL_OF_IT = FirePolicy(CatchUp.ALL, 10_000, overlap=Overlap.ALLOW)


def triggers(zone: str, day: str, clock: str, made: datetime) -> list[Trigger]:
    """One of each kind for each policy. All are due around the change, or across it."""
    hour, minute = (int(part) for part in clock.split(":"))
    by_the_wall = [
        ("cron", f"{minute} {hour} * * *"),
        ("cron", f"{minute},59 0-4 * * *"),
        ("cron", "*/10 * * * *"),
        ("cron", f"{minute} */1 * * *"),
        ("cron", f"20 {minute} {hour} * * *"),
        ("daily", clock),
        ("weekly", f"mon-sun {clock}:30"),
    ]
    found = [
        parse_trigger(kind, text, zone=zone, anchor=made, start=None, end=None, gap=gap, fold=fold)
        for (kind, text), gap, fold in product(by_the_wall, GAPS, FOLDS)
    ]
    found += [parse_trigger("interval", every, zone=zone, anchor=made, start=None, end=None) for every in ("7m", "1h")]
    at = parse_moment(f"{day}T{clock}", zone, end_of_day=False)
    return [*found, parse_trigger("once", "", zone=zone, anchor=made, start=at, end=None)]


class Night:
    """A world with a job for each trigger, watched from some hours before the change."""

    def __init__(self, night: tuple[str, str, str, str], before: timedelta) -> None:
        zone, change, day, clock = night
        self.began = datetime.fromisoformat(change).replace(tzinfo=UTC) - before
        self.ends = self.began + 2 * before
        self.triggers = triggers(zone, day, clock, self.began)
        self.world = World(cores=1, now=self.began)
        for number in range(1, len(self.triggers) + 1):
            self.world.job(number)
        self.watch()

    def watch(self) -> None:
        """As at a start of the service: from where each has got to."""
        last = self.world.store.last_logical_at
        for number, trigger in enumerate(self.triggers, start=1):
            since = last.get(number, self.began)
            self.world.tell(ScheduleChanged(number, number, trigger, since, ALL_OF_IT))

    def restart(self) -> None:
        fresh = World(cores=1, now=self.world.now)
        fresh.store = self.world.store
        self.world = fresh
        self.world.tell(*(JobChanged(job) for job in fresh.store.jobs.values()))
        self.watch()

    def walk(self, step: timedelta) -> None:
        while self.world.now < self.ends:
            self.world.wait(min(step, self.ends - self.world.now).total_seconds())

    def happened(self) -> list[list[datetime]]:
        dates: list[list[datetime]] = [[] for _ in self.triggers]
        for instance in self.world.store.instances.values():
            dates[instance.job_id - 1].append(instance.logical_at)
        return dates

    def previewed(self) -> list[list[datetime]]:
        return [[fire for fire, _ in self.shown(trigger) if fire <= self.ends] for trigger in self.triggers]

    def shown(self, trigger: Trigger) -> Sequence[tuple[datetime, str]]:
        few = coming(trigger, self.began, 6).fires  # most fire a few times, and more are most of the time of a test
        return few if len(few) < 6 or few[-1][0] > self.ends else coming(trigger, self.began, 100).fires


def name(night: tuple[str, str, str, str]) -> str:
    return f"{night[0].rpartition('/')[2]} {night[2]}"


@pytest.mark.parametrize("night", NIGHTS, ids=name)
@pytest.mark.parametrize("step", [timedelta(seconds=37), 10 * MINUTE, 3 * HOUR], ids=["37 s", "10 min", "3 h asleep"])
def test_engine_fires_what_the_preview_shows(night, step):
    walked = Night(night, before=4 * HOUR)
    walked.walk(step)
    assert walked.happened() == walked.previewed()
    assert all(len(dates) == len(set(dates)) for dates in walked.happened())


@pytest.mark.parametrize("night", NIGHTS, ids=name)
def test_engine_that_looks_each_second_fires_what_the_preview_shows(night):
    walked = Night(night, before=35 * MINUTE)
    walked.walk(timedelta(seconds=1))
    assert walked.happened() == walked.previewed()


@pytest.mark.parametrize("night", NIGHTS, ids=name)
@pytest.mark.parametrize("every", [timedelta(minutes=11), timedelta(minutes=55)], ids=["11 min", "55 min"])
def test_restarts_on_the_way_change_nothing(night, every):
    walked = Night(night, before=2 * HOUR)
    while walked.world.now < walked.ends:
        walked.world.wait(every.total_seconds())
        walked.restart()
    walked.ends = walked.world.now
    assert walked.happened() == walked.previewed()


@pytest.mark.parametrize("night", NIGHTS, ids=name)
def test_engine_sleeps_from_one_moment_to_the_next(night):
    walked = Night(night, before=3 * HOUR)
    moments = {fire for fires in walked.previewed() for fire in fires}
    steps = 0
    while (wake_at := walked.world.engine.wake_at()) is not None and wake_at <= walked.ends:
        assert wake_at > walked.world.now
        walked.world.wait((wake_at - walked.world.now).total_seconds())
        steps += 1
    assert steps <= len(moments) + 1  # once because the first in the queue has lost its patience
    assert walked.happened() == walked.previewed()
