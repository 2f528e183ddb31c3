"""A crash at any row of the table costs no run and starts none twice."""

import os
import shutil
import signal
import sys
import uuid

import pytest

from jobs.core.states import OutcomeKind
from jobs.execution import claim, log
from jobs.execution.launch import AttemptRef, Ended, RecoveryKind, Started
from jobs.execution.prepare import prepare
from jobs.execution.rundir import RESULT, SPEC, STARTED, RunDir
from jobs.execution.tree import all_processes, marked, process, tasks
from tests.execution.driver import launch_of
from tests.execution.node import Service
from tests.execution.running import HEADLESS, is_alive, through
from tests.waiting import until


def runs_once(node, launch, ran):
    assert node.restart().recover(launch.ref).kind == RecoveryKind.NEVER_RAN
    node.executor.launch(launch)
    assert node.outcome(launch.ref).kind == OutcomeKind.SUCCESS
    return ran.read_text() == "ran\n"


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
    assert through(notes)
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


def test_running_attempt_is_adopted(node, gate):
    ref = node.launch(f"echo ready; {gate}; exit 4")
    node.prints(ref, "ready")
    at = node.reports.started(ref).at
    node.executor.close()
    recovery = node.restart().recover(ref)
    assert (recovery.kind, recovery.started_at) == (RecoveryKind.ADOPTED, at)
    gate.open()
    assert node.outcome(ref).exit_code == 4


def test_adopted_attempt_that_starts_later_is_reported(node):
    """The file that says so is away for a while, as if it were not written yet."""
    ref = node.launch("echo ready; exec sleep 600")
    node.prints(ref, "ready")
    node.executor.close()
    away = (node.path(ref) / STARTED).rename(node.path(ref) / "away")
    recovery = node.restart().recover(ref)
    assert (recovery.kind, recovery.started_at) == (RecoveryKind.ADOPTED, None)
    away.rename(node.path(ref) / STARTED)
    assert isinstance(node.reports.started(ref), Started)
    node.executor.cancel(ref)
    assert node.reports.started(ref).at == node.outcome(ref).started_at


def test_adopted_attempt_that_had_started_says_so_once(node):
    ref = node.launch("echo ready; exec sleep 600")
    node.prints(ref, "ready")
    started = node.reports.started(ref)
    node.executor.close()
    assert node.restart().recover(ref).started_at == started.at
    node.executor.cancel(ref)
    node.outcome(ref)
    assert [type(report) for report in node.reports.of(ref)] == [Ended]


def test_attempt_adopted_twice_ends_once(node, gate):
    """The first of its two watches was left behind, ready for ever: one end gave thousands of reports."""
    ref = node.launch(f"echo ready; {gate}; exit 4")
    node.prints(ref, "ready")
    assert [node.executor.recover(ref).kind for _ in range(2)] == [RecoveryKind.ADOPTED] * 2
    gate.open()
    assert node.outcome(ref).exit_code == 4
    node.executor.close()
    assert len(node.reports.ends(ref)) == 1


def test_killed_runner_makes_a_lost_attempt_after_the_sweep(node):
    ref = node.launch("(setsid sleep 600 &); (sleep 601 &); echo ready; exec sleep 602")
    node.prints(ref, "ready")
    until(lambda: len(marked(ref.token, None)) == 3)
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
    until(lambda: not is_alive(runner))
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
    until(lambda: not is_alive(job))
    recovery = node.restart().recover(ref)
    assert (recovery.kind, recovery.outcome.kind) == (RecoveryKind.LOST, OutcomeKind.LOST)


def test_process_without_the_token_is_swept_by_its_session(node):
    ref = node.launch("env -i sleep 600 & echo ready; exec sleep 601")
    node.prints(ref, "ready")
    job = node.reports.started(ref).pid
    until(lambda: len(session(job)) == 2)
    os.kill(node.runner_pid(ref), signal.SIGKILL)
    assert node.outcome(ref).kind == OutcomeKind.LOST
    assert session(job) == []


