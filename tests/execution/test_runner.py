"""A runner starts the job, sees how it ends, and leaves nothing of it behind."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.execution import log, moment
from jobs.execution.rundir import WORK
from jobs.execution.tree import process
from tests.execution.conftest import is_alive, until


def python(code):
    return f'{sys.executable} -c "{code}"'


# --- How it ended ---


def test_success_has_no_error(attempt):
    result = attempt("echo hi").result()
    assert (result.kind, result.exit_code, result.error) == ("success", 0, "")


@pytest.mark.parametrize("code", [1, 3, 124, 255])
def test_exit_code_is_a_failure_that_names_it(attempt, code):
    result = attempt(f"exit {code}").result()
    assert (result.kind, result.exit_code, result.error) == ("failed", code, f"exited with code {code}")


@pytest.mark.parametrize(("number", "words"), [(11, "(SIGSEGV)"), (9, "memory ran out"), (35, "real-time signal")])
def test_signal_is_a_failure_that_names_it(attempt, number, words):
    result = attempt(f"kill -{number} $$; exec sleep 60").result()
    assert (result.kind, result.exit_code, result.signal) == ("failed", None, number)
    assert words in result.error


def test_times_and_usage_are_recorded(attempt):
    result = attempt(python("x = bytearray(80_000_000); print(sum(range(3_000_000)))")).result()
    assert result.started_at < result.ended_at
    assert 0 < result.cpu_seconds < result.duration_seconds * os.cpu_count()
    assert 80_000_000 < result.peak_memory_bytes < 200_000_000


def test_cpu_of_children_counts(attempt):
    burn = python("import time; end = time.process_time() + .3\nwhile time.process_time() < end: pass")
    assert attempt(f"({burn}) & wait").result().cpu_seconds > 0.3


def test_token_of_the_attempt_is_in_its_result(attempt):
    running = attempt()
    assert running.result().token == running.token


def test_runner_says_when_the_job_has_started(attempt):
    running = attempt("sleep 0.1")
    assert json.loads(os.read(running.notes, 4096))["pid"] == running.job


# --- Time limit ---


def test_time_limit_ends_the_job(attempt):
    running = attempt("echo $$; exec sleep 600", timeout_seconds=0.2)
    result = running.result()
    assert (result.kind, result.signal) == ("timeout", signal.SIGTERM)
    assert result.error == "ran longer than its time limit of 0.2 s and was ended"
    assert "time limit of 0.2 s reached: TERM sent to 1 process" in running.text


def test_time_limit_ends_what_ignores_term(attempt):
    running = attempt("trap '' TERM; while :; do sleep 0.05; done", timeout_seconds=0.2)
    result = running.result()
    assert (result.kind, result.signal) == ("timeout", signal.SIGKILL)
    assert "KILL sent to" in running.text


def test_job_that_ends_well_on_term_still_timed_out(attempt):
    result = attempt("trap 'exit 0' TERM; while :; do sleep 0.05; done", timeout_seconds=0.2).result()
    assert (result.kind, result.exit_code) == ("timeout", 0)


def test_work_stops_at_the_time_limit(attempt, tmp_path):
    ticks = tmp_path / "ticks"
    attempt(f"while :; do echo tick >> {ticks}; sleep 0.05; done", timeout_seconds=0.3).result()
    before = ticks.read_text()
    subprocess.run(["/bin/sleep", "0.2"], check=True)
    assert ticks.read_text() == before != ""


# --- Cancel ---


def test_cancel_ends_the_job(attempt):
    running = attempt("echo ready; exec sleep 600")
    running.prints("ready")
    running.cancel()
    result = running.result()
    assert (result.kind, result.signal, result.error) == ("cancelled", 15, "was cancelled while it ran")


def test_second_cancel_changes_nothing(attempt):
    running = attempt("trap 'sleep 0.1; exit 7' TERM; echo ready; while :; do sleep 0.02; done")
    running.prints("ready")
    running.cancel()
    running.cancel()
    assert (running.result().kind, running.result().exit_code) == ("cancelled", 7)


def test_cancel_after_the_end_changes_nothing(attempt):
    running = attempt("exit 3")
    running.result()
    with contextlib.suppress(ProcessLookupError):  # unless the launcher has not reaped it yet
        running.cancel()
    assert running.result().kind == "failed"


def test_cancel_while_leftovers_end_keeps_the_own_outcome(attempt):
    running = attempt("(trap '' TERM; exec sleep 600) & sleep 0.2; exit 4", kill_grace_seconds=1)
    running.prints("TERM sent")
    running.cancel()
    assert running.result().kind == "failed"


def test_cancel_before_the_start_starts_nothing(attempt, tmp_path):
    running = attempt(f"touch {tmp_path}/ran", wanted=False)
    result = running.result()
    assert (result.kind, result.started_at) == ("cancelled", None)
    assert result.error == "was cancelled before it was started"
    assert not (tmp_path / "ran").exists()


def test_term_without_the_wish_is_a_stray(attempt):
    running = attempt("echo ready; sleep 0.3; echo done")
    running.prints("ready")
    signal.pidfd_send_signal(running.pidfd, signal.SIGTERM)
    assert running.result().kind == "success"


# --- Kill means kill ---

DAEMON = "(setsid sh -c 'trap \"\" TERM; (sleep 601 & exec sleep 602) & exec sleep 603' &)"


@pytest.mark.parametrize("stubborn", ["", "trap '' TERM;"])
def test_cancel_ends_every_descendant(attempt, stubborn):
    running = attempt(f"{stubborn} {DAEMON}; sleep 604 & echo ready; while :; do sleep 605; done")
    until(lambda: len(running.alive()) >= 6, "all processes")
    running.cancel()
    assert running.result().kind == "cancelled"
    assert running.alive() == []


def test_time_limit_ends_every_descendant(attempt):
    running = attempt(f"{DAEMON}; sleep 604 & sleep 605", timeout_seconds=0.5)
    assert running.result().kind == "timeout"
    assert running.alive() == []


def test_what_a_job_leaves_behind_is_ended_and_counted(attempt):
    running = attempt("sleep 601 & sleep 602 & exit 0")
    result = running.result()
    assert (result.kind, result.descendants_ended) == ("success", 2)
    assert running.alive() == []
    assert "the job has ended and left processes: TERM sent to 2 processes" in running.text


def test_leftovers_may_finish_within_the_grace(attempt):
    running = attempt("(trap 'echo tidy; exit' TERM; echo set; while :; do sleep 0.02; done) & sleep 0.3",
                      kill_grace_seconds=20)  # fmt: skip
    running.result()
    assert "tidy" in running.text


def test_leftover_that_holds_the_pipe_does_not_hang(attempt):
    running = attempt("(trap '' TERM; exec sleep 600) & sleep 0.1; echo last")
    assert running.result().kind == "success"
    assert "last" in running.text


def test_stopped_job_is_ended(attempt):
    running = attempt("kill -STOP $$; echo never", timeout_seconds=0.3)
    assert running.result().kind == "timeout"
    assert running.alive() == []


def test_stopped_job_that_minds_term_goes_on_to_end(attempt):
    command = "trap 'echo bye; exit 5' TERM; kill -STOP $$; sleep 600"
    running = attempt(command, timeout_seconds=0.3, kill_grace_seconds=20)
    assert running.result().exit_code == 5
    assert "bye" in running.text


def test_kill_zero_does_not_hit_the_runner(attempt):
    result = attempt("kill -KILL 0").result()
    assert (result.kind, result.signal) == ("failed", 9)


def test_job_that_forks_without_end_is_ended(attempt):
    running = attempt("trap '' TERM; while :; do (sleep 0.01 &) ; done", timeout_seconds=0.3)
    assert running.result().kind == "timeout"
    assert running.alive() == []


CHAIN = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True:
    if os.fork():
        os._exit(0)
"""


