"""A job puts odd things into its own run directory: its attempt ends all the same, and nobody waits for it."""

import os
import signal
import subprocess

import pytest

from jobs.core.states import OutcomeKind
from jobs.execution import claim, log
from jobs.execution.rundir import RESULT, STARTED, BrokenFileError, RunDir
from jobs.execution.settle import started_facts
from jobs.execution.tree import marked, process
from tests.execution.running import is_alive
from tests.waiting import until

NESTED = "head -c 200000 /dev/zero | tr '\\0' '[' > ../{0}"
OBSTACLES = {
    "fifo": "mkfifo ../{0}",
    "directory": "mkdir ../{0}",
    "filled directory": "mkdir -p ../{0}/x",
    "link to an endless file": "ln -s /dev/zero ../{0}",
    "unreadable file": "echo x > ../{0}; chmod 0 ../{0}",
}
JUNK = {
    "nested brackets": NESTED,
    "large file": "head -c 2000000 /dev/zero > ../{0}",
    "empty object": "echo {{}} > ../{0}",
}


def named(odd):
    return pytest.mark.parametrize("odd", odd.values(), ids=odd.keys())


@named(OBSTACLES | JUNK)
def test_odd_result_of_a_killed_runner_is_lost(node, odd):
    """The executor's thread waited in open for ever, or asked again for ever, or forgot the attempt."""
    ref = node.launch(f"{odd.format(RESULT)}; kill -9 $PPID; sleep 600")
    outcome = node.outcome(ref)
    assert outcome.kind == OutcomeKind.LOST
    assert "its result cannot be read" in outcome.error
    assert log.state(node.path(ref)).complete


@named(OBSTACLES | JUNK)
def test_runner_writes_its_result_over_an_odd_one(node, odd):
    ref = node.launch(f"{odd.format(RESULT)}; exit 4")
    assert node.outcome(ref).exit_code == 4


@pytest.mark.parametrize("name", [f"{RESULT}.tmp", f"{STARTED}.tmp", STARTED])
@named(OBSTACLES)
def test_obstacle_beside_the_result_costs_nothing(node, odd, name):
    ref = node.launch(f"rm -f ../{name}; {odd.format(name)}; exit 4")
    assert node.outcome(ref).exit_code == 4


@named(OBSTACLES | JUNK)
def test_odd_result_is_lost_at_the_next_start(node, odd):
    """The engine's thread met it at every start."""
    ref = node.launch(f"{odd.format(RESULT)}; echo ready; exec sleep 600")
    until(lambda: list((node.path(ref) / "log").glob("*.log")))
    runner, job = node.runner_pid(ref), node.reports.started(ref).pid
    node.executor.close()
    os.kill(runner, signal.SIGKILL)
    until(lambda: not is_alive(job))
    assert "its result cannot be read" in node.restart().recover(ref).outcome.error


@named({name: odd for name, odd in OBSTACLES.items() if name != "unreadable file"})  # which root may read
def test_odd_claim_is_lost_at_the_next_start(node, odd):
    ref = node.launch(f"rm ../claim; {odd.format('claim')}; echo ready; exec sleep 600")
    node.prints(ref, "ready")
    node.executor.close()
    node.restart().recover(ref)
    assert "its claim cannot be read" in node.outcome(ref).error
    assert marked(ref.token, None) == []


def test_odd_result_leaves_no_process_behind(node):
    """Only a job can have written it, so its runner has not ended what the job left."""
    ref = node.launch("(setsid sleep 600 &); echo junk > ../result.json; kill -9 $PPID; sleep 600")
    assert node.outcome(ref).kind == OutcomeKind.LOST
    assert marked(ref.token, None) == []


@pytest.mark.parametrize("end", ["exit 4", "kill -9 $PPID; sleep 600"])
def test_closed_run_directory_is_opened_again(node, end):
    ref = node.launch(f"chmod 0 ..; {end}")
    assert node.outcome(ref).kind == (OutcomeKind.FAILED if end == "exit 4" else OutcomeKind.LOST)


@pytest.mark.parametrize(
    "odd", ['"exit_code": 1e9999', '"exit_code": 99999999999', '"duration_seconds": NaN', '"descendants_ended": -1']
)
def test_number_that_cannot_be_stored_is_lost(node, odd):
    """The store refused it in each pass, and the engine started afresh for ever."""
    forged = f'{{"format": 1, "token": "t", "kind": "success", "ended_at": 1.0, {odd}}}'
    ref = node.launch(f"echo '{forged}' > ../result.json; kill -9 $PPID; sleep 600")
    assert node.outcome(ref).kind == OutcomeKind.LOST


