"""The node's executor. Each attempt is a process of its own that outlives the service; this starts and watches them.

The order of the steps, and what a crash between any two of them means, is docs/crash-safety.md.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from jobs.execution import cgroup_search, ownlogs, secretfiles
from jobs.execution.environment import NODE_FILE, environment_of
from jobs.execution.hosting import Hosts
from jobs.execution.hostprocess import HostProcess, sweep
from jobs.execution.launch import AttemptRef, Launch, Recovery, RecoveryKind, Report
from jobs.execution.launching import LauncherProcess
from jobs.execution.loop import Loop
from jobs.execution.settle import NEVER_RAN, Gone, Holder, lost, outcome_of, settle, started_facts, utc
from jobs.execution.spec import Result
from jobs.execution.starter import Starter
from jobs.execution.watcher import Watcher


class LocalExecutor:
    def __init__(
        self,
        data_dir: Path,
        report: Callable[[Report], None],
        *,
        node: str,
        python: str = sys.executable,
        warm_imports: Sequence[str] = (),
    ) -> None:
        """`report` is called in the executor's thread; it must not wait for anything, least of all for this object.

        node: its name, for ROTA_NODE. python: runs the launcher, and the scripts that have no interpreter of their
        own. warm_imports: modules to load before such scripts that start warm do.
        """
        self._data_dir = data_dir
        self._runs = data_dir / "runs"
        self._logs = data_dir / "logs"
        self._cgroups = cgroup_search.bases(data_dir)
        self._loop = Loop("executor")
        self._watcher = Watcher(self._loop, report, self._runs, self._cgroups)
        self._mark = f"{data_dir.resolve()}#"
        self._hosts = Hosts(self._loop, self._watcher, report, self._start_host)
        self._starter = Starter(
            self._loop,
            self._watcher,
            report,
            self._runs,
            start_launcher=lambda interpreter, warm: LauncherProcess(
                interpreter,
                self._logs / ownlogs.LAUNCHERS,
                warm=warm,
                imports=warm_imports if warm and interpreter == python else (),
            ),
            environment=partial(environment_of, node=node, node_file=data_dir / NODE_FILE),
            python=python,
            cgroups=self._cgroups,
            hosts=self._hosts,
            start_project=lambda: LauncherProcess(python, self._logs / ownlogs.LAUNCHERS, project=True),
        )

    def _start_host(self, program: str) -> HostProcess:
        return HostProcess(program, f"{self._mark}{uuid.uuid4().hex}", self._logs / ownlogs.HOSTS)

    def open(self) -> None:
        """Begin to work. OSError if the data folder cannot be written."""
        for folder in (self._data_dir, self._runs, self._logs):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        secretfiles.sweep(str(self._runs))
        cgroup_search.sweep(self._cgroups)
        cgroup_search.make_bases(self._cgroups)
        sweep(self._mark)
        self._loop.start()

    def close(self) -> None:
        """Do what was asked so far, then stop, within seconds whatever hangs.

        Runners live on, to be adopted by the next executor.
        """
        self._hosts.end()
        self._loop.post(self._watcher.forget_all)
        self._loop.stop()
        self._starter.close()
        cgroup_search.sweep(self._cgroups)

    def end_hosts(self) -> None:
        """End the callables that cannot outlive the service, within seconds; what becomes of them is reported."""
        self._hosts.end()

    def launch(self, launch: Launch) -> None:
        """Start the attempt, whose row must be durable. Returns at once: what comes of it is reported."""
        self._loop.post(partial(self._starter.start, launch))

    def cancel(self, ref: AttemptRef) -> None:
        """Wish it to end; again is fine, and so is after its end. The outcome tells which came first."""
        self._loop.post(partial(self._cancel, ref))

    def _cancel(self, ref: AttemptRef) -> None:
        if not self._hosts.cancel(ref):
            self._watcher.cancel(ref)

    def recover(self, ref: AttemptRef) -> Recovery:
        """What became of an attempt that another incarnation of the service launched, or meant to.

        After NEVER_RAN, `launch` it again with the same token. ADOPTED includes one whose runner was killed and of
        which processes are still being ended. ForeignHolderError if its runner is alive but out of sight.
        """
        path = self._watcher.path(ref)
        with self._watcher.settling:
            settled = settle(path)
        vanished = settled is NEVER_RAN and not Path(path).exists()  # it did run, if something of it is alive
        if settled is NEVER_RAN and not (vanished and self._watcher.left_of(ref)):
            return Recovery(RecoveryKind.NEVER_RAN)
        if isinstance(settled, Result):
            return Recovery(RecoveryKind.ENDED, outcome_of(settled))
        why = settled.why if isinstance(settled, Gone) else ""
        facts = started_facts(path)
        if isinstance(settled, Holder):
            self._loop.post(partial(self._watcher.adopt, ref, settled, started=bool(facts)))
        elif self._watcher.left_of(ref):
            self._loop.post(partial(self._watcher.sweep, ref, why))
        else:
            return Recovery(RecoveryKind.LOST, lost(path, ref.token, 0, why))
        started_at = utc(facts["at"]) if facts else None
        return Recovery(RecoveryKind.ADOPTED, started_at=started_at)

    def forget(self, ref: AttemptRef) -> None:
        """Its outcome is durable: watch it no more."""
        self._loop.post(partial(self._watcher.forget, ref))

    def nudge(self) -> None:
        """Have go on what a job has stopped (`kill -STOP $PPID`), and keep the logs of launchers and hosts small; to be
        called now and then, as with each heartbeat.
        """
        self._loop.post(self._watcher.nudge)
        self._loop.post(self._starter.nudge)
        self._loop.post(self._hosts.nudge)
        self._loop.post(partial(ownlogs.bound, self._logs))

    def ask(self, answered: Callable[[], None]) -> None:
        """Have `answered` called from the executor's thread, which shows that it takes what it is asked."""
        self._loop.post(answered)
