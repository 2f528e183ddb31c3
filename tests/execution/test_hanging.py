"""A file system that does not answer holds the process that asks it, and neither its runner nor anybody else."""

import os
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from jobs.core.packages import PackagesNeeded
from jobs.execution import beginning, declared, ending
from jobs.execution.beginning import Beginning, NotBegunError
from jobs.execution.conditions import conditions_of
from jobs.execution.declared import Declared, NoAnswerError
from jobs.execution.ending import HANG_SECONDS, Ending
from jobs.execution.environments import READS_AT_ONCE, Environments
from jobs.execution.mounts import mounted_in
from jobs.execution.rundir import RESULT
from jobs.execution.samples import read_samples
from jobs.execution.tree import children_of, process
from tests.execution.running import ROOT
from tests.waiting import DEADLINE_SECONDS, until

ASK = "import os, sys; os.chdir(sys.argv[1])"


def test_job_whose_directory_hangs_ends_by_its_time_limit(attempt, hung):
    result = attempt("true", working_directory=f"{hung}/there", timeout_seconds=0.2).result()
    assert (result.kind, result.started_at) == ("timeout", None)
    assert result.error == (
        f"had not begun when its time limit of 0.2 s was over: working directory {hung}/there: "
        "its file system does not answer"
    )


@pytest.mark.parametrize("name", ["script.py", "program"])
def test_job_whose_file_hangs_ends_by_its_time_limit(attempt, hung, name):
    running = attempt(f"{hung}/{name}", "script_path", timeout_seconds=0.2)
    result = running.result()
    assert result.kind == "timeout"
    assert "its file system does not answer" in result.error
    assert conditions_of(running.path).argv[-1] == f"{hung}/{name}"  # for its page, which does not ask the file either


def test_job_whose_interpreter_hangs_ends_by_its_time_limit(attempt, hung):
    result = attempt("", "script", interpreter=f"{hung}/python", timeout_seconds=0.2).result()
    assert result.kind == "timeout"


@pytest.mark.parametrize("kind", ["command", "script_path"])
def test_job_that_waits_to_begin_is_cancelled(attempt, hung, kind):
    running = attempt(f"{hung}/script.py", kind, working_directory=str(hung))
    until(lambda: children_of(running.pid))
    running.cancel()
    result = running.result()
    assert (result.kind, result.error) == ("cancelled", "was cancelled before it was started")
    assert not children_of(running.pid)


def test_others_do_not_wait_for_one_that_hangs(attempt, hung):
    running = attempt("true", working_directory=str(hung))
    until(lambda: children_of(running.pid))
    assert attempt("true").result().kind == "success"
    assert running.file(RESULT) is None


def test_what_a_job_has_mounted_and_hangs_does_not_hold_its_runner(attempt, mount):
    """The look at how much its files take asked it, and from then on saw neither cancel nor time limit."""
    running = attempt("echo begun; sleep 600", min_free_disk_bytes=1 << 60)
    running.prints("begun")
    for name in ("output", "work"):
        mount(running.path / name / "hung")
    seen = len(read_samples(running.path))
    until(lambda: len(read_samples(running.path)) >= seen + 2)
    running.cancel()
    assert running.result().kind == "cancelled"
    assert not mounted_in(str(running.path))


def test_job_that_waits_to_begin_says_what_for(monkeypatch, waiting):
    said = []
    monkeypatch.setattr(beginning, "SAID_AFTER_SECONDS", 0.0)
    with pytest.raises(NotBegunError):
        Beginning(None, 0.1, said.append).read(waiting.pid, waiting.told, "file {}".format)
    assert said == [f"it waits to begin: file {waiting.pid}: its file system does not answer"]


def test_time_limit_may_be_longer_than_the_kernel_waits(monkeypatch):
    monkeypatch.setattr(beginning, "SAID_AFTER_SECONDS", 0.0)
    told, tell = os.pipe()
    began = Beginning(None, 365 * 86_400.0, lambda _: os.close(tell))
    assert began.read(7, told, "file {}".format) == b""
    os.close(told)


def test_what_the_kernel_does_not_let_go_is_given_up(mount, monkeypatch):
    """The attempt was "stopping" for ever, and with it its cores, its memory and its job's next run."""
    monkeypatch.setattr(ending, "kill_children", list)  # this process has others
    hung = mount(deep=True)
    with subprocess.Popen([sys.executable, "-c", ASK, hung.path]) as asking, closing(hung):
        assert hung.asked.wait(DEADLINE_SECONDS)
        end = Ending(asking.pid, 1.0, 0.0, list)
        end._find = lambda: list(filter(None, [process(asking.pid)]))
        end.begin()
        assert end.step(1.0)
        until(lambda: process(asking.pid).state == "D")
        assert [end.step(at) and end.given_up for at in (3.0, 3.1 + HANG_SECONDS)] == [False, True]
        assert end.left.endswith(f"and end when it does: {asking.pid}")


END_ALL = """
import subprocess, sys
from jobs.execution import ending
ending.HANG_SECONDS = 0.05
subprocess.Popen([sys.executable, "-c", *sys.argv[1:]], stdout=subprocess.DEVNULL)
sys.stdin.readline()
print(ending.end_all())
"""


def test_end_of_all_does_not_wait_for_what_the_kernel_holds(mount):
    hung = mount(deep=True)
    command = [sys.executable, "-c", END_ALL, ASK, hung.path]
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, **piped) as ending_all, closing(hung):
        assert hung.asked.wait(DEADLINE_SECONDS)
        said, _ = ending_all.communicate(b"\n", DEADLINE_SECONDS)
    assert said == b"{}\n"


def test_script_that_hangs_is_read_in_vain_and_not_twice(hung, monkeypatch):
    monkeypatch.setattr(declared, "READ_SECONDS", 0.1)
    script = Declared("a", path=f"{hung}/a.py")
    with pytest.raises(NoAnswerError, match="its file system does not answer"):
        script.read()
    monkeypatch.setattr(declared, "Reading", None)
    with pytest.raises(NoAnswerError):
        script.read()


def test_script_that_answers_again_is_read_again(mount, monkeypatch):
    monkeypatch.setattr(declared, "READ_SECONDS", 0.1)
    hung = mount()
    script = Declared("a", path=f"{hung.path}/a.py")
    with pytest.raises(NoAnswerError):
        script.read()
    hung.close()
    until(lambda: not declared.hanging)
    monkeypatch.setattr(declared, "READ_SECONDS", DEADLINE_SECONDS)
    assert script.read().key == ""


def test_scripts_that_hang_keep_no_packages_waiting(tmp_path, mount, monkeypatch):
    monkeypatch.setattr(declared, "READ_SECONDS", 2 * DEADLINE_SECONDS)
    hung = mount()
    opened = Environments(tmp_path, timeout_seconds=60, most_mb=1000, most_days=30)
    opened.open()
    for name in map(str, range(READS_AT_ONCE)):
        opened.prepare(name, Declared(name, path=f"{hung.path}/{name}.py").read, list, reads_file=True)
    answered = threading.Event()
    opened.prepare("other", lambda: PackagesNeeded("", ()), answered.set)
    assert answered.wait(DEADLINE_SECONDS)
    assert opened.take("0", "token") is None
    hung.close()
    opened.close()