def test_process_that_moves_on_by_fork_is_ended(attempt):
    running = attempt(CHAIN, "script", timeout_seconds=0.5)
    running.result()
    assert running.alive() == []


def test_death_of_the_runner_kills_the_job(attempt):
    running = attempt("exec sleep 600")
    job = running.job
    signal.pidfd_send_signal(running.pidfd, signal.SIGKILL)
    until(lambda: not is_alive(job), "the end of the job")


# --- Surroundings ---


def test_job_leads_a_session_of_its_own(attempt):
    running = attempt("exec sleep 600")
    job = process(running.job)
    assert job.session == job.pid == job.group != process(running.pid).session


def test_whole_tree_has_exactly_its_cores(attempt):
    core = max(os.sched_getaffinity(0))
    running = attempt("sleep 600 & (setsid sleep 601 &); sleep 602", cores=[core])
    tree = until(lambda: len(found := running.alive()) == 3 and found, "the tree")
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
        "ROTA_WORKSPACE": workspace,
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
    assert {facts[name] for name in ("SigBlk", "SigIgn", "SigCgt")} == {"0" * 16}


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


# --- Kinds of jobs ---


def test_script_runs_as_python_with_its_file_first(attempt):
    running = attempt("import sys, os\nprint(sys.argv, sys.path[0], __name__, os.getcwd(), file=sys.stderr)", "script")
    running.result()
    job = running.path / "job"
    assert running.text == f"['{job}/script.py'] {job} __main__ {running.path}/{WORK}\n"


