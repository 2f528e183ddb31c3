from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.core.catchup import CatchUp, due_between, latest_of
from jobs.core.cron import parse_cron
from jobs.core.daylight import ZoneRules
from jobs.core.fixeddelay import FixedDelay
from jobs.core.triggers import AtOnce, FixedRate, Once, Trigger
from jobs.core.wallclock import WallClock
from jobs.core.zones import zone_named

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
HOURLY = FixedRate(BEGAN, HOUR)


def wall(expression: str, zone: str = "UTC") -> WallClock:
    return WallClock(parse_cron(expression), ZoneRules(zone_named(zone)))


@dataclass
class Asked:
    """A trigger that counts how often it is asked anything."""

    inner: WallClock
    asked: int = 0

    def next_after(self, moment: datetime) -> datetime | None:
        self.asked += 1
        return self.inner.next_after(moment)

    def count_between(self, after: datetime, until: datetime) -> int:
        self.asked += 1
        return self.inner.count_between(after, until)

    def describe(self) -> str:
        return self.inner.describe()


@dataclass
class Uncounted:
    inner: Trigger

    def next_after(self, moment: datetime) -> datetime | None:
        return self.inner.next_after(moment)

    def describe(self) -> str:
        return self.inner.describe()


def all_of(trigger: Trigger, after: datetime, until: datetime) -> list[datetime]:
    found, fire = [], trigger.next_after(after)
    while fire is not None and fire <= until:
        found.append(fire)
        fire = trigger.next_after(fire)
    return found


TRIGGERS = [
    HOURLY,
    FixedRate(BEGAN + MINUTE, timedelta(minutes=7), BEGAN + 100 * HOUR),
    AtOnce(HOURLY, BEGAN + 90 * MINUTE),
    Once(BEGAN + 3 * HOUR),
    FixedDelay(HOUR, BEGAN + 5 * HOUR),
    wall("*/20 * * * *"),
    wall("30 2 * * *", "Europe/Berlin"),
    wall("* 3 29 3 *", "Europe/Berlin"),
    wall("*/5 9-17 * * MON-FRI", "Australia/Lord_Howe"),
]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(TRIGGERS), st.integers(-100, 3000), st.integers(0, 300), st.integers(0, 40), st.booleans())
def test_latest_are_the_end_of_the_whole_list(
    trigger: Trigger, shift: int, length: int, most: int, counted: bool
) -> None:
    after = BEGAN + shift * HOUR
    until = after + length * HOUR
    asked = trigger if counted else Uncounted(trigger)
    assert list(latest_of(asked, after, until, most)) == all_of(trigger, after, until)[-most or 10**9 :]


@pytest.mark.parametrize("expression", ["* * * * *", "* * * * * *", "* * 1 1 *", "0 0 1 * *"])
def test_work_does_not_grow_with_the_backlog(expression: str) -> None:
    asked = Asked(wall(expression))
    due = due_between(asked, BEGAN, BEGAN + timedelta(days=3650), CatchUp.ALL, 10)
    assert due.fires == tuple(all_of(asked.inner, due.fires[0] - SECOND, BEGAN + timedelta(days=3650)))
    assert len(due.fires) == 10
    assert asked.asked < 150


def test_thirty_days_of_minutes_are_counted_exactly() -> None:
    due = due_between(wall("* * * * *"), BEGAN, BEGAN + timedelta(days=30))
    assert due.fires == (BEGAN + timedelta(days=30),)
    assert due.missed == 30 * 24 * 60 - 1


def test_thirty_days_over_a_change_of_clocks_are_counted_exactly() -> None:
    began = datetime(2026, 10, 10, tzinfo=UTC)
    assert due_between(wall("0 * * * *", "Europe/Berlin"), began, began + timedelta(days=30)).missed == 719
    assert due_between(wall("0 0-23 * * *", "Europe/Berlin"), began, began + timedelta(days=30)).missed == 718


@pytest.mark.parametrize(
    ("policy", "fires", "missed"),
    [(CatchUp.SKIP, [], 4), (CatchUp.ONE, [14], 3), (CatchUp.ALL, [12, 13, 14], 1)],
)
def test_each_policy_makes_its_fires(policy: CatchUp, fires: list[int], missed: int) -> None:
    due = due_between(HOURLY, BEGAN + 10 * HOUR, BEGAN + 14.5 * HOUR, policy)
    assert due.fires == tuple(BEGAN + hour * HOUR for hour in fires)
    assert due.missed == missed


@pytest.mark.parametrize(("late", "happens"), [(0, True), (60, True), (60.000001, False)])
def test_a_fire_within_the_grace_is_not_missed(late: float, happens: bool) -> None:
    due = due_between(HOURLY, BEGAN + 10 * HOUR, BEGAN + 12 * HOUR + timedelta(seconds=late), CatchUp.SKIP)
    assert due.fires == ((BEGAN + 12 * HOUR,) if happens else ())
    assert due.missed == (1 if happens else 2)


def test_within_the_grace_the_latest_stands_for_all() -> None:
    due = due_between(FixedRate(BEGAN, SECOND), BEGAN, BEGAN + 30 * SECOND, CatchUp.SKIP)
    assert (due.fires, due.missed) == ((BEGAN + 30 * SECOND,), 29)


@pytest.mark.parametrize("policy", list(CatchUp))
def test_nothing_due_is_nothing_made(policy: CatchUp) -> None:
    due = due_between(HOURLY, BEGAN, BEGAN + 59 * MINUTE, policy)
    assert (due.fires, due.missed) == ((), 0)
