"""The clean-up command, by a real runner."""

import selectors
import subprocess
import sys
from unittest.mock import Mock

from jobs.core.running import RunOptions
from jobs.core.states import OutcomeKind
from jobs.execution import cleanup
from jobs.execution.cleanup import CleanUp, clean_up
from jobs.execution.program import StartError
from jobs.execution.spawn import Surroundings
from jobs.execution.tree import marked
from jobs.execution.verdict import verdict
from tests.execution.running import ROOT, until


def launched(node, command, cleanup, after=("success", "failure", "timeout", "cancel"), limit=30.0, **fields):
    run = RunOptions(cleanup_command=cleanup, cleanup_after=after, cleanup_timeout_seconds=limit)
    return node.launch(command, run=run, **fields)


def test_it_follows_a_success_in_the_same_log(node):
    ref = launched(node, "echo job", "echo clean $ROTA_OUTCOME $ROTA_EXIT_CODE")
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS
    assert node.text(ref) == "job\n[rota] clean-up begins\nclean success 0\n[rota] clean-up ended\n"


def test_it_knows_how_the_attempt_ended(node):
    ref = launched(node, "exit 7", "echo $ROTA_OUTCOME $ROTA_EXIT_CODE")
    assert node.outcome(ref).kind == OutcomeKind.FAILED
    assert "failed 7\n" in node.text(ref)


def test_it_follows_a_cancel_when_nothing_is_left(node):
    ref = launched(node, "sleep 600 & echo up; wait", "pgrep -f '[s]leep 600' -s 0; echo $ROTA_OUTCOME")
    node.prints(ref, "up")
    node.executor.cancel(ref)
    assert node.outcome(ref).kind == OutcomeKind.CANCELLED
    assert "clean-up begins\ncancelled\n" in node.text(ref)


def begun_in_time(node, *command, **fields):
    """An attempt that has ended, and that with its clean-up had begun before its time was up: on a busy machine not
    each has.
    """

    def ended():
        ref = launched(node, *command, **fields)
        node.outcome(ref)
        return None if "had not begun" in node.text(ref) else ref

    return until(ended)


def test_it_follows_a_timeout(node):
    ref = begun_in_time(node, "exec sleep 600", "echo $ROTA_OUTCOME $ROTA_SIGNAL", timeout_seconds=0.2)
    assert node.outcome(ref).kind == OutcomeKind.TIMEOUT
    assert "timeout 15\n" in node.text(ref)


def test_it_follows_only_what_it_is_to_follow(node):
    ref = launched(node, "true", "echo clean", after=("failure",))
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS
    assert node.text(ref) == ""


def test_filter_of_its_output_takes_in_its_last_lines(node):
    command = 'exec > >(while read -r line; do echo "got $line"; done); seq 100'
    ref = launched(node, "true", command)
    node.outcome(ref)
    assert "got 99\ngot 100\n[rota] clean-up ended" in node.text(ref)


def test_it_is_killed_at_its_limit_with_all_it_started(node):
    ref = begun_in_time(node, "true", "setsid sleep 600 & trap '' TERM; sleep 600", limit=0.3)
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS
    assert "clean-up did not end in 0.3 s and was killed" in node.text(ref)
    until(lambda: marked(ref.token, None) == [])


def test_its_limit_may_be_longer_than_the_kernel_waits(node):
    ref = launched(node, "true", "echo clean", limit=365 * 86_400.0)
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS
    assert "clean\n[rota] clean-up ended\n" in node.text(ref)


def test_its_failure_is_told_and_changes_nothing(node):
    ref = launched(node, "true", "exit 9")
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS
    assert "[rota] clean-up exited with code 9\n" in node.text(ref)


def test_what_never_started_has_none(node):
    ref = launched(node, "/nowhere/it.py", "echo clean", kind="script_path")
    assert node.outcome(ref).kind == OutcomeKind.REJECTED
    assert "clean" not in node.text(ref)


def test_a_directory_that_is_gone_is_told(node):
    ref = launched(node, 'rm -r "$ROTA_WORKSPACE"', "echo clean")
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS, node.text(ref)
    assert "[rota] clean-up could not be started: working directory" in node.text(ref)


def test_it_leaves_no_descriptor_to_the_garbage_collector(monkeypatch):
    """Which closed what had its number by then: the log, or the run directory, of the runner's next attempt."""
    made = []
    monkeypatch.setattr(selectors, "DefaultSelector", lambda: made.append(selectors.EpollSelector()) or made[0])
    monkeypatch.setattr(cleanup, "Pump", Mock())
    monkeypatch.setattr(cleanup, "end_all", dict)
    monkeypatch.setattr(cleanup, "start_job", Mock(side_effect=StartError("/nowhere", "is gone")))
    around, log = Surroundings({}, "/", 0, None, -1, -1, None), Mock()
    clean_up(CleanUp("true", ["success"], 30.0), verdict(0, None), around, log)
    log.notice.assert_called_with("clean-up could not be started: /nowhere: is gone")
    assert made[0].get_map() is None


MANY_DEAD = """
import os
from jobs.execution import ending, tree
from tests.waiting import until

looks = []
ending.descendants = lambda root: looks.append(root) or []
for _ in range(100):
    os.fork() or os._exit(0)
until(lambda: not tree.descendants(os.getpid()))
assert len(ending.end_all()) == 100
print(len(looks))
"""


def test_thousands_that_have_ended_are_taken_at_once():
    """Each was looked for anew: three thousand took hours."""
    looks = subprocess.run([sys.executable, "-c", MANY_DEAD], capture_output=True, text=True, check=True, cwd=ROOT)
    assert int(looks.stdout) == 1
