"""A pass costs by what changed and by kinds of needs, never by how many wait: lines that run are counted, not time."""

import gc
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from jobs.core.buckets import Bucket, Tokens
from jobs.core.cores import CoreManager
from jobs.core.engine import Engine
from jobs.core.inputs import InstanceSeen, JobChanged, LimitsChanged, ScheduleChanged
from jobs.core.limits import Rate
from jobs.core.order import ByPriority
from jobs.core.policies import FirePolicy, Overlap
from jobs.core.ready import Group, Needs, ReadySet
from jobs.core.records import Demand, Instance, Job
from jobs.core.states import Status
from jobs.core.triggers import FixedRate

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
OF_OLD = {"backfill": True, "logical_at": NOW - timedelta(days=30)}


def lines_run(work: Callable[[], object]) -> int:
    """How many lines run, each turn of a loop anew."""
    count = 0

    def trace(_frame, event, _argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    gc.disable()  # or what other tests left ends while we count, and its last lines count as ours
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


def engine_with(waiting: int, overlap: Overlap, **more) -> Engine:
    """So many of one job wait for a rate that lets none of them start; the job fires each minute."""
    engine = Engine(CoreManager([0]), order=ByPriority(), new_token=lambda: "t", uniform=lambda low, _: low)
    empty = Rate(Bucket(1e-6), Tokens(0, NOW))
    schedule = ScheduleChanged(1, 1, FixedRate(NOW, MINUTE), NOW, FirePolicy(overlap=overlap))
    engine.step(NOW, [LimitsChanged({}, {"slow": empty}), JobChanged(Job(1, rates=("slow",))), schedule])
    one = replace(Instance(0, 1, Status.QUEUED, NOW, NOW, queued_at=NOW), **more)
    engine.step(NOW, (InstanceSeen(replace(one, id=number, order_key=number)) for number in range(1, waiting + 1)))
    return engine


@pytest.mark.parametrize("overlap", [Overlap.ALLOW, Overlap.SKIP, Overlap.QUEUE])
@pytest.mark.parametrize("more", [{}, OF_OLD], ids=["submitted", "backfill"])
def test_fire_costs_the_same_however_many_wait(overlap, more):
    few, many = (engine_with(waiting, overlap, **more) for waiting in (30, 600))
    costs = [lines_run(lambda: engine.step(NOW + MINUTE, ())) for engine in (few, many)]  # noqa: B023 - called at once
    assert costs[0] == costs[1]


def test_one_more_costs_the_same_however_many_wait():
    costs = []
    for engine in (engine_with(30, Overlap.ALLOW), engine_with(600, Overlap.ALLOW)):
        one = Instance(9999, 1, Status.QUEUED, NOW, NOW, queued_at=NOW, order_key=9999)
        costs.append(lines_run(lambda: engine.step(NOW, [InstanceSeen(one)])))  # noqa: B023 - called at once
    assert costs[0] == costs[1]


def test_those_that_started_cost_no_later_pass():
    """They were passed over again at each look at those behind them."""
    costs = []
    for gone in (30, 600):
        group = Group(Needs(Demand()))
        for number in range(2000):
            group.add((number, number))
        for number in range(1, gone):
            group.remove((number, number))
        lines_run(lambda: take_two(group))  # noqa: B023 - called at once
        costs.append(lines_run(lambda: take_two(group)))  # noqa: B023 - called at once
    assert costs[0] == costs[1]


def test_end_costs_the_same_however_many_are_parked():
    """All that waited for another of their job came back at each end, to be parked again."""
    costs = []
    for waiting in (300, 3000):
        ready = ReadySet()
        for number in range(1, waiting + 1):
            ready.add(number, number, Needs(Demand(), alone=1))
            ready.park(number)
        costs.append(lines_run(lambda: ready.unpark(1)))  # noqa: B023 - called at once
        assert len(ready) == 1
    assert costs[0] == costs[1]


def take_two(group: Group) -> None:
    looked_at = group.in_order()
    next(looked_at), next(looked_at)
    looked_at.close()
