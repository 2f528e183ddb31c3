"""The executor starts what it is asked for, reports it once, and pins what has cores of its own."""

import os
import signal
from collections import deque
from copy import copy
from datetime import UTC, datetime, timedelta
from itertools import chain

import pytest

from jobs.core.records import Allocation
from jobs.core.states import OutcomeKind
from jobs.execution.launch import Ended, NotStarted, Started
from jobs.execution.loop import LoopClosedError
from jobs.execution.tree import marked
from tests.execution.driver import launch_of
from tests.waiting import until


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


def test_launch_of_what_runs_already_starts_nothing(node, gate, tmp_path):
    launch = launch_of(f"echo >> {tmp_path}/ran; {gate}", "t" * 32)
    node.executor.launch(launch)
    node.reports.started(launch.ref)
    node.restart().launch(launch)
    node.reports.started(launch.ref)
    gate.open()
    assert node.outcome(launch.ref).kind == OutcomeKind.SUCCESS
    assert [type(report) for report in node.reports.of(launch.ref)] == [Started, Ended]
    assert (tmp_path / "ran").read_text() == "\n"


def test_started_attempts_leave_nothing_behind(node):
    """One entry was kept for each, as long as the service ran."""
    before = kept(node)
    for number in range(3):
        node.outcome(node.launch(instance_id=number))
    assert kept(node) == before


def kept(node):
    values = [vars(part).values() for part in (node.line(), node.executor._watcher)]
    return [copy(each) for each in chain(*values) if isinstance(each, (dict, deque))]


def test_forgotten_attempt_is_watched_no_more(node):
    ref = node.launch("sleep 600")
    node.reports.started(ref)
    node.executor.forget(ref)
    [job] = marked(ref.token, None)
    os.kill(job.pid, signal.SIGKILL)
    until((node.path(ref) / "result.json").exists)
    node.executor.close()
    assert node.reports.ends(ref) == []


def test_closed_executor_refuses_work(node):
    node.executor.close()
    with pytest.raises(LoopClosedError, match="open another one"):
        node.launch()


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
    assert os.sched_getaffinity(node.reports.started(ref).pid) == os.sched_getaffinity(0)
