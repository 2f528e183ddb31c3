"""A node has a warm launcher for each Python that scripts are run by, for as long as it is used."""

import sys
from pathlib import Path

import pytest

from jobs.execution import line, lines
from jobs.execution.rundir import RESULT, RunDir
from jobs.execution.spec import Result
from tests.execution.running import is_alive
from tests.waiting import until

VERSION = ".".join(map(str, sys.version_info[:3]))
FOR_THE_LAUNCHER = "import sys; sys.orig_argv[1] == '-c' and "  # not for the script


@pytest.fixture
def environment(tmp_path):
    """environment("name", "text of a .pth file") -> the interpreter of a virtual environment, as uv would make it."""

    def make(name, at_start="", version=VERSION):
        home = Path(sys._base_executable).resolve().parent
        folder = tmp_path / name
        packages = folder / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
        packages.mkdir(parents=True)
        (packages / "at_start.pth").write_text(f"{at_start}\n")
        (packages / "which.py").write_text(f"NAME = {name!r}")
        (folder / "pyvenv.cfg").write_text(f"home = {home}\nversion_info = {version}\n")
        (folder / "bin").mkdir()
        (folder / "bin/python").symlink_to(Path(sys._base_executable).resolve())
        return str(folder / "bin/python")

    return make


def result(node, ref):
    node.outcome(ref)
    with RunDir(str(node.path(ref))) as rundir:
        return Result.from_json(rundir.read_json(RESULT))


def run(node, interpreter, body=""):
    ref = node.launch(body, kind="script", interpreter=interpreter)
    return result(node, ref)


def run_warm(node, interpreter):
    until(lambda: run(node, interpreter).start_method == "warm")
    return node.launcher_pid(warm=True, interpreter=interpreter)


def test_each_environment_starts_its_own_warm(node, environment):
    for name in ("one", "other"):
        python = environment(name)
        run_warm(node, python)
        ref = node.launch("import sys, which\nprint(which.NAME, sys.executable)", kind="script", interpreter=python)
        assert result(node, ref).start_method == "warm"
        assert node.text(ref) == f"{name} {python}\n"


def test_command_of_an_environment_needs_no_warm_launcher(node, environment):
    python = environment("one")
    node.outcome(node.launch("true", interpreter=python))
    assert node.line(True, python) is None


@pytest.mark.parametrize("version", ["3.9.18", "3.13.0"])
def test_python_that_cannot_start_warm_is_named(node, environment, version):
    python = environment("one", version=version)
    found = run(node, python, "import which")
    assert (found.kind, found.start_method) == ("success", "cold")
    assert found.start_note == f"Python {version.rpartition('.')[0]} is not started warm, only 3.11 and 3.12 are"
    assert node.line(True, python).launcher is None


def test_missing_interpreter_is_rejected(node, tmp_path):
    ref = node.launch("", kind="script", interpreter=f"{tmp_path}/bin/python")
    assert node.outcome(ref).kind == "rejected"
    assert "bin/python: No such file" in node.outcome(ref).error


def test_launcher_that_blocks_is_killed(node, environment, monkeypatch, caplog):
    """Once, then its line rests."""
    monkeypatch.setattr(line, "ANSWER_SECONDS", 0.2)
    python = environment("one", FOR_THE_LAUNCHER + "__import__('time').sleep(600)")
    ref = node.launch("import which", kind="script", interpreter=python)
    pid = until(lambda: (its := node.line(True, python)) and its.launcher and its.launcher.process.pid)
    until(lambda: node.executor.nudge() or not is_alive(pid))
    monkeypatch.undo()
    found = result(node, ref)
    assert (found.kind, found.start_method) == ("success", "cold")
    assert "did not answer for 0.2 s and was killed" in found.start_note
    assert "did not answer for 0.2 s and was killed" in caplog.text
    assert not is_alive(pid)
    assert run(node, python).start_note == f"the warm launcher was of no use: {node.line(True, python).failure}"


def test_launcher_that_ends_at_once_is_not_asked_again(node, environment, monkeypatch):
    python = environment("one", FOR_THE_LAUNCHER + "__import__('os')._exit(3)")
    assert "the warm launcher did not start it" in run(node, python).start_note
    assert "the warm launcher was of no use" in run(node, python, "import which").start_note
    monkeypatch.setattr(line, "REST_SECONDS", 0)
    assert "the warm launcher did not start it" in run(node, python).start_note


def test_unused_launchers_of_environments_end(node, environment, monkeypatch):
    python = environment("one")
    pids = [run_warm(node, each) for each in (python, sys.executable)]
    node.executor.nudge()
    monkeypatch.setattr(lines, "IDLE_SECONDS", 0.0)
    node.executor.nudge()
    until(lambda: not is_alive(pids[0]))
    until(lambda: node.line(True, python) is None)
    assert is_alive(pids[1])
    run_warm(node, python)


def test_warm_launchers_are_bounded(node, environment, monkeypatch):
    """That which was used longest ago makes room; the service's own does not count."""
    monkeypatch.setattr(lines, "MOST_WARM", 2)
    one, other, third = map(environment, ("one", "other", "third"))
    pids = [run_warm(node, each) for each in (sys.executable, one, other, one, third)]
    assert [is_alive(pid) for pid in pids] == [True, True, False, True, True]


def test_busy_launchers_make_no_room(node, environment, monkeypatch):
    monkeypatch.setattr(lines, "MOST_WARM", 0)
    assert run(node, environment("one")).start_note == "all 0 warm launchers of other environments are busy"


@pytest.mark.parametrize("changed", ["at_start.pth", "new.dist-info", "pyvenv.cfg"])
def test_changed_environment_has_a_new_launcher(node, environment, changed):
    python = environment("one")
    pid = run_warm(node, python)
    folder = Path(python).parents[1]
    file = folder / changed if changed == "pyvenv.cfg" else next(folder.glob("lib/*/site-packages")) / changed
    text = file.read_text() if file.exists() else ""
    file.write_text(text + "\n")
    assert run(node, python).kind == "success"
    assert run_warm(node, python) != pid
    assert not is_alive(pid)


def test_environment_that_was_made_anew_has_a_new_launcher(node, environment):
    python = environment("one")
    pid = run_warm(node, python)
    folder = Path(python).parents[1]
    folder.rename(folder.with_name("old"))
    environment("one")
    assert run_warm(node, python) != pid
