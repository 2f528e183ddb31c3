"""Real runners from a real launcher, and ways to wait for what they do."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from jobs.execution import log, moment
from jobs.execution.program import script_file
from jobs.execution.rundir import CANCEL, RESULT, SPEC, STARTED, RunDir
from jobs.execution.spec import Result, Spec
from jobs.execution.tree import marked, process

DEADLINE_SECONDS = 30
ROOT = Path(__file__).parents[2]
START = "import sys; sys.path.insert(0, sys.argv[1]); from jobs.execution.launcher import main; main(int(sys.argv[2]))"


def until(condition, what="the condition", seconds=DEADLINE_SECONDS):
    """Wait until `condition()` is true and return its value."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what} did not come within {seconds} s"
        time.sleep(0.01)
    return value


def ended(pidfd, seconds=DEADLINE_SECONDS):
    return bool(select.select([pidfd], [], [], seconds)[0])


class RealLauncher:
    def __init__(self, log_file):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, Path(log_file).open("ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-X", "utf8", "-c", START, str(ROOT), str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stderr=errors, start_new_session=True,
            )  # fmt: skip

    def ask(self, path):
        self.socket.send(os.fsencode(path))
        data, fds, _, _ = socket.recv_fds(self.socket, 4096, 2)
        return json.loads(data), fds

    def close(self):
        self.socket.close()
        self.process.wait(DEADLINE_SECONDS)


class Running:
    """An attempt that was handed to a runner."""

    def __init__(self, path, pid, pidfd, notes, token):
        self.path, self.pid, self.pidfd, self.notes, self.token = path, pid, pidfd, notes, token

    def file(self, name):
        with RunDir(str(self.path)) as rundir:
            return rundir.read_json(name)

    @property
    def job(self):
        return until(lambda: self.file(STARTED), "the start of the job")["pid"]

    @property
    def text(self):
        return log.read_text(self.path, limit=1 << 24).text

    def prints(self, text):
        until(lambda: text in self.text, f"the output of {text!r}")

    def cancel(self):
        (Path(self.path) / CANCEL).touch()
        signal.pidfd_send_signal(self.pidfd, signal.SIGTERM)

    def result(self):
        assert ended(self.pidfd), "the runner did not end"
        return Result.from_json(self.file(RESULT))

    def alive(self):
        """Processes that carry this attempt's token, wherever they are now."""
        return marked(self.token, None)


@pytest.fixture(scope="session")
def launcher(tmp_path_factory):
    launcher = RealLauncher(tmp_path_factory.mktemp("launcher") / "log")
    yield launcher
    launcher.close()


@pytest.fixture
def attempt(launcher, tmp_path):
    """Start an attempt: attempt("echo hi", timeout_seconds=3) -> Running."""
    started = []

    def start(body="true", kind="command", path=None, wanted=True, **fields):
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
        reply, (pidfd, notes) = launcher.ask(path)
        running = Running(path, reply["pid"], pidfd, notes, token)
        started.append(running)
        return running

    yield start
    for running in started:
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            running.cancel()
        assert ended(running.pidfd)
        for left in running.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(left.pid, signal.SIGKILL)
        os.close(running.pidfd)
        os.close(running.notes)


def is_alive(pid):
    one = process(pid)
    return bool(one and one.alive)
