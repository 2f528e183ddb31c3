"""Cgroups that a job shares with others: see also test_confinement.py."""

import os
import signal

from jobs.execution import cgroups


def test_kill_does_not_hit_the_one_who_sends_it(tmp_path, monkeypatch):
    """Version 2 lists a process of another pid namespace as 0, and KILL to 0 is for all of the sender's group."""
    (tmp_path / "cgroup.procs").write_text(f"0\n{os.getpid()}\n4194304\n")
    killed = []
    monkeypatch.setattr(os, "kill", lambda *given: killed.append(given))
    cgroups.kill_members(str(tmp_path))
    assert set(killed) == {(4194304, signal.SIGKILL)}


def test_those_without_a_number_here_are_no_members(tmp_path):
    (tmp_path / "cgroup.procs").write_text(f"0\n{os.getpid()}\n")
    assert [one.pid for one in cgroups.living(str(tmp_path))] == [os.getpid()]
