"""When a node counts as at work, and what it gives."""

from datetime import UTC, datetime, timedelta

import pytest

from jobs.models import Node
from jobs.nodes import STALE_AFTER, slots_of, state_of

NOW = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)


def node(**fields):
    return Node(**({"heartbeat_at": NOW, "started_at": NOW} | fields))


def test_node_that_beats_is_live():
    assert state_of(node(heartbeat_at=NOW - STALE_AFTER), NOW) == "live"


@pytest.mark.parametrize("heartbeat_at", [None, NOW - STALE_AFTER - timedelta(seconds=1), NOW - timedelta(days=2)])
def test_node_that_says_nothing_is_stale(heartbeat_at):
    assert state_of(node(heartbeat_at=heartbeat_at), NOW) == "stale"


def test_node_that_signed_off_is_stopped():
    assert state_of(node(stopped_at=NOW), NOW) == "stopped"


def test_stop_after_a_clock_jump_back_counts():
    assert state_of(node(stopped_at=NOW - timedelta(hours=1)), NOW) == "stopped"


def test_slots_are_cores_times_overcommit():
    assert slots_of(node(cores=[0, 1, 2, 3], overcommit=1.5)) == 6
    assert slots_of(node(cores=[0, 1, 2], overcommit=1.0)) == 3


def test_node_without_known_cores_has_no_slots():
    assert slots_of(node(cores=[])) == 0
