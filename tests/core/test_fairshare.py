"""Fair shares: what tenants get while they wait, and that nothing is saved up or forgotten."""

import heapq
from itertools import combinations, count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.core.fairshare import GREATEST_WEIGHT, LEAST_WEIGHT, UNIT, InvalidWeight, StartTags

ORIGIN = 1_767_000_000_000_000
WEIGHTS = {"a": 1.0, "b": 2.0, "c": 0.5, "d": 3.0}


class Site:
    """One queue and what came out of it: per start, who it was and who was waiting then."""

    def __init__(self, weights=WEIGHTS):
        self.weights = weights
        self.tags = StartTags(weights)
        self.queue = []
        self.history = []
        self.ids = count()

    def submit(self, tenant, times=1):
        return [self._submit(tenant) for _ in range(times)]

    def _submit(self, tenant):
        place = (self.tags.place(tenant, ORIGIN), next(self.ids), tenant)
        heapq.heappush(self.queue, place)
        return place

    def start(self, times=1):
        """Who started, as a text of one letter each."""
        return "".join(self._start() for _ in range(min(times, len(self.queue))))

    def _start(self):
        waiting = {tenant for _, _, tenant in self.queue}
        key, _, tenant = heapq.heappop(self.queue)
        self.tags.started(key, tenant)
        self.history.append((tenant, waiting))
        return tenant

    def cancel(self, place):
        self.queue.remove(place)
        heapq.heapify(self.queue)
        self.tags.dropped(place[0], place[2])

    def restart(self):
        """All that is left is what waits."""
        self.tags = StartTags(self.weights)
        for key, _, tenant in reversed(self.queue):
            self.tags.seen(key, tenant)


def unfairness(site, since=0):
    """By how much two tenants' shares differed beyond one instance of each, at worst, while both were waiting."""
    worst = -1.0
    for one, other in combinations(site.weights, 2):
        worth = {tenant: 1 / site.weights[tenant] for tenant in (one, other)}
        lead = lowest = highest = 0.0
        for tenant, waiting in site.history[since:]:
            if not waiting >= {one, other}:
                lead = lowest = highest = 0.0
                continue
            lead += {one: worth[one], other: -worth[other]}.get(tenant, 0.0)
            worst = max(worst, lead - lowest - sum(worth.values()), highest - lead - sum(worth.values()))
            lowest, highest = min(lowest, lead), max(highest, lead)
    return worst


ROUNDING = 0.01
steps = st.lists(st.sampled_from([*WEIGHTS, "start", "start", "start"]), max_size=150)


def walk(site, what):
    for step in what:
        if step == "start":
            site.start()
        else:
            site.submit(step)


@given(steps)
@settings(max_examples=300, deadline=None)
def test_shares_differ_by_one_each_at_most(what):
    site = Site()
    walk(site, what)
    site.start(len(what))
    assert unfairness(site) <= ROUNDING


@given(steps, steps)
@settings(max_examples=300, deadline=None)
def test_shares_stay_fair_over_a_restart(before, after):
    site = Site()
    walk(site, before)
    site.restart()
    walk(site, after)
    site.start(len(before) + len(after))
    # Virtual time is found again to within one instance, so a tenant that comes after it may be ahead by one more.
    assert unfairness(site) <= ROUNDING + 1 / min(WEIGHTS.values())


@given(steps)
@settings(deadline=None)
def test_those_who_wait_go_on_as_before_a_restart(what):
    calm, restarted = Site(), Site()
    for site in (calm, restarted):
        walk(site, what)
        site.submit("a", 5)
    restarted.restart()
    for site in (calm, restarted):
        site.submit("a", 5)
    assert restarted.start(200) == calm.start(200)


def test_weight_three_gets_three_of_four():
    site = Site({"a": 3.0})
    site.submit("a", 40)
    site.submit("b", 40)
    started = site.start(40)
    assert (started.count("a"), started.count("b")) == (30, 10)


def test_idle_tenant_saves_nothing_up():
    site = Site()
    site.submit("a", 200)
    site.start(100)
    site.submit("z", 50)
    started = site.start(20)
    assert 9 <= started.count("a") <= 11


def test_late_tenant_does_not_wait_for_a_backlog():
    site = Site({})
    site.submit("a", 1000)
    site.start(10)
    site.submit("b")
    assert "b" in site.start(2)


def test_quiet_site_owes_nobody_more_than_one():
    site = Site({})
    site.submit("a", 500)
    site.start(500)
    site.submit("a", 5)
    site.submit("b", 5)
    assert site.start(4) in ("abab", "baba")


def test_retry_with_an_old_place_moves_nothing_back():
    site = Site({})
    old = site.submit("a", 100)[0][0]
    site.start(100)
    site.tags.started(old, "a")
    assert site.submit("b")[0][0] == ORIGIN + 99 * UNIT


def test_restart_with_a_stale_one_gives_no_credit():
    # A retry of long ago still waits; whoever comes anew must not be put beside it.
    tags = StartTags({})
    tags.seen(ORIGIN, "a")
    for n in range(5):
        tags.seen(ORIGIN + (1000 + n) * UNIT, "b")
    assert tags.place("c", ORIGIN) == ORIGIN + 999 * UNIT


def test_least_and_greatest_key_tell_a_restart_all():
    whole, ends = StartTags(WEIGHTS), StartTags(WEIGHTS)
    keys = [ORIGIN + n * UNIT for n in range(10, 60)]
    for key in keys:
        whole.seen(key, "a")
    for key in (keys[-1], keys[0]):
        ends.seen(key, "a")
    assert [whole.place(tenant, 0) for tenant in "abac"] == [ends.place(tenant, 0) for tenant in "abac"]


def test_place_from_elsewhere_is_continued():
    tags = StartTags({})
    first = tags.place("a", ORIGIN)
    tags.seen(first + 7 * UNIT, "a")
    assert tags.place("a", ORIGIN) == first + 8 * UNIT


def test_cancelled_backlog_costs_its_tenant_nothing():
    site = Site({})
    site.submit("b", 20)
    for place in site.submit("a", 1000):
        site.cancel(place)
    site.submit("a", 20)
    assert 9 <= site.start(20).count("a") <= 11


def test_cancelled_in_the_middle_leaves_the_rest_in_place():
    site = Site({})
    places = site.submit("a", 5)
    site.cancel(places[1])
    assert site.submit("a")[0][0] == places[4][0] + UNIT


def test_cancelled_ones_of_long_ago_are_forgotten():
    site = Site({})
    for _ in range(5000):
        _, gone, _ = site.submit("a", 3)
        site.cancel(gone)
        site.start(2)
    assert len(site.tags._dropped["a"]) <= 4


@pytest.mark.parametrize("weight", [0, -1, 0.009, 100.5, float("inf"), float("nan")])
def test_impossible_weight_is_refused(weight):
    with pytest.raises(InvalidWeight, match=r"tenant 'a' is .*, but must be a number from 0\.01 to 100"):
        StartTags({"a": weight})


def test_decades_of_the_lightest_fit_the_column():
    starts = 20 * 366 * 86_400 * 1000
    assert 2**51 + starts * UNIT / LEAST_WEIGHT < 2**63


def test_greatest_weight_is_exact_enough():
    assert abs(UNIT / GREATEST_WEIGHT - round(UNIT / GREATEST_WEIGHT)) <= UNIT / GREATEST_WEIGHT / 1000
