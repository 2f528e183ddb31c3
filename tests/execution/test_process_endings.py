"""The table of docs/process-endings.md, cell by cell: what a job does, times how its attempt comes to an end.

All rows of a column are played at once, so that the whole table takes seconds.
"""

import contextlib
import os
import sys
import uuid
from functools import cache
from typing import NamedTuple

import pytest

from jobs.core.records import Allocation, Outcome
from jobs.core.running import RunOptions
from jobs.execution import cgroup_search, cgroups, log, prepare
from jobs.execution.launch import AttemptRef, RecoveryKind
from jobs.execution.loop import LoopClosedError
from jobs.execution.tree import marked
from tests.execution.node import Node, Service
from tests.execution.running import is_alive, until

GRACE_SECONDS, TIMEOUT_SECONDS, LIMITED = 0.3, 2.0, {"max_processes": 30}
WAIT = 'while [ ! -e "GO" ]; do sleep 0.05; done'
UNTIL_IT_STOPS = 'until grep -q "^State:.T" /proc/$$/status; do sleep 0.05; done'  # a CONT before would be of no use
ZOMBIES = """
import os, time
for _ in range(20):
    if not os.fork():
        os._exit(0)
print("ready", flush=True)
while not os.path.exists("GO"):
    time.sleep(0.05)
"""
STORM = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
try:
    for _ in range(100):
        if not os.fork():
            time.sleep(600)
except BlockingIOError:
    print("ready", flush=True)
while not os.path.exists("GO"):
    time.sleep(0.05)
"""
JOBS = {
    "ignores TERM": f"trap '' TERM; echo ready; {WAIT}",
    "double-forked daemon": f"( ( sleep 601 & ) & ); echo ready; {WAIT}",
    "setsid": f"setsid sh -c 'trap \"\" TERM; sleep 602; sleep 603' & echo ready; {WAIT}",
    "kill 0": f"trap : TERM; sleep 604 & kill 0; sleep 605 & echo ready; {WAIT}",
    "stops itself": f"({WAIT}; {UNTIL_IT_STOPS}; kill -CONT $$) & echo ready; kill -STOP $$; exit 0",
    "zombie maker": f"exec {sys.executable} -c '{ZOMBIES}'",
    "fork storm to its limit": f"exec {sys.executable} -c '{STORM}'",
}
STATES = {"cancel": "cancelled", "timeout": "timeout", "normal end": "success", "service stop": "success",
          "service kill": "success"}  # fmt: skip


class Cell(NamedTuple):
    """`alive`: whether the job was, once a new service had looked; `left`: processes after the end."""

    outcome: Outcome
    ends: int
    left: int
    recovery: RecoveryKind | None = None
    alive: bool = False


class Column:
    """One ending, of one attempt of each job."""

    def __init__(self, folder):
        self.folder = folder
        self.go = folder / "go"
        self.bases = cgroup_search.bases(folder)
        self.node = None
        self.refs = {}

    def fields(self, name, **more):
        core = min(os.sched_getaffinity(0))
        return {"kill_grace_seconds": GRACE_SECONDS, "allocation": Allocation((core,), 0, 0),
                "run": RunOptions(**LIMITED), **more}  # fmt: skip

    def launch_all(self, **more):
        self.node = self.node or Node(self.folder)
        self.refs = {
            name: self.node.launch(body.replace("GO", str(self.go)), number, **self.fields(name, **more))
            for number, (name, body) in enumerate(JOBS.items(), 1)
        }
        return self.refs

    def ready(self):
        for ref in self.refs.values():
            until(lambda ref=ref: "ready" in log.read_text(prepare.path_of(self.folder / "runs", ref)).text)

    def cells(self, **more):
        return {name: self.cell(ref, **{key: by[name] for key, by in more.items()}) for name, ref in self.refs.items()}

    def cell(self, ref, **more):
        outcome = self.node.outcome(ref)
        inside = [pid for folder in cgroups.folders_of(self.bases, ref.token) for pid in cgroups.members(folder)]
        left = {one.pid for one in marked(ref.token, None)} | set(inside)
        return Cell(outcome, len(self.node.reports.ends(ref)), len(left), **more)

    def adopted(self):
        """The cells of a column in which another service takes over, after which the jobs end by themselves."""
        recovery = {name: self.node.executor.recover(ref).kind for name, ref in self.refs.items()}
        alive = {name: any(is_alive(one.pid) for one in marked(ref.token, None)) for name, ref in self.refs.items()}
        self.go.touch()
        return self.cells(recovery=recovery, alive=alive)

    def close(self):
        for ref in self.refs.values():
            for folder in cgroups.folders_of(self.bases, ref.token):
                cgroups.kill_all(folder)
        for executor in self.node.opened if self.node else ():
            with contextlib.suppress(LoopClosedError):
                executor.close()
        cgroup_search.sweep(self.bases)

    # --- The endings ---

    def cancel(self):
        self.launch_all()
        self.ready()
        for ref in self.refs.values():
            self.node.executor.cancel(ref)
        return self.cells()

    def timeout(self):
        self.launch_all(timeout_seconds=TIMEOUT_SECONDS)
        return self.cells()

    def normal_end(self):
        self.launch_all()
        self.ready()
        self.go.touch()
        return self.cells()

    def service_stop(self):
        self.launch_all()
        self.ready()
        self.node.executor.close()
        self.node.restart()
        return self.adopted()

    def service_kill(self):
        service = Service(self.folder)
        self.refs = {name: AttemptRef(number, 1, uuid.uuid4().hex) for number, name in enumerate(JOBS, 1)}
        for name, ref in self.refs.items():
            body = JOBS[name].replace("GO", str(self.go))
            service.launch(body, ref.token, ref.instance_id, kill_grace_seconds=GRACE_SECONDS, run=LIMITED)
        self.ready()
        service.kill()
        self.node = Node(self.folder)
        return self.adopted()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """table(ending): its cells by job."""
    columns, tried = [], set()

    @cache
    def played(ending):
        assert ending not in tried, "it has failed in another cell"
        tried.add(ending)
        columns.append(Column(tmp_path_factory.mktemp("column")))
        return getattr(columns[-1], ending.replace(" ", "_"))()

    yield played
    for column in columns:
        column.close()


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("ending", STATES)
def test_attempt_ends_as_documented_and_leaves_nothing(table, ending, job):
    if reason := cgroup_search.found().refusals.get("pids"):
        pytest.skip(f"where no cgroup can refuse a fork ({reason}), a job that passes its limit is ended as failed")
    cell = table(ending)[job]
    assert cell.outcome.kind == STATES[ending], cell.outcome.error
    assert (cell.ends, cell.left) == (1, 0)
    assert cell.recovery == (RecoveryKind.ADOPTED if ending.startswith("service") else None)
    assert cell.alive == ending.startswith("service")