def test_odd_spec_is_no_reason_to_wait(node):
    ref = node.launch("""echo '{"format": 1, "asked_at": null}' > ../spec.json; kill -9 $PPID; sleep 600""")
    assert node.outcome(ref).kind == OutcomeKind.LOST


@named(OBSTACLES | {"nested brackets": NESTED})
def test_odd_file_is_named_when_it_is_read(tmp_path, odd):
    (tmp_path / "work").mkdir()
    subprocess.run(["/bin/sh", "-c", odd.format(RESULT)], cwd=tmp_path / "work", check=True)
    with RunDir(str(tmp_path)) as rundir, pytest.raises(BrokenFileError, match=RESULT):
        rundir.read_json(RESULT)


@pytest.mark.parametrize("odd", ["echo {} > ../result.json", "mkdir ../result.json", "mkfifo ../cancel"])
def test_odd_file_keeps_no_wish_from_its_runner(node, odd):
    """Where a result lay, the wish was not written, and a TERM without it is a stray."""
    ref = node.launch(f"{odd}; echo ready; exec sleep 600")
    until(lambda: list((node.path(ref) / "log").glob("*.log")))
    node.executor.cancel(ref)
    assert node.outcome(ref).kind == OutcomeKind.CANCELLED


# --- Stopped ---


def stops_its_runner(node, **fields):
    """None if the job was ended before it came to do so."""
    ref = node.launch("kill -STOP $PPID; exec sleep 600", **fields)
    until(lambda: node.reports.ends(ref) or (node.path(ref).exists() and is_stopped(node.path(ref))))
    return None if node.reports.ends(ref) else ref


def is_stopped(path):
    with RunDir(str(path)) as rundir:
        runner = claim.holder(rundir)
    return bool(runner and (one := process(runner)) and one.state == "T")


def test_stopped_runner_is_cancelled(node):
    ref = stops_its_runner(node)
    node.executor.cancel(ref)
    assert node.outcome(ref).kind == OutcomeKind.CANCELLED


def test_nudged_runner_keeps_its_time_limit(node):
    ref = until(lambda: stops_its_runner(node, timeout_seconds=0.5))
    until(lambda: node.executor.nudge() or node.reports.ends(ref))  # the first may come before its runner is known
    assert node.outcome(ref).kind == OutcomeKind.TIMEOUT


def test_nudged_launcher_starts_again(node):
    node.outcome(node.launch())
    os.kill(node.launcher_pid(), signal.SIGSTOP)
    ref = node.launch(instance_id=2)
    node.executor.nudge()
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS


# --- Out of reach ---

HOLDS_ITS_RUNNER = """
import ctypes, os, time
libc, runner = ctypes.CDLL(None), os.getppid()
print("held" if libc.ptrace(0x4206, runner, 0, 0) == libc.ptrace(0x4207, runner, 0, 0) == 0 else "free", flush=True)
time.sleep(600)
"""


REMOVED = "until rm -r {0} 2> /dev/null; do sleep 0.01; done"  # its runner may write a file there meanwhile


@pytest.mark.parametrize("gone", [REMOVED, "mv {0} {0}.b", "mv {0} {0}.b; mkdir {0}"])
def test_job_without_its_run_directory_is_cancelled(node, tmp_path, gone):
    """The wish was a file in a directory that its runner did not have."""
    ref = node.launch(f"""cd ..; cd /; {gone.format('"$OLDPWD"')} && touch '{tmp_path}/gone'; exec sleep 600""")
    until((tmp_path / "gone").exists)
    node.executor.cancel(ref)
    node.outcome(ref)
    assert marked(ref.token, None) == []


def test_job_that_holds_its_runner_is_cancelled(node):
    """It stood still under ptrace, where a process takes no signal, until its job would end."""
    ref = node.launch(HOLDS_ITS_RUNNER, kind="script")
    facts = until(lambda: started_facts(node.path(ref)))
    until(lambda: "e" in node.text(ref) or process(process(facts["pid"]).parent).state == "t")
    if "free" in node.text(ref):
        pytest.skip("this user may trace nobody")
    node.executor.cancel(ref)
    assert node.outcome(ref).kind == OutcomeKind.LOST
    assert marked(ref.token, None) == []
