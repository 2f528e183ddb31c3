"""The wish to end an attempt is carried out whenever it comes."""

from jobs.core.states import OutcomeKind
from jobs.execution.launch import AttemptRef, Ended, RecoveryKind, Started
from jobs.execution.tree import marked


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
