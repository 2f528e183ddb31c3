"""Which scripts start warm, and that to a runner such a job is like any other."""

import io
import json
import os
import signal
import subprocess
import sys
import zipfile
from contextlib import closing
from unittest.mock import Mock

import pytest

from jobs.execution import attempt, fresh, log, preload, titles, warm
from jobs.execution.launching import LauncherProcess
from jobs.execution.program import ARCHIVE, Program, StartError, form_of
from jobs.execution.rundir import RESULT
from jobs.execution.spec import Result, Spec
from jobs.execution.tree import marked, process
from tests.execution.running import is_alive, until
from tests.execution.twice import ENV, Twice

SHAPE = {"LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}


@pytest.fixture(scope="module")
def twice(tmp_path_factory):
    twice = Twice(tmp_path_factory.mktemp("twice"))
    yield twice
    twice.close()


@pytest.fixture
def why(monkeypatch, tmp_path):
    """why(env={...}) -> why a script with this would start cold."""
    monkeypatch.setattr(fresh, "seen", fresh.Seen({}, [], [], SHAPE, None))
    script = tmp_path / "main.py"
    script.touch()

    def why(program=None, interpreter=sys.executable, env=SHAPE, secrets=None, **fields):
        spec = Spec("t", 1, 1, "script_path", str(script), interpreter, dict(env), None, **fields)
        return warm.why_cold(
            spec, program or Program(interpreter, [interpreter, str(script)], str(script)), {**env, **(secrets or {})}
        )

    return why


def test_plain_script_may_start_warm(why):
    assert why() == ""
    assert why(start="warm", env={**SHAPE, "TZ": "Asia/Tokyo", "PYTHON_CPU_COUNT": "2", "MINE": "x"}) == ""


@pytest.mark.parametrize(
    "name", ["PYTHONPATH", "PYTHONHASHSEED", "LC_ALL", "LANGUAGE", "LD_PRELOAD", "MALLOC_ARENA_MAX", "HOME"]
)
def test_variable_that_shapes_python_starts_cold(why, name):
    assert why(env={**SHAPE, name: "x"}) == f"a Python reads {name} when it starts"


def test_secret_that_shapes_python_starts_cold(why):
    assert why(secrets={"LD_AUDIT": "x"}) == "a Python reads LD_AUDIT when it starts"


def test_changed_or_missing_shape_starts_cold(why):
    assert why(env={"LANG": "de_DE.UTF-8"}) == "a Python reads LANG, PYTHONUNBUFFERED when it starts"


def test_what_is_not_a_script_of_our_python_starts_cold(why):
    assert why(Program("/bin/sh", ["/bin/sh", "-c", "true"])) == "it is not run by the job's Python"
    assert why(interpreter="/usr/bin/python9").startswith("the warm launcher is another Python")


def test_wishes_that_need_a_new_process_start_cold(why):
    assert why(start="cold") == "it is to start cold"
    assert why(run_as="nobody") == "it runs as another user"
    assert "memory limit" in why(memory_limit_bytes=1 << 20)
    assert why(env={**SHAPE, "BIG": "x" * 100_000}) == "its environment is large"


def test_archive_with_the_name_of_a_script_starts_cold(why, tmp_path):
    with zipfile.ZipFile(tmp_path / "main.py", "w") as archive:
        archive.writestr("__main__.py", "")
    assert form_of(str(tmp_path / "main.py")) == ARCHIVE
    assert why(Program("python", ["python", "main.py"], "main.py", ARCHIVE)) == "it is an archive"


def test_note_says_why_not_warm(twice):
    result = twice.run("", "auto", env={**ENV, "PYTHONDONTWRITEBYTECODE": "1"})
    assert (result.start_method, result.start_note) == (
        "cold", "a Python reads PYTHONDONTWRITEBYTECODE when it starts",
    )  # fmt: skip
    assert twice.run("", "cold").start_note == ""


def test_missing_script_is_rejected_in_the_same_words(twice):
    cold, warm = (twice.result(*twice.ask("", start, working_directory="/no/such")) for start in ("cold", "warm"))
    assert (warm.kind, warm.error, warm.start_method) == ("rejected", cold.error, "")


def test_time_limit_ends_one_that_ignores_it(twice):
    text = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(1)"

    def ended_by():
        result = twice.run(text, "warm", timeout_seconds=0.3)
        assert result.kind == "timeout"
        return result.start_method, result.signal

    until(lambda: ended_by() == ("warm", signal.SIGKILL))  # before, where it had not begun, or did not ignore it yet


def test_broken_words_of_a_warm_job_cost_it_nothing(twice):
    """Its runner was lost: where C did not find the error of JSON, it raised another that nobody expects."""
    result = twice.run("import sys\nprint('::rota result={bad')\nassert 'json.decoder' not in sys.modules", "warm")
    assert (result.kind, result.start_method, result.error) == ("success", "warm", "")


def test_cancel_ends_all_that_it_forked(node):
    ref = node.launch("import os, time\nfor _ in range(3): os.fork()\nos.setsid() if os.getsid(0) != os.getpid() else 0"
                      "\nos.write(1, b'ready\\n')\ntime.sleep(600)", kind="script")  # fmt: skip
    node.prints(ref, "ready\n" * 8)
    node.executor.cancel(ref)
    assert node.outcome(ref).kind == "cancelled"
    assert marked(ref.token, None) == []


def test_job_dies_with_its_runner(node, warm_node):
    ref = node.launch("import time\nprint('ready')\ntime.sleep(600)", kind="script")
    node.prints(ref, "ready")
    [job] = [one for one in marked(ref.token, None) if one.pid == one.session]
    os.kill(job.parent, signal.SIGKILL)
    assert node.outcome(ref).kind == "lost"
    until(lambda: not is_alive(job.pid))  # one that is just exiting has no memory any more by which it is found


def test_daemon_of_a_killed_runner_is_found(node, warm_node):
    """/proc told the launcher's environment of it, and so not the token of its attempt."""
    ref = node.launch("import os, time\nif os.fork():\n    time.sleep(600)\nos.setsid()\nif os.fork(): os._exit(0)\n"
                      "print('daemon', flush=True)\ntime.sleep(600)", kind="script")  # fmt: skip
    node.prints(ref, "daemon")
    runner = node.runner_pid(ref)
    os.kill(runner, signal.SIGKILL)
    assert node.outcome(ref).kind == "lost"
    assert marked(ref.token, None) == []


@pytest.fixture
def warm_node(node):
    """Until its launcher starts scripts warm."""
    until(lambda: method_of(node, node.launch("", kind="script")) == "warm")


def method_of(node, ref):
    node.outcome(ref)
    return result_of(node, ref).start_method


def result_of(node, ref):
    return Result.from_json(json.loads((node.path(ref) / RESULT).read_text()))


def test_ended_warm_launcher_costs_no_attempt(node, warm_node):
    os.kill(node.launcher_pid(warm=True), signal.SIGSTOP)
    ref = node.launch("print('ran')", kind="script")
    os.kill(node.launcher_pid(warm=True), signal.SIGKILL)
    assert node.outcome(ref).kind == "success"
    assert "warm launcher" in result_of(node, ref).start_note  # it was gone, or the next one has only just begun
    until(lambda: method_of(node, node.launch("", kind="script")) == "warm")


def test_commands_do_not_start_the_warm_launcher(node):
    node.outcome(node.launch("true"))
    assert node.line(warm=True) is None


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """site-packages of a Python of its own, which is that of the test's launchers."""
    folder = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    monkeypatch.setattr(sys, "executable", str(folder / "bin/python"))
    return next(folder.glob("lib/*/site-packages"))


def test_launcher_ends_when_a_package_was_installed(tmp_path, packages):
    with closing(Twice(tmp_path)) as twice:
        (packages / "new.pth").write_text("import sys; sys.installed = 1\n")
        twice.launcher.ask(tmp_path)
        until(lambda: not process(twice.launcher.process.pid).alive)


def test_changed_module_is_loaded_anew(tmp_path, packages):
    (packages / "mine.py").write_text("print('loading'); N = 1")
    with closing(Twice(tmp_path, ["mine"])) as twice:
        script = "import mine\nprint(mine.N)"
        assert seen_text(twice, script) == "1\n"
        (packages / "mine.py").write_text("print('again'); N = 22")
        assert seen_text(twice, script) == "again\n22\n"


def test_module_that_starts_a_thread_ends_warm_starts(tmp_path, packages):
    (packages / "busy.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start()"
    )
    launcher = LauncherProcess(sys.executable, tmp_path / "log", warm=True, imports=["no_such", "busy"])
    with closing(Twice(tmp_path, launcher=launcher)) as twice:
        until(lambda: "busy, loaded in advance, has started a thread" in twice.run("", "auto").start_note)
    assert "no_such is not loaded in advance: ModuleNotFoundError" in (tmp_path / "log").read_text()


def seen_text(twice, script):
    path, runner = twice.ask(script, "warm")
    assert twice.result(path, runner).start_method == "warm"
    return log.read_text(path).text


def test_start_that_fails_warm_begins_cold(monkeypatch):
    def start(program, around, fork, beginning):
        if fork is warm.fork_to_run:
            raise StartError("python", "OSError: no such call")
        return 7

    monkeypatch.setattr(attempt, "start_job", start)
    monkeypatch.setattr(attempt, "warm_fork", lambda *_: ("", warm.fork_to_run))
    one = attempt.Attempt.__new__(attempt.Attempt)
    one.spec, one.around = None, Mock(env={})
    assert one.fork(None, None) == "its warm start failed: python: OSError: no such call"
    assert one.job == 7


def test_kernel_that_tells_less_of_a_process_starts_nothing_warm(monkeypatch):
    monkeypatch.setattr(titles, "stat_words", titles.stat_words.__wrapped__)  # which keeps nothing for other tests
    monkeypatch.setattr(titles, "open", lambda *_: io.BytesIO(b"1 (python) R 1 1"), raising=False)
    assert preload.why_never() == "this kernel lets no process say what it is: /proc/self/stat is not as in proc(5)"


PACKAGE = "from .work import work\nfrom . import parts\nNAME = parts.NAME"


@pytest.fixture
def packaged(tmp_path, packages):
    """A launcher that has a package loaded, and where that is."""
    folder = packages / "pack"
    folder.mkdir()
    for name, text in {"__init__": PACKAGE, "work": "def work(): return 'works'", "parts": "NAME = 1"}.items():
        (folder / f"{name}.py").write_text(text)
    (packages / "outer.py").write_text("import json, pack")
    with closing(Twice(tmp_path, ["outer"])) as twice:
        yield twice, folder


def test_function_named_like_its_module_stays_one(packaged):
    twice, _ = packaged
    assert seen_text(twice, "import outer, pack, sys\nprint(pack.work(), sys.modules['pack.work'])").startswith("works")
    assert seen_text(twice, "import pack.parts\nprint(pack.work())") == "works\n"


def test_changed_module_far_below_is_loaded_anew(packaged):
    twice, folder = packaged
    (folder / "parts.py").write_text("NAME = 'another'")
    assert seen_text(twice, "import outer, pack\nprint(pack.NAME)") == "another\n"


def test_new_module_in_a_package_is_found(packaged):
    """As a package it comes before the module of its name."""
    twice, folder = packaged
    (folder / "parts").mkdir()
    (folder / "parts/__init__.py").write_text("NAME = 'new'")
    assert seen_text(twice, "import outer, pack\nprint(pack.NAME)") == "new\n"


def test_module_beside_the_script_comes_before_one_far_below(packaged):
    twice, _ = packaged
    assert seen_text(twice, "import outer, pack\nprint(pack.NAME)\n### pack.py\nNAME = 'own'") == "own\n"