def test_script_of_another_interpreter_is_honoured(attempt):
    running = attempt("#!/bin/sh\necho $0 | sed 's,.*/,,'", "script")
    running.result()
    assert running.text == "script\n"


def test_python_line_means_the_python_of_the_job(attempt):
    running = attempt("#!/usr/bin/env python3\nimport sys; print(sys.executable)", "script")
    running.result()
    assert running.text == f"{sys.executable}\n"


def test_python_file_on_the_node_is_run(attempt, tmp_path):
    (tmp_path / "it.py").write_text("print('from file')")
    running = attempt(str(tmp_path / "it.py"), "script_path")
    running.result()
    assert running.text == "from file\n"


def test_executable_file_on_the_node_is_run(attempt, tmp_path):
    (file := tmp_path / "it").write_text("#!/bin/sh\necho from file")
    file.chmod(0o755)
    running = attempt(str(file), "script_path")
    running.result()
    assert running.text == "from file\n"


def test_script_with_an_error_shows_its_traceback(attempt):
    running = attempt("def f():\n    raise ValueError('oh')\nf()", "script")
    assert running.result().exit_code == 1
    assert "line 2, in f" in running.text
    assert "ValueError: oh" in running.text


# --- What cannot be started ---


def rejected(running, *words):
    result = running.result()
    assert (result.kind, result.started_at, result.exit_code) == ("rejected", None, None)
    for word in words:
        assert word in result.error
    return True


def test_missing_interpreter_is_named(attempt):
    script = "#!/usr/bin/nosuchinterp\necho hi\n"
    assert rejected(attempt(script, "script"), "/usr/bin/nosuchinterp", "No such file or directory (errno 2)")


def test_missing_python_is_named(attempt):
    assert rejected(attempt("1", "script", interpreter="/no/python"), "/no/python", "(errno 2)")


def test_missing_file_is_named(attempt):
    assert rejected(attempt("/no/such.py", "script_path"), "/no/such.py: No such file or directory (errno 2)")


def test_directory_is_no_script(attempt, tmp_path):
    (folder := tmp_path / "folder.py").mkdir()
    assert rejected(attempt(str(folder), "script_path"), str(folder), "Is a directory (errno 21)")
    assert rejected(attempt(str(tmp_path), "script_path"), str(tmp_path), "Permission denied (errno 13)")


def test_file_without_execute_bit_is_named(attempt, tmp_path):
    (file := tmp_path / "it.sh").write_text("#!/bin/sh\n")
    assert rejected(attempt(str(file), "script_path"), str(file), "errno 13", "execute bit")


def test_missing_working_directory_is_named(attempt):
    assert rejected(attempt(working_directory="/no/dir"), "working directory /no/dir: No such file", "errno 2")


def test_core_that_is_not_there_is_named(attempt):
    assert rejected(attempt(cores=[4000]), "cores 4000", "usable are")


def test_argument_that_no_process_can_have_is_refused(attempt):
    assert rejected(attempt("echo \0"), "/bin/bash", "null byte")


def test_late_runner_starts_nothing(attempt, tmp_path):
    running = attempt(f"touch {tmp_path}/ran", start_before=moment.now().after_wall(0))
    result = running.result()
    assert result.kind == "lost"
    assert "too late" in result.error
    assert not (tmp_path / "ran").exists()


