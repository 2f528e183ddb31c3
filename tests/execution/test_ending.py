"""TERM, grace, KILL; and what may not be signalled ends the waiting, not the runner."""

import os
import signal
import subprocess
from unittest.mock import Mock

import pytest

from jobs.execution import ending, hostprocess, tree
from jobs.execution.attempt import Attempt
from jobs.execution.ending import Ending
from jobs.execution.tree import Process

OURS, THEIRS = (Process(pid, 1, pid, pid, "S", 100) for pid in (40_001, 40_002))


@pytest.fixture
def world(monkeypatch):
    """What is alive, which of it may not be signalled, and what was sent to whom."""
    world = Mock(alive=[OURS, THEIRS], refusing=[], sent=[])

    def send_all(processes, number):
        for one in processes:
            if one in world.refusing:
                yield one
            else:
                world.sent.append((one, number))

    monkeypatch.setattr(ending, "descendants", lambda _: world.alive)
    monkeypatch.setattr(ending, "send_all", send_all)
    monkeypatch.setattr(ending, "kill_groups", Mock())
    monkeypatch.setattr(ending, "kill_children", Mock())
    return world


def test_term_first_kill_after_the_grace(world):
    end = Ending(OURS.pid, 10.0, 0.0, list)
    assert end.begin() == 2
    assert end.step(9.9) == 0
    assert (OURS, signal.SIGKILL) not in world.sent
    assert end.step(end.next_at) == 2
    assert (OURS, signal.SIGKILL) in world.sent


def test_kill_is_repeated_at_growing_distances(world):
    end = Ending(OURS.pid, 1.0, 0.0, list)
    moments = [end.next_at]
    for _ in range(5):
        assert end.step(end.next_at) == len(world.alive)
        moments.append(round(end.next_at, 2))
    assert moments == [1.0, 1.01, 1.06, 1.26, 2.26, 3.26]


def test_job_itself_is_no_descendant_of_its_own(world):
    end = Ending(OURS.pid, 1.0, 0.0, list)
    assert end.begin() == len(world.alive)
    assert end.descendants_ended == 1


def test_processes_of_others_are_given_up_after_a_second_grace(world):
    world.refusing = world.alive = [THEIRS]
    end = Ending(OURS.pid, 10.0, 0.0, list)
    end.begin()
    assert end.step(10.0)
    assert not end.given_up
    end.step(20.0)
    assert end.given_up
    assert end.refused == [THEIRS]


def test_log_says_why_also_where_the_job_has_just_died(world):
    world.alive = []
    attempt = Mock(spec=Attempt, job=OURS.pid, status=None, **{name: Mock() for name in ("pump", "log", "confinement")})
    Attempt.end(attempt, None, "memory limit passed", grace_seconds=0.0)
    attempt.log.notice.assert_called_once_with("memory limit passed: it has just ended")


def test_nothing_is_given_up_while_one_can_be_signalled(world):
    world.refusing = [THEIRS]
    end = Ending(OURS.pid, 1.0, 0.0, list)
    end.step(100.0)
    assert not end.given_up


def test_end_of_all_tells_how_ours_have_ended_beside_what_is_refused(world, monkeypatch):
    """Of a clean-up that had ended well the log said that it was killed."""
    world.refusing = [THEIRS]
    monkeypatch.setattr(ending, "take_ended", lambda ended: ended.update({OURS.pid: 0}) or True)
    assert ending.end_all() == {OURS.pid: 0}


def test_process_of_another_user_is_refused(monkeypatch):
    monkeypatch.setattr(signal, "pidfd_send_signal", Mock(side_effect=PermissionError))
    me = tree.process(os.getpid())
    assert list(tree.send_all([me], signal.SIGTERM)) == [me]


def test_number_that_was_given_to_another_is_not_signalled():
    with subprocess.Popen(["/bin/sleep", "600"]) as sleeper:
        one = tree.process(sleeper.pid)
        assert tree.send(one._replace(started=one.started - 1), signal.SIGKILL)
        assert sleeper.poll() is None
        assert tree.send(one, signal.SIGKILL)
        assert sleeper.wait() == -signal.SIGKILL
    assert tree.send(one, signal.SIGKILL)


def test_name_with_brackets_and_spaces_is_read(tmp_path):
    (program := tmp_path / "a) R 1 (b").symlink_to("/bin/sleep")
    with subprocess.Popen([program, "600"]) as sleeper:
        assert tree.process(sleeper.pid).parent == os.getpid()
        sleeper.kill()


def test_variable_behind_large_ones_is_seen_during_an_execve(tmp_path):
    """An execve() between two reads was the end of what was read: one look in forty."""
    again = tmp_path / "again"
    again.write_text(f"exec /bin/sh {again}")
    large = {f"A{number}": "x" * 100_000 for number in range(3)}
    with subprocess.Popen(["/bin/sh", again], env={**large, "ROTA_TOKEN": "mine"}) as running:
        seen = sum(tree.has_variable(running.pid, b"ROTA_TOKEN=mine") for _ in range(500))
        running.kill()
    assert seen == 500


@pytest.mark.parametrize("look", [lambda: tree.marked("mine", None), lambda: hostprocess.marked("mine")])
def test_those_without_an_environment_are_waited_for_together(look, monkeypatch):
    """Who unmaps it looks as in an execve(): ten of these held each look, and with it a kill, for ten seconds."""
    clock = Mock(now=1000.0)
    clock.monotonic.side_effect = lambda: clock.now
    clock.sleep.side_effect = lambda seconds: setattr(clock, "now", clock.now + seconds)
    monkeypatch.setattr(tree, "time", clock)
    monkeypatch.setattr(tree, "read_variables", lambda *_: b"")
    monkeypatch.setattr(tree, "will_have_variables", lambda _: True)
    others = [tree.process(os.getppid())] * 10
    for module in (tree, hostprocess):
        monkeypatch.setattr(module, "all_processes", lambda: others)
    assert look() == []
    assert tree.EXEC_SECONDS <= clock.now - 1000 < 2 * tree.EXEC_SECONDS


def test_session_taken_by_others_later_is_not_ours():
    leader = Process(500, 1, 500, 500, "S", started=1000)
    member = Process(600, 1, 600, 500, "S", started=2000)
    older = member._replace(started=999)
    assert tree.in_session(member, leader)
    assert not tree.in_session(older, leader)
    assert not tree.in_session(member._replace(session=501), leader)
    assert not tree.in_session(member, None)
