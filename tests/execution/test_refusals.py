"""What the machine refuses just now is tried again: whatever is dropped is reported by nobody."""

import os
import signal
import uuid
from collections import deque

import pytest

from jobs.core.states import OutcomeKind
from jobs.execution import loop, watcher
from jobs.execution.claim import ForeignHolderError
from jobs.execution.launch import Ended, Started
from tests.execution.driver import launch_of


@pytest.fixture
def refuse(monkeypatch):
    """refuse(module, name, error...): the function fails with each error in turn, then works."""
    monkeypatch.setattr(loop, "LATER_SECONDS", 0.05)

    def begin(module, name, *errors):
        real, left = getattr(module, name), deque(errors)

        def refusing(*args, **named):
            if left:
                raise left.popleft()
            return real(*args, **named)

        monkeypatch.setattr(module, name, refusing)
        return left

    return begin


NO_FILES = OSError(24, "Too many open files")
FOREIGN = ForeignHolderError("/a/directory")


def test_start_that_cannot_look_is_made_later(node, refuse):
    left = refuse(watcher, "settle", NO_FILES, FOREIGN)
    launch = launch_of("exit 4", uuid.uuid4().hex)
    node.executor.launch(launch)
    assert node.outcome(launch.ref).exit_code == 4
    assert not left


def test_second_try_that_cannot_look_is_made_later(node, refuse):
    node.outcome(node.launch())
    ref = node.launch("echo ready; sleep 0.5; exit 4", 2)
    left = refuse(watcher, "settle", NO_FILES, FOREIGN)
    os.kill(node.launcher_pid(), signal.SIGKILL)
    other = node.launch("exit 5", 3)
    assert (node.outcome(ref).exit_code, node.outcome(other).exit_code) == (4, 5)
    assert not left


@pytest.mark.parametrize("name", ["read_result", "settle", "left_of"])
def test_end_that_cannot_be_read_is_read_later(node, refuse, name):
    ref = node.launch("echo ready; exec sleep 600")
    node.prints(ref, "ready")
    left = refuse(watcher, name, NO_FILES, FOREIGN)
    os.kill(node.runner_pid(ref), signal.SIGKILL)
    assert node.outcome(ref).kind == OutcomeKind.LOST
    assert [type(report) for report in node.reports.of(ref)] == [Started, Ended]
    assert not left
