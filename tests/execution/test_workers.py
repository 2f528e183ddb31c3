"""Threads that do one task after another, whatever becomes of each."""

import threading

from jobs.execution.workers import Workers
from tests.waiting import DEADLINE_SECONDS


def test_full_disk_is_told_in_one_line_and_the_next_is_done(caplog):
    workers, done = Workers("tidying", 1), threading.Event()

    def refused():
        raise OSError(28, "No space left on device", "pythons.tmp")

    workers.put(refused)
    workers.put(done.set)
    assert done.wait(DEADLINE_SECONDS)
    workers.close(DEADLINE_SECONDS)
    [said] = caplog.records
    assert said.getMessage() == "tidying goes on after an error: [Errno 28] No space left on device: 'pythons.tmp'"
    assert said.exc_info is None