def test_process_whose_first_thread_has_ended_is_swept(node):
    (file := node.data_dir / "headless.py").write_text(HEADLESS)
    ref = node.launch(f"setsid {sys.executable} '{file}' & echo $!; wait; sleep 600")
    pid = int(until(lambda: node.text(ref).strip()))
    until(lambda: process(pid).state == "Z" and len(tasks(pid)) == 2)
    os.kill(node.runner_pid(ref), signal.SIGKILL)
    assert node.outcome(ref).kind == OutcomeKind.LOST
    assert len(tasks(pid)) < 2


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


@pytest.mark.parametrize(
    "odd", [{"kind": "splendid"}, {"kind": 5}, {"ended_at": "soon"}, {"ended_at": 1e300}, {"exit_code": "4"}]
)
def test_odd_result_is_lost_with_a_sentence(node, odd):
    """The service met it at recovery, where it stopped the engine at every start."""
    ref = node.launch()
    node.outcome(ref)
    with RunDir(str(node.path(ref))) as rundir:
        rundir.write_json(RESULT, {**rundir.read_json(RESULT), **odd})
    recovery = node.restart().recover(ref)
    assert recovery.outcome.kind == OutcomeKind.LOST
    assert recovery.outcome.error.startswith("it has ended, but its result cannot be read: ")


@pytest.mark.parametrize("odd", [{}, {"pid": 1, "at": "soon"}, {"pid": [], "at": 1e300, "ticks": 0, "boot_id": ""}])
def test_odd_start_is_as_one_that_was_not_written(node, gate, odd):
    ref = node.launch(f"echo ready; {gate}")
    node.prints(ref, "ready")
    node.executor.close()
    with RunDir(str(node.path(ref))) as rundir:
        rundir.write_json(STARTED, odd)
    recovery = node.restart().recover(ref)
    assert (recovery.kind, recovery.started_at) == (RecoveryKind.ADOPTED, None)
    gate.open()
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS


def remove(folder):
    """Again where a runner has just written in it."""
    until(lambda: shutil.rmtree(folder, ignore_errors=True) or not folder.exists())


def test_run_directory_removed_under_a_runner_is_lost(node):
    ref = node.launch("echo ready; sleep 600")
    node.prints(ref, "ready")
    remove(node.path(ref))
    os.kill(node.reports.started(ref).pid, signal.SIGKILL)
    assert node.outcome(ref).kind == OutcomeKind.LOST


def test_run_directory_removed_while_nobody_watched_is_swept(node):
    """What was alive of it was left alone, and the attempt might be started again beside it."""
    ref = node.launch("echo ready; exec sleep 600")
    node.prints(ref, "ready")
    node.executor.close()
    remove(node.data_dir / "runs")
    assert node.restart().recover(ref).kind == RecoveryKind.ADOPTED
    assert node.outcome(ref).error == "was lost: its run directory was removed while it ran"
    assert marked(ref.token, None) == []


def test_run_directory_removed_under_recovery_never_ran(node, recording, monkeypatch):
    path = prepare(node.data_dir / "runs", recording, {}, sys.executable)
    has = RunDir.has
    monkeypatch.setattr(RunDir, "has", lambda *asked: has(*asked) and not shutil.rmtree(path))
    assert node.executor.recover(recording.ref).kind == RecoveryKind.NEVER_RAN


def test_vanished_data_folder_is_a_fault_of_the_node(node, recording):
    remove(node.data_dir)
    node.executor.launch(recording)
    assert "no run directory" in node.outcome(recording.ref).error
    assert node.reports.of(recording.ref)[0].node_refused


@pytest.mark.parametrize("also_launcher", [False, True])
@pytest.mark.parametrize("down", ["shorter", "longer"])
def test_killed_service_costs_no_run(node, ran, also_launcher, down):
    """Ten run, the service (and its launcher) is killed; each runs once and has its outcome at the next start."""
    service = Service(node.data_dir)
    refs = [AttemptRef(n, 1, uuid.uuid4().hex) for n in range(10)]
    for ref in refs:
        number = ref.instance_id
        service.launch(f"echo {number} >> {ran}; sleep 0.7; exit {number}", ref.token, number)
    service.started(10)
    launcher = service.launcher()
    service.kill()
    if also_launcher:
        try:
            os.kill(launcher, signal.SIGKILL)
        except ProcessLookupError:
            assert not is_alive(launcher)
    if down == "longer":
        until(lambda: not any(marked(ref.token, None) for ref in refs))
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
