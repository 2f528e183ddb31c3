"""Load of this machine as pages get it: the newest sample, and five minutes for who has nothing yet."""

import json

import pytest

from dashboard.live.loads import STEPS_AGAIN, Loads
from dashboard.live.sampler import Sampler, first_load
from jobs.telemetry.cores import CoreLoad, CoreTimes
from jobs.telemetry.recent import STEPS, RecentLoads


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def recent() -> RecentLoads:
    """Core 0 was busier with each of seventy steps."""
    clock = Clock()
    recent = RecentLoads(clock)
    for step in range(70):
        recent.note({0: step / 100})
        clock.now += 5
    return recent


@pytest.fixture
def loads(recent) -> Loads:
    loads = Loads(recent)
    loads.put("uuid", {0: (0.5, "busy")}, (1, 2))
    return loads


def test_page_without_any_gets_all_five_minutes(loads):
    frame = json.loads(loads.after(0)[0])
    assert (frame["cores"], frame["past"]["last"]) == ({"0": [0.5, "busy"]}, 269)
    assert frame["past"]["cores"]["0"] == list(range(70 - STEPS, 70))


def test_page_that_follows_gets_the_last_steps_again(loads):
    text, cursor = loads.after(0)
    assert loads.after(cursor) is None
    loads.put("uuid", {0: (0.6, "busy")}, (1, 2))
    after, _ = loads.after(cursor)
    assert json.loads(after)["past"]["cores"]["0"] == list(range(70 - STEPS_AGAIN, 70))
    assert len(after) < len(text)


def test_page_is_drawn_with_what_is_known(recent):
    frame = json.loads(first_load(recent))
    assert frame["cores"] == {"0": [0.69, "busy"]}
    assert len(frame["past"]["cores"]["0"]) == STEPS


def test_mean_over_minutes_is_not_noted_as_one_step(monkeypatch):
    clock, recent = Clock(), RecentLoads(Clock())
    monkeypatch.setattr("dashboard.live.sampler.time.monotonic", clock)
    readings = iter([{0: CoreTimes(0, 0)}, {0: CoreTimes(90, 100)}, {0: CoreTimes(91, 101)}])
    noted = []
    monkeypatch.setattr(recent, "note", noted.append)
    sampler = Sampler(CoreLoad(lambda: next(readings)), recent)
    for seconds in (0, 100, 1):
        clock.now += seconds
        sampler.sample_into(Loads(recent))
    assert noted == [{0: 1.0}]
