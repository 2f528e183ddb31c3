"""What the machine refuses just now is tried again: whatever is dropped is reported by nobody."""

import os
import signal
import sys
import uuid
from collections import deque

import pytest

from jobs.core.states import OutcomeKind
from jobs.execution import loop, watcher
from jobs.execution.claim import ForeignHolderError
from jobs.execution.launch import Ended, Started
from jobs.execution.prepare import prepare
from jobs.execution.rundir import CANCEL, RunDir
from tests.execution.driver import launch_of
from tests.execution.running import until


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


@pytest.fixture
def full_disk(monkeypatch):
    """It takes no wish; the list of those that it refused. `monkeypatch.undo` frees it."""
    refused = []
    real = RunDir.open

    def refusing(self, name, flags):
        if name == CANCEL and flags & os.O_CREAT:
            refused.append(name)
            raise OSError(28, "No space left on device")
        return real(self, name, flags)

    monkeypatch.setattr(loop, "LATER_SECONDS", 0.05)
    monkeypatch.setattr(RunDir, "open", refusing)
    return refused


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


def test_cancel_on_a_full_disk_reaches_the_runner(node, full_disk):
    ref = node.launch("echo ready; sleep 600")
    node.prints(ref, "ready")
    node.executor.cancel(ref)
    assert node.outcome(ref).kind == OutcomeKind.CANCELLED
    assert full_disk
    assert not (node.path(ref) / CANCEL).exists()
    until(lambda: not node.executor._loop._later)


def test_cancel_on_a_full_disk_is_written_later(node, full_disk, monkeypatch):
    """There is no runner yet to be told."""
    launch = launch_of("true", uuid.uuid4().hex)
    prepare(node.data_dir / "runs", launch, {}, sys.executable)
    node.executor.cancel(launch.ref)
    until(lambda: len(full_disk) > 2)
    monkeypatch.undo()
    until((node.path(launch.ref) / CANCEL).exists)
