"""A runner that has lived an attempt is given the next one, which notices nothing of it."""

import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from unittest.mock import Mock

import pytest

from jobs.core.records import Allocation
from jobs.core.running import RunOptions
from jobs.execution import runners, serving
from jobs.execution.rundir import CANCEL_SIGNAL, RETIRE_SIGNAL
from jobs.execution.runners import RESTS, Runners
from jobs.execution.secrets import GivenSecret
from jobs.execution.spec import Result
from jobs.execution.watcher import Watched
from tests.execution.running import ROOT, is_alive, through
from tests.waiting import until

SEEN = "nice; ulimit -a; ionice; for of in taskset chrt; do $of -p $$ | cut -d: -f2; done; cat /proc/$$/oom_score_adj"


def printed(node, body, **fields):
    ref = node.launch(body, **fields)
    node.outcome(ref)
    return node.text(ref)


def runner_of(node, **fields):
    return int(printed(node, "echo $PPID", **fields))


def same_runner(node, attempts):
    """The one that had so many in a row: on a machine that stands still for long, a resting one ends."""
    pids = {runner_of(node) for _ in range(attempts)}
    return pids.pop() if len(pids) == 1 else None


def test_one_runner_lives_several_attempts(node):
    until(lambda: same_runner(node, 3))


def test_two_at_once_have_a_runner_each(node):
    first, second = (node.launch("echo $PPID; exec sleep 600") for _ in range(2))
    until(lambda: node.text(first) and node.text(second))
    assert node.text(first) != node.text(second)


def test_what_a_job_does_to_its_runner_is_not_inherited(node):
    before = printed(node, SEEN)
    for does in (
        "renice -n 5 -p $PPID",
        "taskset -pc 0 $PPID",
        "prlimit --pid $PPID --core=0:0",
        "prlimit --pid $PPID --nofile=64:64",
        "ionice -c 3 -p $PPID",
        "chrt --idle -p 0 $PPID",
        "echo 7 > /proc/$PPID/oom_score_adj",
    ):
        printed(node, does)
        assert printed(node, SEEN) == before, does


def test_priority_and_cores_of_an_attempt_are_its_own(node):
    before = printed(node, SEEN)
    assert printed(node, SEEN, run=RunOptions(nice=3), allocation=Allocation((0,), 0, 0)) != before
    assert printed(node, SEEN) == before


def test_what_an_attempt_used_is_its_own(node):
    heavy = "exec python3 -c 'b = bytearray(10**8); sum(range(10**7))'"
    first, second = node.outcome(node.launch(heavy)), node.outcome(node.launch("true"))
    assert second.peak_memory_bytes < first.peak_memory_bytes / 2
    assert second.cpu_seconds < first.cpu_seconds / 2


def test_runner_that_had_secrets_has_no_other_attempt(node):
    kept = runner_of(node)
    given = runner_of(node, secrets=(GivenSecret("TOKEN", "s3cret value", as_file=False),))
    assert given not in (kept, runner_of(node))
    until(lambda: not is_alive(given))


def one_after_another(attempt, body):
    """Two attempts of one runner, the second of which runs `body`."""
    first = attempt("true")
    assert through(first.notes)
    second = attempt(body)
    if second.pid == first.pid:
        return first, second
    return second.cancel()


def test_late_cancel_is_not_taken_for_the_next_attempt(attempt, gate):
    first, second = until(lambda: one_after_another(attempt, str(gate)))
    until(lambda: second.file("started.json"))
    Watched(first.pidfd, first.notes).cancel()
    gate.open()
    assert second.result().kind == "success"


def test_service_that_goes_without_a_look_costs_no_run(attempt, gate):
    """What it was told and had not read resets the socket: the runner called its attempt lost."""
    running = attempt(f"echo ready; {gate}")
    running.prints("ready")
    hang_up(running)
    until(lambda: running.file("started.json"))
    gate.open()
    assert ended_by(running).kind == "success"


def hang_up(running):
    """Close the socket, as a service that is killed."""
    with open(os.devnull, "r+b") as null:  # noqa: PTH123 a descriptor
        os.dup2(null.fileno(), running.notes)


def ended_by(running):
    return Result.from_json(until(lambda: running.file("result.json")))


def test_signal_of_a_job_is_no_cancel(attempt):
    """`kill -USR1 $PPID`: a cancel that nobody had asked for."""
    assert attempt("kill -USR1 $PPID; exit 3").result().exit_code == 3


def test_signal_of_a_service_that_adopts_is_one(attempt):
    running = attempt("echo ready; exec sleep 600")
    running.prints("ready")
    hang_up(running)
    until(lambda: running.file("started.json"))
    signal.pidfd_send_signal(running.pidfd, CANCEL_SIGNAL)
    assert ended_by(running).kind == "cancelled"


def test_adopter_is_heard_beside_the_socket(attempt):
    """It waited for the end of the job: the service that had asked for it was not gone yet."""
    running = attempt("echo ready; exec sleep 600")
    running.prints("ready")
    for number in (RETIRE_SIGNAL, CANCEL_SIGNAL):
        signal.pidfd_send_signal(running.pidfd, number)
    assert running.result().kind == "cancelled"


