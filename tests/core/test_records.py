"""Records of the core: frozen values, and what makes another of one."""

from dataclasses import asdict, replace
from datetime import UTC, datetime

from jobs.core.records import Blame, Instance
from jobs.core.states import Status

MOMENT = datetime(2026, 3, 1, tzinfo=UTC)


def test_a_move_keeps_all_that_it_does_not_change():
    """It names each field by itself: one that it forgot would be set back, silently."""
    blame = Blame(1, "a", Status.FAILED)
    one = Instance(7, 8, Status.QUEUED, MOMENT, MOMENT, 2, 9, MOMENT, 5, 3, 1, None, True, True, blame, True)
    assert all(value for name, value in asdict(one).items() if name != "retry_at")
    assert one.moved(Status.RUNNING) == replace(one, status=Status.RUNNING)
