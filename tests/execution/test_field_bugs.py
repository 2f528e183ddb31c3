"""What has gone wrong in other schedulers, tried here: shared/cases/bugs.json, areas process, logs and script.

Rows that other files of this folder hold: 002, 003, 004, 007, 013 in test_output.py, 014 in test_environment.py,
024 in test_cancelling.py, 026 in test_programs.py, 040 in test_crashes.py.
"""

import json
from pathlib import Path

import pytest

from jobs.core.states import OutcomeKind
from jobs.execution import log
from jobs.execution.tree import descendant_pids, marked, read_proc
from tests.waiting import until

BACKGROUND = '#!/bin/sh\n( ( sleep 987 & exec sleep 986 ) & )\nsleep 985 & \nbash -c "sleep 984; :" \n'


def background(node, **fields):
    """bug-016: a job with grandchildren in the background, once all of them are there."""
    ref = node.launch(BACKGROUND, kind="script", **fields)
    until(lambda: len(marked(ref.token, None)) >= 6)
    return ref


def test_cancelled_job_leaves_no_grandchildren(node):
    ref = background(node)
    node.executor.cancel(ref)
    assert node.outcome(ref).kind == OutcomeKind.CANCELLED
    assert marked(ref.token, None) == []
    assert "cancelled: TERM sent to 6 processes" in node.text(ref)


def test_timed_out_job_leaves_no_grandchildren(node):
    def is_ended_by_a_signal():
        ref = node.launch(BACKGROUND, kind="script", timeout_seconds=0.5)
        assert node.outcome(ref).kind == OutcomeKind.TIMEOUT
        assert marked(ref.token, None) == []
        return "time limit of 0.5 s reached: TERM sent to" in node.text(ref)

    until(is_ended_by_a_signal)  # on a busy machine one may not have begun by then


def test_finished_job_leaves_no_grandchildren(node, gate):
    ref = node.launch(BACKGROUND.replace('"sleep 984; :"', f"'{gate}'"), kind="script")
    until(lambda: asleep(ref) == {b"985", b"986", b"987"})
    gate.open()
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS
    assert node.outcome(ref).descendants_ended == 3
    assert marked(ref.token, None) == []


def asleep(ref):
    """For how long the sleepers of the background sleep, of those that are there."""
    lines = [read_proc(one.pid, "cmdline").split(b"\0") for one in marked(ref.token, None)]
    return {line[1] for line in lines if line[0] == b"sleep" and line[1].startswith(b"98")}


def test_ended_attempt_never_changes_its_outcome(node):
    """bug-021: cancelled, looked at again later: still cancelled, and dead."""
    ref = node.launch(
        "#!/bin/sh\ntrap 'exit 0' TERM; for i in $(seq 3000); do echo $i; sleep 0.1; done\n", kind="script"
    )
    node.prints(ref, "2\n")
    node.executor.cancel(ref)
    first = node.outcome(ref)
    assert first.kind == OutcomeKind.CANCELLED
    assert node.restart().recover(ref).outcome == first


def test_time_limit_counts_from_each_start(node):
    """bug-023: a second run killed by the first one's clock."""
    node.outcome(node.launch("exec sleep 2.1", 1))
    # Until: on a machine that stands still, one may well take two seconds by its own clock.
    until(lambda: node.outcome(node.launch("exec sleep 0.1", 1, timeout_seconds=2)).kind == OutcomeKind.SUCCESS)


def test_deleted_script_fails_each_run_once(node, tmp_path):
    """bug-027: the script is removed behind the job's back."""
    (script := tmp_path / "it.py").write_text("print('here')")
    node.outcome(node.launch(str(script), 1, kind="script_path"))
    script.unlink()
    refs = [node.launch(str(script), n, kind="script_path") for n in (2, 3, 4)]
    assert {node.outcome(ref).kind for ref in refs} == {OutcomeKind.REJECTED}


def test_many_short_runs_are_never_lost(node):
    """bug-070: a sweeper that takes a run that has just ended for one that is lost."""
    refs = [node.launch("#!/bin/sh\nexit 0\n", n, kind="script") for n in range(150)]
    assert {node.outcome(ref).kind for ref in refs} == {OutcomeKind.SUCCESS}


def test_recovery_costs_by_what_was_live(node, gate, monkeypatch):
    """bug-012: thousands of finished runs with logs lie about; only those that were running are looked at."""
    for n in range(3000):
        (node.data_dir / "runs" / str(n + 1000) / "1-abcdef01" / "log").mkdir(parents=True)
    ref = node.launch(f"echo hi; {gate}")
    node.prints(ref, "hi")
    node.executor.close()
    listed = []
    monkeypatch.setattr("pathlib.Path.iterdir", lambda self: listed.append(self) or iter(()))
    node.restart().recover(ref)
    gate.open()
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS
    assert [folder for folder in listed if folder.is_relative_to(node.data_dir)] == []


@pytest.mark.parametrize("name", ["$(touch /tmp/pwned)", "`id`; rm -rf x", "../../../etc", "quoted' \"\nline\nend"])
def test_strange_names_are_passed_literally(node, name):
    """bug-065: names and values that a shell or a path would take for something else."""
    ref = node.launch("import json, os; print(json.dumps([os.environ['ROTA_JOB_NAME'], os.environ['V']]))",
                      kind="script", job_name=name, env={"V": name})  # fmt: skip
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS
    assert json.loads(node.text(ref)) == [name, name]


def test_environment_is_on_no_command_line(node):
    """bug-063: a secret in the environment is not for everybody who may list processes."""
    ref = node.launch("import time; print('up', flush=True); time.sleep(600)", kind="script",
                      env={"API_TOKEN": "s3cr3t-value-123"})  # fmt: skip
    node.prints(ref, "up")
    lines = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in descendant_pids(node.runner_pid(ref))]
    assert lines
    assert not any(b"s3cr3t" in line for line in lines)
    assert "s3cr3t" not in log.tail_text(node.path(ref), 500)