def test_runner_killed_while_it_rests_is_replaced(node):
    killed = runner_of(node)
    with suppress(ProcessLookupError):  # one that has rested for long has ended by itself
        os.kill(killed, signal.SIGKILL)
    until(lambda: not is_alive(killed))
    assert runner_of(node) != killed


def test_resting_runners_end_with_their_launcher(node):
    runner = runner_of(node)
    os.kill(node.launcher_pid(), signal.SIGKILL)
    until(lambda: not is_alive(runner))


def files_of(pid):
    try:
        return list(Path(f"/proc/{pid}/fd").iterdir())
    except FileNotFoundError:
        return []


def test_runner_keeps_nothing_open(node):
    standard_streams_and_line = 4
    until(lambda: len(files_of(same_runner(node, 3))) == standard_streams_and_line)


def test_runner_that_is_adopted_from_takes_no_other(node):
    ref = node.launch("echo $PPID; exec sleep 600")
    node.prints(ref, "\n")
    node.executor.recover(ref)
    node.executor.cancel(ref)
    node.outcome(ref)
    until(lambda: not is_alive(int(node.text(ref).split()[0])))


def test_runner_that_is_told_between_two_attempts_takes_no_other(monkeypatch):
    """It had looked whether it was told, and still had its claim: who adopted from it waited for its end in vain."""
    handlers = {}
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)
    monkeypatch.setattr(os, "setsid", Mock())
    monkeypatch.setattr(os, "_exit", Mock(side_effect=SystemExit))
    monkeypatch.setattr(serving, "run", Mock(return_value=True))
    monkeypatch.setattr(serving.own, "begun", Mock())
    monkeypatch.setattr(serving.own, "is_as_begun", lambda _: handlers[RETIRE_SIGNAL]())
    monkeypatch.setattr(serving, "close_all_but", Mock())
    monkeypatch.setattr(socket, "socket", Mock())
    with pytest.raises(SystemExit):
        serving.serve("/one", 2, [], 3)


LAST_BUT_ONE = """
import sys
from jobs.execution import own, serving
serving.MOST_ATTEMPTS, serving.run, own.is_as_begun = 2, lambda *_: True, lambda _: True
serving.serve("/one", int(sys.argv[1]), [], int(sys.argv[2]))
"""


def test_runner_that_has_had_its_attempts_takes_none_more():
    """It took the next one with it when it ended."""
    ours, line = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    notes, of_service = socket.socketpair()
    fds = [notes.fileno(), line.fileno()]
    runner = subprocess.Popen([sys.executable, "-c", LAST_BUT_ONE, *map(str, fds)], pass_fds=fds, cwd=ROOT)
    with ours, notes, of_service:
        line.close()
        assert ours.recv(10) == RESTS
        socket.send_fds(ours, [b"/two"], [notes.fileno()])
        assert ours.recv(10) == b""
    assert runner.wait() == 0


# --- The launcher's side ---


@pytest.fixture
def forked():
    """Lines to runners that were forked, as Runners would have it, and that."""
    lines = []

    def fork(path, notes, given, line):
        lines.append(line and socket.socket(fileno=os.dup(line)))
        return 1000 + len(lines)

    pool = Runners(select.poll(), fork)
    yield pool, lines
    for line in [*filter(None, lines), *(one.line for one in pool._lines.values())]:
        line.close()


def rest(pool, line):
    line.send(RESTS)
    [number] = pool._lines.keys() - {one.line.fileno() for one, _ in pool._resting}
    assert pool.hear(number)


def test_resting_runner_is_given_the_next_path(forked):
    pool, lines = forked
    assert pool.start("/one", 2, [], alone=False) == 1001
    rest(pool, lines[0])
    assert pool.start("/two", 2, [], alone=False) == 1001
    data, fds, _, _ = socket.recv_fds(lines[0], 100, 1)
    assert (data, len(fds)) == (b"/two", 1)
    os.close(fds[0])


def test_attempt_that_is_to_be_alone_has_no_line(forked):
    pool, lines = forked
    pool.start("/one", 2, [], alone=False)
    rest(pool, lines[0])
    assert pool.start("/two", 2, [], alone=True) == 1002
    assert lines[1] is None


def test_runner_that_rests_for_long_is_let_go(forked, monkeypatch):
    pool, lines = forked
    pool.start("/one", 2, [], alone=False)
    assert pool.end_idle() is None
    rest(pool, lines[0])
    assert 0 < pool.end_idle() <= 1000 * runners.REST_SECONDS
    monkeypatch.setattr(runners, "REST_SECONDS", 0.0)
    assert pool.end_idle() is None
    assert lines[0].recv(10) == b""


def test_no_more_rest_than_are_of_use(forked, monkeypatch):
    monkeypatch.setattr(runners, "MOST_RESTING", 0)
    pool, lines = forked
    pool.start("/one", 2, [], alone=False)
    rest(pool, lines[0])
    assert lines[0].recv(10) == b""


def test_runner_whose_fork_fails_leaves_nothing(monkeypatch):
    poll = Mock()
    pool = Runners(poll, Mock(side_effect=OSError(11, "no")))
    with pytest.raises(OSError, match="no"):
        pool.start("/one", 2, [], alone=False)
    assert not poll.register.called
