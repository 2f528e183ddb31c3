"""A cancel or a time limit that comes in the moment in which a job begins: it has begun, or it never will."""

import os

import pytest

from jobs.execution import beginning
from jobs.execution.beginning import Beginning, NotBegunError
from jobs.execution.tree import children_of, process
from tests.execution import running
from tests.execution.running import RealLauncher
from tests.waiting import until

DEAF = "from jobs.execution import spawn; import time; spawn.default_signals = lambda: time.sleep(600); "


class Wish:
    """The wish to cancel, as a runner hears it. `meanwhile`: what happens between its coming and its being heard."""

    def __init__(self, meanwhile):
        self._read, write = os.pipe()
        self._meanwhile = meanwhile
        os.close(write)  # so it is there

    @property
    def descriptors(self):
        return [self._read] if self._read else []

    def cancel_comes(self, fd):
        os.close(fd)
        self._read = None
        self._meanwhile()
        return True


def test_job_that_has_begun_by_then_is_no_job_that_never_did(waiting):
    began = Beginning(Wish(waiting.begin), None, list)
    assert began.read(waiting.pid, waiting.told, str) == b""
    assert began.cancelled
    assert process(waiting.pid).state != "T"


def test_job_that_began_within_its_time_limit_has_begun(waiting):
    began = Beginning(None, 0.05, list)
    began._notice = lambda _: waiting.begin()
    began._say_at = began._end_at
    assert began.read(waiting.pid, waiting.told, str) == b""


def test_job_that_has_not_begun_can_do_so_no_more(waiting):
    with pytest.raises(NotBegunError, match="was cancelled before it was started"):
        Beginning(Wish(list), None, list).read(waiting.pid, waiting.told, str)
    waiting.let_begin()
    until(lambda: process(waiting.pid).state == "T")  # what it asked the kernel for comes first
    assert not waiting.has_begun()


def test_job_that_is_frozen_as_it_begins_is_not_waited_for(waiting, monkeypatch):
    """It stops when it is thawed, and that may be never."""
    monkeypatch.setattr(beginning, "STOP_SECONDS", 0.0)
    monkeypatch.setattr(beginning, "process", lambda pid: process(pid)._replace(state="S"))
    with pytest.raises(NotBegunError):
        Beginning(Wish(list), None, list).read(waiting.pid, waiting.told, str)
    waiting.let_begin()
    until(lambda: process(waiting.pid).state == "T")
    assert not waiting.has_begun()


@pytest.fixture
def deaf(monkeypatch):
    """A launcher whose jobs, before they begin, go on ignoring what their runners ignore."""
    with monkeypatch.context() as patch:
        patch.setattr(running, "START", running.START.replace("from", f"{DEAF}from", 1))
        yield


@pytest.fixture
def launcher(deaf, tmp_path):
    launcher = RealLauncher(tmp_path / "launcher.log")
    yield launcher
    launcher.close()


def test_job_that_would_ignore_term_until_it_begins_is_killed(attempt):
    held = attempt("true", kill_grace_seconds=600)
    until(lambda: children_of(held.pid))
    held.cancel()
    result = held.result()
    assert (result.kind, result.error) == ("cancelled", "was cancelled before it was started")
