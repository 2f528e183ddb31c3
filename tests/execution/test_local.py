"""The executor starts attempts, reports each once, and takes up again what a crash has left."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest

from jobs.core.records import Allocation
from jobs.core.states import OutcomeKind
from jobs.execution import claim, log
from jobs.execution import launcher as launcher_process
from jobs.execution.launch import AttemptRef, Ended, NotStarted, RecoveryKind, Started
from jobs.execution.launching import LauncherProcess, Refused
from jobs.execution.local import LocalExecutor
from jobs.execution.loop import LoopClosedError
from jobs.execution.prepare import path_of, prepare
from jobs.execution.rundir import SPEC, RunDir
from jobs.execution.tree import all_processes, marked
from tests.execution.conftest import DEADLINE_SECONDS, ROOT, ended, is_alive, until
from tests.execution.driver import launch_of


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
        until(lambda: text in self.text(ref), f"the output of {text!r}")

    def outcome(self, ref):
        return self.reports.outcome(ref)

    def launcher_pid(self):
        return self.executor._starter._launcher.process.pid

    def runner_pid(self, ref):
        with RunDir(str(self.path(ref))) as rundir:
            return until(lambda: claim.holder(rundir), "the runner's claim")


@pytest.fixture
def node(tmp_path):
    node = Node(tmp_path / "data żółw")
    yield node
    for ref in node.refs:
        for left in marked(ref.token, None):
            os.kill(left.pid, signal.SIGKILL)
    for executor in node.opened:
        try:
            executor.close()
        except LoopClosedError:
            continue


# --- Launching ---


def test_start_and_end_are_reported_in_order(node):
    ref = node.launch("echo hi")
    outcome = node.outcome(ref)
    assert [type(report) for report in node.reports.of(ref)] == [Started, Ended]
    assert (outcome.kind, outcome.exit_code, outcome.error) == (OutcomeKind.SUCCESS, 0, "")
    assert node.reports.of(ref)[0].at == outcome.started_at <= outcome.ended_at
    assert node.text(ref) == "hi\n"


def test_many_at_once_each_end_once(node, tmp_path):
    refs = [node.launch(f"echo {n} >> {tmp_path}/ran", n) for n in range(60)]
    assert {node.outcome(ref).kind for ref in refs} == {OutcomeKind.SUCCESS}
    assert sorted(map(int, (tmp_path / "ran").read_text().split())) == list(range(60))
    assert len(node.reports.all) == 120


def test_script_is_written_and_run(node):
    ref = node.launch("print('żółw')\r\nprint(__file__)\r\n", kind="script")
    node.outcome(ref)
    assert node.text(ref) == f"żółw\n{node.path(ref)}/job/script.py\n"


def test_rejected_start_is_reported_as_not_started(node):
    ref = node.launch("/no/such/file", kind="script_path")
    outcome = node.outcome(ref)
    assert [type(report) for report in node.reports.of(ref)] == [NotStarted]
    assert outcome.kind == OutcomeKind.REJECTED
    assert "/no/such/file: No such file or directory (errno 2)" in outcome.error


def test_start_after_the_last_moment_is_not_made(node):
    ref = node.launch(start_before=datetime.now(UTC) - timedelta(seconds=5))
    assert node.outcome(ref).kind == OutcomeKind.LOST
    assert "too late" in node.outcome(ref).error


def test_private_files_are_for_their_owner_only(node):
    ref = node.launch("echo secret", kind="script")
    node.outcome(ref)
    modes = {file.stat().st_mode & 0o077 for file in node.path(ref).rglob("*")}
    assert modes == {0}


def test_launch_of_what_runs_already_starts_nothing(node, tmp_path):
    launch = launch_of(f"echo >> {tmp_path}/ran; sleep 0.5", "t" * 32)
    node.executor.launch(launch)
    node.reports.started(launch.ref)
    node.restart().launch(launch)
    assert node.outcome(launch.ref).kind == OutcomeKind.SUCCESS
    assert (tmp_path / "ran").read_text() == "\n"


def test_forgotten_attempt_is_watched_no_more(node):
    ref = node.launch("sleep 600")
    node.reports.started(ref)
    node.executor.forget(ref)
    until(lambda: node.executor.processes(ref) == [], "the end of watching")
    assert len(marked(ref.token, None)) == 1


def test_processes_are_those_of_the_tree(node):
    ref = node.launch("sleep 600 & sleep 601 & wait")
    until(lambda: len(node.executor.processes(ref)) == 3, "three processes")
    assert node.executor.processes(ref)[0] == node.reports.started(ref).pid
    node.executor.cancel(ref)
    node.outcome(ref)
    assert node.executor.processes(ref) == []


def test_closed_executor_refuses_work(node):
    node.executor.close()
    with pytest.raises(LoopClosedError, match="open another one"):
        node.launch()


# --- Cores ---


def test_attempt_with_cores_of_its_own_is_pinned(node):
    core = min(os.sched_getaffinity(0))
    ref = node.launch("grep Cpus_allowed_list /proc/self/status; nice", allocation=Allocation((core,), 0, 0))
    node.outcome(ref)
    assert node.text(ref).split() == ["Cpus_allowed_list:", str(core), "0"]


@pytest.mark.parametrize(("allocation", "nice"), [(Allocation((0,), 1, 0), 5), (Allocation((0, 900), 0, 0), 0)])
def test_attempt_without_cores_of_its_own_is_not_pinned(node, allocation, nice):
    """One virtual slot gives way to the pinned; cores beyond the machine are bookkeeping only."""
    ref = node.launch("nice; exec sleep 600", allocation=allocation)
    node.prints(ref, f"{nice}\n")
    [pid] = node.executor.processes(ref)
    assert os.sched_getaffinity(pid) == os.sched_getaffinity(0)


# --- Environment ---

SHOW = "import os, json; print(json.dumps(dict(os.environ)))"


def environment(node, **fields):
    ref = node.launch(SHOW, kind="script", **fields)
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS, node.outcome(ref).error
    return ref, json.loads(node.text(ref))


def test_environment_is_exactly_the_documented_one(node, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "secret")
    ref, env = environment(node, attempt=3, allocation=Allocation((0, 1), 1, 256), memory_limit_mb=256, fence=12,
                           env={"MINE": "$(touch /tmp/pwned)\n'x'"})  # fmt: skip
    assert env == {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(Path.home()),
        "LANG": "C.UTF-8", "OMP_NUM_THREADS": "3", "PYTHON_CPU_COUNT": "3", "PYTHONUNBUFFERED": "1",
        "MINE": "$(touch /tmp/pwned)\n'x'",
        "ROTA_INSTANCE_ID": "1", "ROTA_JOB_ID": "7", "ROTA_JOB_NAME": "a job", "ROTA_ATTEMPT": "3",
        "ROTA_LOGICAL_AT": "2030-01-02T03:04:05+00:00", "ROTA_NODE": "here", "ROTA_FENCE": "12", "ROTA_CORES": "0,1",
        "ROTA_TOKEN": ref.token, "ROTA_WORKSPACE": f"{node.path(ref)}/work",
        "JOB_ID": "7", "JOB_INSTANCE_ID": "1", "CPU_LIMIT": "3", "MEMORY_LIMIT_MB": "256",
    }  # fmt: skip


def test_node_file_and_job_override_the_base(node):
    (node.data_dir / "environment").write_text("# of this node\n\nPATH=/bin\nexport A='one two'\nLANG=C\nROTA_NODE=x\n")
    _, env = environment(node, env={"LANG": "de"})
    assert (env["PATH"], env["A"], env["LANG"], env["ROTA_NODE"]) == ("/bin", "one two", "de", "here")


def test_broken_node_file_is_named_with_its_line(node):
    (node.data_dir / "environment").write_text("A=1\nrm -rf\n")
    ref = node.launch()
    assert node.outcome(ref).kind == OutcomeKind.REJECTED
    assert "environment, line 2: found 'rm -rf', expected NAME=value" in node.outcome(ref).error


def test_output_is_utf8_however_the_service_was_started(tmp_path):
    command = json.dumps({"body": f"{sys.executable} -c \"print('na\\u00efve \\u6771\\u4eac')\"", "token": "t" * 32})
    subprocess.run([sys.executable, "-m", "tests.execution.driver", tmp_path / "d"], input=f"{command}\n", text=True,
                   encoding="utf-8", env={"LC_ALL": "C", "PYTHONPATH": str(ROOT)}, cwd=ROOT, check=True)  # fmt: skip
    path = path_of(tmp_path / "d" / "runs", AttemptRef(1, 1, "t" * 32))
    until(lambda: log.state(path).complete, "the end")
    assert log.read_text(path).text == "naïve 東京\n"


# --- Cancel ---


def test_cancel_ends_a_running_attempt(node):
    ref = node.launch("trap '' TERM; echo ready; while :; do sleep 0.1; done")
    node.prints(ref, "ready")
    node.executor.cancel(ref)
    node.executor.cancel(ref)
    assert node.outcome(ref).kind == OutcomeKind.CANCELLED
    assert marked(ref.token, None) == []


def test_cancel_right_after_launch_is_not_lost(node):
    refs = [node.launch("sleep 600", n) for n in range(10)]
    for ref in refs:
        node.executor.cancel(ref)
    assert {node.outcome(ref).kind for ref in refs} == {OutcomeKind.CANCELLED}


def test_cancel_after_the_end_reports_nothing_more(node):
    ref = node.launch("exit 3")
    node.outcome(ref)
    node.executor.cancel(ref)
    node.executor.close()
    assert [type(report) for report in node.reports.of(ref)] == [Started, Ended]


def test_cancel_of_the_unknown_is_harmless(node):
    node.executor.cancel(AttemptRef(99, 1, "nobody"))
    assert node.outcome(node.launch()).kind == OutcomeKind.SUCCESS


def test_wish_made_before_a_crash_is_carried_out_after_it(node):
    ref = node.launch("echo ready; sleep 600")
    node.prints(ref, "ready")
    node.executor.close()
    (node.path(ref) / "cancel").touch()
    assert node.restart().recover(ref).kind == RecoveryKind.ADOPTED
    assert node.outcome(ref).kind == OutcomeKind.CANCELLED


# --- Crashes, by the rows of the table ---


def runs_once(node, launch, ran):
    assert node.restart().recover(launch.ref).kind == RecoveryKind.NEVER_RAN
    node.executor.launch(launch)
    assert node.outcome(launch.ref).kind == OutcomeKind.SUCCESS
    return ran.read_text() == "ran\n"


@pytest.fixture
def ran(tmp_path):
    return tmp_path / "ran"


@pytest.fixture
def recording(ran):
    return launch_of(f"echo ran >> {ran}", uuid.uuid4().hex)


def test_crash_before_the_directory_starts_again(node, recording, ran):
    assert runs_once(node, recording, ran)


def test_crash_before_the_spec_starts_again(node, recording, ran):
    node.path(recording.ref).mkdir(parents=True)
    assert runs_once(node, recording, ran)


def test_crash_before_asking_starts_again(node, recording, ran):
    prepare(node.data_dir / "runs", recording, {}, sys.executable)
    assert runs_once(node, recording, ran)


def test_late_runner_after_recovery_runs_nothing(node, recording, ran, launcher):
    path = prepare(node.data_dir / "runs", recording, {}, sys.executable)
    assert node.executor.recover(recording.ref).kind == RecoveryKind.NEVER_RAN
    _, (pidfd, notes) = launcher.ask(path)
    assert ended(pidfd)
    assert not ran.exists()
    assert runs_once(node, recording, ran)
    os.close(pidfd)
    os.close(notes)


def test_late_runner_that_takes_the_new_directory_is_watched(node, recording, ran, launcher):
    """Forked for the old directory, it opens the new one first: the one that was asked for it finds it claimed."""
    prepare(node.data_dir / "runs", recording, {}, sys.executable)
    assert node.executor.recover(recording.ref).kind == RecoveryKind.NEVER_RAN
    _, (pidfd, notes) = launcher.ask(prepare(node.data_dir / "runs", recording, {}, sys.executable))
    node.executor.launch(recording)
    assert node.outcome(recording.ref).kind == OutcomeKind.SUCCESS
    assert ran.read_text() == "ran\n"
    os.close(pidfd)
    os.close(notes)


def test_attempt_that_ended_while_nobody_watched_has_its_outcome(node):
    ref = node.launch("exit 4")
    node.outcome(ref)
    for _ in range(2):
        recovery = node.restart().recover(ref)
        assert recovery.kind == RecoveryKind.ENDED
        assert recovery.outcome.exit_code == 4


def test_running_attempt_is_adopted(node):
    ref = node.launch("echo ready; sleep 0.5; exit 4")
    node.prints(ref, "ready")
    pid = node.reports.started(ref).pid
    node.executor.close()
    recovery = node.restart().recover(ref)
    assert (recovery.kind, recovery.pid) == (RecoveryKind.ADOPTED, pid)
    assert recovery.started_at is not None
    assert node.outcome(ref).exit_code == 4


def test_killed_runner_makes_a_lost_attempt_after_the_sweep(node):
    ref = node.launch("(setsid sleep 600 &); (sleep 601 &); echo ready; exec sleep 602")
    node.prints(ref, "ready")
    until(lambda: len(marked(ref.token, None)) == 3, "all processes")
    os.kill(node.runner_pid(ref), signal.SIGKILL)
    outcome = node.outcome(ref)
    assert outcome.kind == OutcomeKind.LOST
    assert "its runner was killed" in outcome.error
    assert marked(ref.token, None) == []
    assert outcome.started_at is not None
    assert log.state(node.path(ref)).complete


def test_runner_killed_while_nobody_watched_is_lost(node):
    ref = node.launch("(setsid sleep 600 &); echo ready; exec sleep 602")
    node.prints(ref, "ready")
    runner = node.runner_pid(ref)
    node.executor.close()
    os.kill(runner, signal.SIGKILL)
    until(lambda: not is_alive(runner), "the end of the runner")
    assert node.restart().recover(ref).kind == RecoveryKind.ADOPTED
    assert node.outcome(ref).kind == OutcomeKind.LOST
    assert marked(ref.token, None) == []
    assert node.restart().recover(ref).kind == RecoveryKind.ENDED


def test_lost_is_said_at_once_where_nothing_is_left(node):
    ref = node.launch("echo ready; exec sleep 602")
    node.prints(ref, "ready")
    runner, job = node.runner_pid(ref), node.reports.started(ref).pid
    node.executor.close()
    os.kill(runner, signal.SIGKILL)
    until(lambda: not is_alive(job), "the end of the job")
    recovery = node.restart().recover(ref)
    assert (recovery.kind, recovery.outcome.kind) == (RecoveryKind.LOST, OutcomeKind.LOST)


def test_process_without_the_token_is_swept_by_its_session(node):
    ref = node.launch("env -i sleep 600 & echo ready; exec sleep 601")
    node.prints(ref, "ready")
    job = node.reports.started(ref).pid
    until(lambda: len(session(job)) == 2, "both processes")
    os.kill(node.runner_pid(ref), signal.SIGKILL)
    assert node.outcome(ref).kind == OutcomeKind.LOST
    assert session(job) == []


def session(leader):
    return [one for one in all_processes() if one.session == leader and one.alive]


def test_machine_that_was_restarted_is_said_so(node, recording):
    path = prepare(node.data_dir / "runs", recording, {}, sys.executable)
    with RunDir(str(path)) as rundir:
        spec = rundir.read_json(SPEC)
        rundir.write_json(SPEC, {**spec, "asked_at": ["another boot", 1.0, 1.0]})
        fd = rundir.open("claim", os.O_RDWR | os.O_CREAT)
        claim.say(fd, claim.RUNNER)
        os.close(fd)
    recovery = node.executor.recover(recording.ref)
    assert recovery.kind == RecoveryKind.LOST
    assert recovery.outcome.error == "was lost: the machine was restarted before the end was recorded"


def test_result_that_cannot_be_read_is_lost_with_its_words(node):
    ref = node.launch()
    node.outcome(ref)
    (node.path(ref) / "result.json").write_text('{"kind": "succ')
    recovery = node.restart().recover(ref)
    assert recovery.outcome.kind == OutcomeKind.LOST
    assert "result.json holds" in recovery.outcome.error


def test_run_directory_removed_under_a_runner_is_lost(node):
    ref = node.launch("echo ready; sleep 600")
    node.prints(ref, "ready")
    subprocess.run(["/bin/rm", "-r", node.path(ref)], check=True)
    os.kill(node.reports.started(ref).pid, signal.SIGKILL)
    assert node.outcome(ref).kind == OutcomeKind.LOST


# --- The launcher ---


def test_killed_launcher_costs_no_run(node):
    ref = node.launch("echo ready; sleep 0.5; exit 4")
    node.prints(ref, "ready")
    os.kill(node.launcher_pid(), signal.SIGKILL)
    assert node.outcome(node.launch("exit 5", 2)).exit_code == 5
    assert node.outcome(ref).exit_code == 4


def test_attempts_on_their_way_when_the_launcher_dies_run_once(node, ran):
    node.outcome(node.launch("true"))
    refs = []
    for n in range(30):
        refs.append(node.launch(f"echo {n} >> {ran}", 100 + n))
        if n in (5, 15):
            os.kill(node.launcher_pid(), signal.SIGKILL)
            until(lambda: all(node.reports.of(ref) for ref in refs), "another launcher")
    assert {node.outcome(ref).kind for ref in refs} == {OutcomeKind.SUCCESS}
    assert sorted(map(int, ran.read_text().split())) == list(range(30))


def test_launcher_leaves_no_zombies(node):
    ref = node.launch("true")
    node.outcome(ref)
    pid = node.launcher_pid()
    until(lambda: not [one for one in all_processes() if one.parent == pid], "no children")


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


def test_refused_fork_is_an_answer(monkeypatch):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    monkeypatch.setattr(os, "fork", Mock(side_effect=BlockingIOError(11, "Resource temporarily unavailable")))
    with ours, theirs:
        launcher_process.launch(theirs, "/any")
        assert json.loads(ours.recv(4096)) == {"error": "Resource temporarily unavailable (errno 11)"}


def test_refused_fork_is_reported(node, monkeypatch):
    monkeypatch.setattr(LauncherProcess, "answer", lambda self: self.socket.recv(4096) and Refused("no (errno 11)"))
    ref = node.launch()
    assert node.outcome(ref).error == "could not be started: no process: no (errno 11)"
    monkeypatch.undo()
    assert node.outcome(node.launch()).kind == OutcomeKind.SUCCESS


def test_launcher_and_runner_need_the_standard_library_only(launcher):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import jobs.execution.launcher\n"
        "ours = {name for name in sys.modules if name.split('.')[0] not in sys.stdlib_module_names}\n"
        "print(sorted(name for name in ours if name not in ('jobs', 'jobs.execution', '__main__')))"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(ROOT)]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "jobs.execution.runner" in names
    assert set(json.loads(names.replace("'", '"'))) == {
        f"jobs.execution.{name}"
        for name in ("attempt", "claim", "ending", "launcher", "logwriter", "moment", "program", "pump", "rundir",
                     "runner", "spawn", "spec", "tree", "usage", "verdict")
    }  # fmt: skip


# --- kill -9 of the service ---


class Service:
    """The driver in a process of its own."""

    def __init__(self, data_dir):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.execution.driver", data_dir], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def launch(self, body, token, instance_id):
        self.process.stdin.write(json.dumps({"body": body, "token": token, "instance_id": instance_id}) + "\n")
        self.process.stdin.flush()

    def reports(self, count):
        return [json.loads(self.process.stdout.readline()) for _ in range(count)]

    def launcher(self):
        return next(one.pid for one in all_processes() if one.parent == self.process.pid)

    def kill(self):
        self.process.kill()
        self.process.communicate()


@pytest.mark.parametrize("also_launcher", [False, True])
@pytest.mark.parametrize("down", ["shorter", "longer"])
def test_killed_service_costs_no_run(node, ran, also_launcher, down):
    """Ten run, the service (and its launcher) is killed; each runs once and has its outcome at the next start."""
    service = Service(node.data_dir)
    refs = [AttemptRef(n, 1, uuid.uuid4().hex) for n in range(10)]
    for ref in refs:
        number = ref.instance_id
        service.launch(f"echo {number} >> {ran}; sleep 0.7; exit {number}", ref.token, number)
    service.reports(10)
    launcher = service.launcher()
    service.kill()
    if also_launcher:
        try:
            os.kill(launcher, signal.SIGKILL)
        except ProcessLookupError:
            assert not is_alive(launcher)
    if down == "longer":
        until(lambda: not any(marked(ref.token, None) for ref in refs), "the end of all ten")
    recovered = [(ref, node.executor.recover(ref)) for ref in refs]
    codes = [(recovery.outcome or node.outcome(ref)).exit_code for ref, recovery in recovered]
    assert codes == list(range(10))
    assert sorted(map(int, ran.read_text().split())) == list(range(10))


def test_service_killed_at_any_moment_of_launching_runs_each_once(node, ran):
    """Whatever was on its way is recovered, and launched again where it never ran."""
    for round_ in range(3):
        service = Service(node.data_dir)
        launches = [launch_of(f"echo {n} >> {ran}", uuid.uuid4().hex, n) for n in range(round_ * 10, round_ * 10 + 10)]
        for launch in launches:
            service.launch(launch.body, launch.token, launch.instance_id)
        service.reports(1 + 6 * round_)
        service.kill()
        for launch in launches:
            recovery = node.executor.recover(launch.ref)
            if recovery.kind == RecoveryKind.NEVER_RAN:
                node.executor.launch(launch)
            assert (recovery.outcome or node.outcome(launch.ref)).kind == OutcomeKind.SUCCESS
    assert sorted(map(int, ran.read_text().split())) == list(range(30))
