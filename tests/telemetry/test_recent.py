import pytest

from jobs.telemetry.recent import STEPS, RecentLoads


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def recent(clock) -> RecentLoads:
    return RecentLoads(clock)


def test_step_is_the_mean_of_its_samples(clock, recent):
    for load in (0.1, 0.3, 0.8):
        recent.note({0: load, 2: 0.5})
    clock.now += 5
    past = recent.past(2)
    assert (past.last, past.cores) == (200, {0: (None, 40), 2: (None, 50)})


def test_step_that_goes_on_is_not_told(recent):
    recent.note({0: 0.5})
    assert recent.past().cores == {}


def test_nothing_sampled_leaves_a_gap(clock, recent):
    for load, seconds in ((0.1, 10), (0.2, 5)):
        recent.note({0: load})
        clock.now += seconds
    assert recent.past(4).cores[0] == (None, 10, None, 20)


def test_only_five_minutes_are_kept(clock, recent):
    for _ in range(3 * STEPS):
        recent.note({0: 0.5})
        clock.now += 5
    assert recent.past().cores[0] == (50,) * STEPS
    clock.now += STEPS * 5
    assert recent.past().cores == {}


def test_core_that_went_offline_ends_in_gaps(clock, recent):
    recent.note({0: 0.5, 1: 1.0})
    clock.now += 5
    recent.note({0: 0.5})
    clock.now += 5
    assert recent.past(2).cores == {0: (50, 50), 1: (100, None)}


def test_sampler_is_noted_and_gives_the_same(clock, recent):
    assert recent.noting(lambda: {0: 0.25})() == {0: 0.25}
    clock.now += 5
    assert recent.past(1).cores == {0: (25,)}


def test_clock_is_read_by_one_thread_at_a_time():
    """Who waited with the step of before began it anew: the strips of two pages were not the same for five minutes."""
    held = []
    recent = RecentLoads(lambda: held.append(recent._lock.locked()) or 5.0)
    recent.note({0: 0.5})
    recent.past()
    assert held == [True, True]
