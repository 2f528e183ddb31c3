"""What the runner, or a host, is told."""

import os

import pytest

from jobs.core.records import Allocation
from jobs.execution.prepare import cores_to_pin
from tests.execution.driver import launch_of


@pytest.mark.parametrize(
    ("model", "pooled", "pinned"),
    [("async", False, False), ("thread", False, False), ("process", True, True), ("process", False, True)],
)
def test_what_shares_a_process_with_others_is_not_pinned(model, pooled, pinned):
    core = min(os.sched_getaffinity(0))
    allocation = Allocation((core,), 0, 0)
    launch = launch_of("shop.jobs.close", "t", kind="callable", model=model, pooled=pooled, allocation=allocation)
    assert cores_to_pin(launch) == ([core] if pinned else None)
