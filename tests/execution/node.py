"""A node in a test: a data folder, an executor on it, what it reports, and a service that can be killed."""

import json
import subprocess
import sys
import threading
import uuid

from jobs.execution import claim, log
from jobs.execution.launch import Started
from jobs.execution.local import LocalExecutor
from jobs.execution.prepare import path_of
from jobs.execution.rundir import RunDir
from jobs.execution.tree import all_processes
from tests.execution.driver import launch_of
from tests.execution.running import ROOT
from tests.waiting import DEADLINE_SECONDS, until


class Reports:
    def __init__(self):
        self.all = []
        self.changed = threading.Condition()

    def __call__(self, report):
        with self.changed:
            self.all.append(report)
            self.changed.notify_all()

    def of(self, ref):
        return [report for report in self.all if report.ref == ref]

    def outcome(self, ref):
        """Wait for the outcome of the attempt: the one and only that is reported."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.ends(ref), DEADLINE_SECONDS)
        [end] = self.ends(ref)
        return end.outcome

    def ends(self, ref):
        return [report for report in self.of(ref) if not isinstance(report, Started)]

    def started(self, ref):
        with self.changed:
            assert self.changed.wait_for(lambda: self.of(ref), DEADLINE_SECONDS)
        return self.of(ref)[0]


class Node:
    """A data folder, the executor on it, and a way to have another one after a crash."""

    def __init__(self, data_dir):
        self.data_dir = data_dir
        self.opened = []
        self.refs = []
        self.restart()

    def restart(self):
        self.reports = Reports()
        self.executor = LocalExecutor(self.data_dir, self.reports, node="here")
        self.executor.open()
        self.opened.append(self.executor)
        return self.executor

    def launch(self, body="true", instance_id=1, **fields):
        launch = launch_of(body, uuid.uuid4().hex, instance_id, **fields)
        self.refs.append(launch.ref)
        self.executor.launch(launch)
        return launch.ref

    def path(self, ref):
        return path_of(self.data_dir / "runs", ref)

    def text(self, ref):
        return log.read_text(self.path(ref)).text

    def prints(self, ref, text):
        until(lambda: text in self.text(ref))

    def outcome(self, ref):
        return self.reports.outcome(ref)

    def start_method(self, ref):
        self.outcome(ref)
        return json.loads((self.path(ref) / "result.json").read_text())["start_method"]

    def warm_up(self):
        """Wait until scripts start warm."""
        until(lambda: self.start_method(self.launch("", kind="script")) == "warm")

    def line(self, warm=False, interpreter=sys.executable):
        lines = self.executor._starter._lines
        return lines._warm.get(interpreter) if warm else lines.cold

    def launcher_pid(self, warm=False, interpreter=sys.executable):
        return self.line(warm, interpreter).launcher.process.pid

    def runner_pid(self, ref):
        with RunDir(str(self.path(ref))) as rundir:
            return until(lambda: claim.holder(rundir))


class Service:
    """The driver in a process of its own."""

    def __init__(self, data_dir):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.execution.driver", data_dir], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def launch(self, body, token, instance_id, **fields):
        line = {"body": body, "token": token, "instance_id": instance_id, **fields}
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def reports(self, count):
        return [json.loads(self.process.stdout.readline()) for _ in range(count)]

    def started(self, count):
        """Wait until so many have: those that began first may have ended by then."""
        while count:
            count -= self.reports(1)[0]["report"] == Started.__name__

    def launcher(self):
        return next(one.pid for one in all_processes() if one.parent == self.process.pid)

    def kill(self):
        self.process.kill()
        self.process.communicate()
