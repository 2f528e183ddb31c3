"""Real runners from a real launcher, and ways to wait for what they do."""

import contextlib
import os
import sys
import uuid
from pathlib import Path

import pytest

from jobs.execution import cgroup_search, moment
from jobs.execution.loop import LoopClosedError
from jobs.execution.program import script_file
from jobs.execution.rundir import CANCEL, SPEC, RunDir
from jobs.execution.spec import Spec
from tests.execution.node import Node
from tests.execution.running import RealLauncher, Running, WaitsToBegin, end_marked, through


@pytest.fixture(scope="session")
def launcher(tmp_path_factory):
    launcher = RealLauncher(tmp_path_factory.mktemp("launcher") / "log")
    yield launcher
    launcher.close()


@pytest.fixture
def attempt(launcher, tmp_path):
    """Start an attempt: attempt("echo hi", timeout_seconds=3) -> Running."""
    started = []

    def start(body="true", kind="command", path=None, wanted=True, given=(), **fields):
        token = uuid.uuid4().hex
        path = Path(path or tmp_path / "runs" / token[:8])
        path.mkdir(parents=True)
        if kind == "script":
            (path / "job").mkdir()
            name = script_file(body)
            (path / "job" / name).write_text(body)
            (path / "job" / name).chmod(0o700)
            body = name
        env = {"PATH": os.defpath, "ROTA_TOKEN": token, "PYTHONUNBUFFERED": "1", **fields.pop("env", {})}
        values = {"interpreter": sys.executable, "kill_grace_seconds": 0.3, **fields}
        spec = Spec(token, 1, 1, kind, body, env=env, asked_at=moment.now(), **values)
        with RunDir(str(path)) as rundir:
            rundir.write_json(SPEC, spec.to_json())
        if not wanted:
            (path / CANCEL).touch()
        reply, (pidfd, notes) = launcher.ask(path, given)
        running = Running(path, reply["pid"], pidfd, notes, token)
        started.append(running)
        return running

    yield start
    for running in started:
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            running.cancel()
        assert through(running.notes)
        end_marked([running.token])
        os.close(running.pidfd)
        os.close(running.notes)


@pytest.fixture
def node(tmp_path):
    node = Node(tmp_path / "data żółw")
    yield node
    end_marked([ref.token for ref in node.refs])
    for executor in node.opened:
        try:
            executor.close()
        except LoopClosedError:
            continue
    end_marked([ref.token for ref in node.refs])
    cgroup_search.sweep(cgroup_search.bases(node.data_dir))


class Gate:
    """What a shell waits at until the test opens it: `attempt(f"echo ready; {gate}; exit 4")`."""

    def __init__(self, path):
        self.path = path

    def __str__(self):
        return f"until [ -e {self.path} ]; do sleep 0.02; done"

    def open(self):
        self.path.touch()


@pytest.fixture
def gate(tmp_path):
    return Gate(tmp_path / "gate")


@pytest.fixture
def ran(tmp_path):
    """The file that jobs append to, to be counted by."""
    return tmp_path / "ran"


@pytest.fixture
def waiting():
    waiting = WaitsToBegin()
    yield waiting
    waiting.close()
