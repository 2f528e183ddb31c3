"""A job finds the cores, session, environment, signals and workspace that are promised."""

import json
import os
import sys
from pathlib import Path

import pytest

from jobs.execution.rundir import WORK
from jobs.execution.tree import process, read_proc
from tests.waiting import until


def python(code):
    return f'{sys.executable} -c "{code}"'


def test_job_leads_a_session_of_its_own(attempt):
    running = attempt("exec sleep 600")
    job = process(running.job)
    assert job.session == job.pid == job.group != process(running.pid).session


def sleeping(running):
    """Not the shells in between, which may be gone when one looks again."""
    return [one for one in running.alive() if read_proc(one.pid, "comm") == b"sleep\n"]


def test_whole_tree_has_exactly_its_cores(attempt):
    core = max(os.sched_getaffinity(0))
    running = attempt("sleep 600 & (setsid sleep 601 &); sleep 602", cores=[core])
    tree = until(lambda: len(found := sleeping(running)) == 3 and found)
    assert {frozenset(os.sched_getaffinity(pid)) for pid in (running.pid, *(one.pid for one in tree))} == {
        frozenset([core])
    }


def test_unpinned_job_runs_at_lower_priority(attempt):
    running = attempt("nice", nice=7)
    running.result()
    assert running.text == "7\n"


def test_environment_is_what_the_spec_says(attempt):
    running = attempt(python("import os, json; print(json.dumps(dict(os.environ)))"), env={"MINE": "ż $(x)"})
    running.result()
    env = json.loads(running.text)
    workspace = f"{running.path}/{WORK}"
    added_by_bash = {"PWD", "SHLVL", "_", "LC_CTYPE"}
    assert {k: v for k, v in env.items() if k not in added_by_bash} == {
        "PATH": os.defpath, "ROTA_TOKEN": running.token, "PYTHONUNBUFFERED": "1", "MINE": "ż $(x)",
        "ROTA_WORKSPACE": workspace, "ROTA_OUTPUT": f"{running.path}/output",
        "ROTA_PROGRESS_FILE": f"{workspace}/.rota-progress", "ROTA_RESULT_FILE": f"{workspace}/.rota-result",
    }  # fmt: skip
    assert env["PWD"] == workspace


def test_job_inherits_no_descriptor(attempt):
    running = attempt("import os\nfor fd in range(64):\n  try: print(fd, os.readlink(f'/proc/self/fd/{fd}')[:9])\n"
                      "  except OSError: pass", "script")  # fmt: skip
    running.result()
    assert running.text == "0 /dev/null\n1 pipe:\n2 pipe:\n".replace("pipe:", running.text.split()[3])
    assert running.text.count("pipe:[") == 2


def test_job_has_default_signals_and_mask(attempt):
    running = attempt("exec cat /proc/self/status")
    running.result()
    facts = dict(line.split(":\t") for line in running.text.splitlines() if line.startswith("Sig"))
    # Signals 32 and 33 are the C library's own: make starts its commands with them ignored, and nothing can undo it.
    ours = ~(1 << 31 | 1 << 32)
    assert [int(facts[name], 16) & ours for name in ("SigBlk", "SigIgn", "SigCgt")] == [0, 0, 0]


def test_broken_pipe_ends_a_pipeline(attempt):
    running = attempt("yes | head -n 1")
    assert running.result().kind == "success"
    assert running.text == "y\n"


def test_umask_is_set(attempt):
    running = attempt("umask", umask=0o027)
    running.result()
    assert running.text == "0027\n"


CAP_SYS_RESOURCE = 1 << 24
capabilities = int(Path("/proc/self/status").read_text().split("CapEff:")[1].split()[0], 16)


@pytest.mark.skipif(not capabilities & CAP_SYS_RESOURCE, reason="this user may not lower an out-of-memory score")
def test_runner_survives_its_job_when_memory_runs_out(attempt):
    running = attempt("cat /proc/self/oom_score_adj; sleep 600")
    running.prints("\n")
    assert running.text == Path("/proc/self/oom_score_adj").read_text()
    assert Path(f"/proc/{running.pid}/oom_score_adj").read_text() == "-500\n"


def test_workspace_is_removed_at_the_end(attempt):
    running = attempt("pwd; mkdir -p a/b; touch a/b/c; chmod 0 a/b")
    running.result()
    assert running.text.strip() == f"{running.path}/{WORK}"
    assert not (running.path / WORK).exists()


def test_workspace_is_kept_if_asked_for(attempt):
    running = attempt("echo kept > file", keep_workspace=True)
    running.result()
    assert (running.path / WORK / "file").read_text() == "kept\n"


def test_link_in_the_workspace_is_not_followed(attempt, tmp_path):
    (precious := tmp_path / "precious").mkdir()
    (precious / "file").touch()
    attempt(f"ln -s {precious} link").result()
    assert (precious / "file").exists()


def test_path_may_be_long_and_strange(attempt, tmp_path):
    running = attempt("print('hi')", "script", path=tmp_path / "żółw $(x) 'a'" / ("l" * 200) / ("m" * 200))
    assert running.result().kind == "success"
    assert running.text == "hi\n"