# --- Output ---


def test_output_keeps_streams_and_order(attempt):
    running = attempt("echo one; sleep .1; echo two >&2; sleep .1; printf three")
    running.result()
    assert [(entry.stream, entry.data) for entry in log.entries(running.path)] == [
        (log.STDOUT, b"one\n"), (log.STDERR, b"two\n"), (log.STDOUT, b"three"),
    ]  # fmt: skip


def test_last_line_without_newline_shows_before_the_end(attempt):
    running = attempt("printf 'first\\nno newline at the end'; sleep 600")
    running.prints("first\nno newline at the end")


def test_binary_output_is_kept(attempt, tmp_path):
    (tmp_path / "data").write_bytes(data := os.urandom(100_000))
    running = attempt(f"cat {tmp_path}/data")
    running.result()
    assert log.read(running.path, limit=1 << 20).data == data


def test_character_printed_byte_by_byte_is_whole(attempt):
    script = (
        "import sys, time\nfor x in 'żółw€🚀'.encode():\n"
        "    sys.stdout.buffer.write(bytes([x])); sys.stdout.flush(); time.sleep(.02)"
    )
    running = attempt(script, "script")
    running.result()
    assert running.text == "żółw€🚀"
    assert all(log.read_text(running.path, n).text == "żółw€🚀".encode()[n:].decode(errors="ignore") for n in range(15))


def test_very_long_line_does_not_end_the_capture(attempt):
    running = attempt("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo after")
    assert running.result().kind == "success"
    assert running.text == "x" * 3_000_000 + "\nafter\n"


def test_many_lines_with_nobody_reading(attempt):
    running = attempt("i=0; while [ $i -lt 200000 ]; do echo line $i; i=$((i+1)); done; echo END")
    assert running.result().kind == "success"
    assert running.text.endswith("line 199999\nEND\n")


def test_flood_is_capped_with_head_and_tail_kept(attempt):
    running = attempt("echo HEAD; yes | head -c 30000000; echo TAIL", log_cap_bytes=1_000_000)
    assert running.result().log["bytes"] == 30_000_010
    assert sum(file.stat().st_size for file in (running.path / "log").iterdir()) < 1_100_000
    assert log.read(running.path, limit=5).data == b"HEAD\n"
    assert log.tail_text(running.path, 5) == "TAIL\n"


def test_endless_flood_is_cancelled(attempt):
    running = attempt("yes", log_cap_bytes=1_000_000)
    until(lambda: log.state(running.path).end > 50_000_000, "the flood")
    running.cancel()
    assert running.result().kind == "cancelled"


def test_carriage_returns_are_kept_raw(attempt):
    running = attempt("for i in 1 2 3; do printf '\\r%3d%%' $i; done; printf '\\nfinished\\n'")
    running.result()
    assert running.text == "\r  1%\r  2%\r  3%\nfinished\n"


# --- A full disk ---


@pytest.fixture
def small_disk(tmp_path):
    if os.getuid() != 0:
        pytest.skip("only root may mount a small disk")
    (disk := tmp_path / "disk").mkdir()
    if subprocess.run(["/bin/mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", disk], check=False).returncode:
        pytest.skip("this machine does not let us mount a small disk")
    yield disk
    subprocess.run(["/bin/umount", disk], check=True)


def test_job_on_a_full_disk_ends_with_its_outcome(attempt, small_disk):
    running = attempt("yes | head -c 5000000; exit 6", path=small_disk / "run")
    result = running.result()
    assert (result.kind, result.exit_code) == ("failed", 6)
    assert result.log["error"] == "No space left on device"
    assert log.state(running.path).lost_bytes > 4_000_000


def test_job_that_fills_the_disk_itself_gets_a_result(attempt, small_disk):
    running = attempt(f"dd if=/dev/zero of={small_disk}/big bs=4k; rm -f x; exit 2", path=small_disk / "run")
    assert running.result().exit_code == 2


def test_run_directory_survives_for_reading(attempt):
    running = attempt("echo hi")
    running.result()
    names = {file.name for file in running.path.iterdir()}
    assert names == {"claim", "log", "result.json", "spec.json", "started.json"}
