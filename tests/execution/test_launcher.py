"""The launcher may die, refuse or be missing: each attempt still has one outcome."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from unittest.mock import Mock

import pytest

from jobs.core.running import RunOptions
from jobs.core.states import OutcomeKind
from jobs.execution import launcher as launcher_process
from jobs.execution.launching import LauncherProcess, Refused
from jobs.execution.local import LocalExecutor
from jobs.execution.runners import Runners
from jobs.execution.tree import process
from tests.execution.driver import launch_of
from tests.execution.node import Reports
from tests.execution.running import ROOT, RealLauncher
from tests.waiting import DEADLINE_SECONDS, until


def test_killed_launcher_costs_no_run(node, gate):
    ref = node.launch(f"echo ready; {gate}; exit 4")
    node.prints(ref, "ready")
    os.kill(node.launcher_pid(), signal.SIGKILL)
    assert node.outcome(node.launch("exit 5", 2)).exit_code == 5
    gate.open()
    assert node.outcome(ref).exit_code == 4


def test_attempts_on_their_way_when_the_launcher_dies_run_once(node, ran):
    node.outcome(node.launch("true"))
    refs = []
    for n in range(30):
        refs.append(node.launch(f"echo {n} >> {ran}", 100 + n))
        if n in (5, 15):
            launcher = until(lambda: node.line().launcher)  # none for a moment after the one that was killed before
            launcher.process.kill()
            until(lambda: all(node.reports.of(ref) for ref in refs))
    assert {node.outcome(ref).kind for ref in refs} == {OutcomeKind.SUCCESS}
    assert sorted(map(int, ran.read_text().split())) == list(range(30))


def test_launcher_leaves_no_zombies(node):
    ref = node.launch("echo $PPID", run=RunOptions(nice=1))  # after which its runner ends
    node.outcome(ref)
    runner = int(node.text(ref))
    until(lambda: process(runner) is None)


def test_launcher_that_cannot_start_is_said_so(tmp_path):
    reports = Reports()
    executor = LocalExecutor(tmp_path, reports, node="here", python="/no/python")
    executor.open()
    launch = launch_of("true", "t" * 32)
    executor.launch(launch)
    outcome = reports.outcome(launch.ref)
    executor.close()
    assert outcome.kind == OutcomeKind.LOST
    assert "no launcher: [Errno 2] No such file or directory: '/no/python'" in outcome.error


def test_launcher_that_always_dies_is_given_up(tmp_path):
    reports = Reports()
    executor = LocalExecutor(tmp_path, reports, node="here", python="/bin/false")
    executor.open()
    launch = launch_of("true", "t" * 32)
    executor.launch(launch)
    outcome = reports.outcome(launch.ref)
    executor.close()
    assert outcome.kind == OutcomeKind.LOST
    assert "could not be started in 3 tries: the launcher has ended" in outcome.error


@pytest.mark.parametrize(
    ("module", "call", "number", "words"),
    [(os, "fork", 11, "Resource temporarily unavailable"), (socket, "socketpair", 24, "Too many open files")],
)
def test_what_the_machine_refuses_is_an_answer(monkeypatch, module, call, number, words):
    """Without descriptors it ended, and with it all that it was asked for at the time."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    monkeypatch.setattr(module, call, Mock(side_effect=OSError(number, words)))
    with ours, theirs:
        launcher_process.launch(theirs, Runners(select.poll(), launcher_process.fork_runner), "/any", [], alone=False)
        assert json.loads(ours.recv(4096)) == {"error": f"{words} (errno {number})"}


def test_service_that_goes_without_reading_an_answer_is_gone(tmp_path):
    """Not an error: each service that was killed just then left a traceback in logs/launcher.log."""
    launcher = RealLauncher(tmp_path / "log")
    socket.send_fds(launcher.socket, [b"/no/run/directory"], [])
    assert select.select([launcher.socket], [], [], DEADLINE_SECONDS)[0]
    launcher.close()
    assert (launcher.process.returncode, (tmp_path / "log").read_text()) == (0, "")


def test_refused_fork_is_reported(node, monkeypatch):
    monkeypatch.setattr(LauncherProcess, "answer", lambda self: self.socket.recv(4096) and Refused("no (errno 11)"))
    ref = node.launch()
    assert node.outcome(ref).error == "could not be started: no process: no (errno 11)"
    assert node.reports.of(ref)[0].node_refused
    monkeypatch.undo()
    assert node.outcome(node.launch()).kind == OutcomeKind.SUCCESS


def test_launcher_and_runner_need_the_standard_library_only(launcher):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import jobs.execution.preload\n"
        "ours = {name for name in sys.modules if name.split('.')[0] not in sys.stdlib_module_names}\n"
        "print(sorted(name for name in ours if name not in ('jobs', 'jobs.execution', '__main__')))"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(ROOT)]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "jobs.execution.runner" in names
    assert set(json.loads(names.replace("'", '"'))) == {
        f"jobs.execution.{name}"
        for name in ("attempt", "beginning", "books", "cgroups", "claim", "cleanup", "confinement", "diskuse", "ending",
                     "escapes", "foldertree", "fresh", "hearing", "inuse", "launcher", "limits", "logwriter", "markers",
                     "mask", "masking", "moment", "mounts", "outputs", "own", "preload", "program", "pump", "rundir",
                     "runner", "runners", "samples", "secretfiles", "secrets", "serving", "shelf", "spawn", "spec",
                     "titles", "tree", "undumpable", "usage", "verdict", "warm")
    }  # fmt: skip
