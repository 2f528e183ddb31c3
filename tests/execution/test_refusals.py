"""What the machine refuses just now is tried again: whatever is dropped is reported by nobody."""

import os
import signal
import sys
import uuid
from collections import deque
from unittest.mock import Mock

import pytest

from jobs.core.states import OutcomeKind
from jobs.execution import loop, own, runner, starter, watcher
from jobs.execution.claim import ForeignHolderError
from jobs.execution.launch import Ended, Started
from jobs.execution.launching import LauncherProcess
from jobs.execution.prepare import prepare
from jobs.execution.rundir import CANCEL, RunDir
from tests.execution.driver import launch_of
from tests.waiting import until


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


def test_second_try_that_cannot_look_is_made_later(node, gate, refuse):
    node.outcome(node.launch())
    ref = node.launch(f"echo ready; {gate}; exit 4", 2)
    left = refuse(watcher, "settle", NO_FILES, FOREIGN)
    os.kill(node.launcher_pid(), signal.SIGKILL)
    other = node.launch("exit 5", 3)
    gate.open()
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


@pytest.mark.parametrize(
    ("place", "name"), [(starter, "prepare"), (LauncherProcess, "ask"), (LauncherProcess, "__init__")]
)
def test_fault_of_the_node_is_told_from_one_of_the_attempt(node, refuse, place, name):
    left = refuse(place, name, OSError(28, "No space left on device"))
    ref = node.launch()
    assert node.outcome(ref).kind == OutcomeKind.LOST
    [report] = node.reports.of(ref)
    assert report.node_refused
    assert not left
    assert node.outcome(node.launch(instance_id=2)).kind == OutcomeKind.SUCCESS


def test_fault_of_the_attempt_is_not_the_nodes(node):
    ref = node.launch("/no/such/file", kind="script_path")
    node.outcome(ref)
    assert not node.reports.of(ref)[0].node_refused


@pytest.mark.parametrize(("started_at", "refused"), [(None, True), (5.0, False)])
def test_failing_runner_says_whether_the_job_had_started(tmp_path, monkeypatch, started_at, refused):
    failing = Mock(started_at=started_at, run=Mock(side_effect=OSError(11, "Resource temporarily unavailable")))
    monkeypatch.setattr(runner, "Attempt", Mock(return_value=failing))
    monkeypatch.setattr(runner, "end_all", Mock())
    with RunDir(str(prepare(tmp_path, launch_of("true", "t" * 32), {}, sys.executable))) as rundir:
        _, result, _ = runner.live(rundir, 1, own.begun())
    assert (result.kind, result.started_at, result.node_refused) == ("lost", started_at, refused)
