"""How an attempt ended is told from its exit, its limits and the wish to end it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.waiting import until


def python(code):
    return f'{sys.executable} -c "{code}"'


def test_success_has_no_error(attempt):
    result = attempt("echo hi").result()
    assert (result.kind, result.exit_code, result.error) == ("success", 0, "")


@pytest.mark.parametrize("code", [1, 3, 124, 255])
def test_exit_code_is_a_failure_that_names_it(attempt, code):
    result = attempt(f"exit {code}").result()
    assert (result.kind, result.exit_code, result.error) == ("failed", code, f"exited with code {code}")


@pytest.mark.parametrize(("number", "words"), [(11, "(SIGSEGV)"), (9, "memory ran out"), (35, "real-time signal")])
def test_signal_is_a_failure_that_names_it(attempt, number, words):
    result = attempt(f"kill -{number} $$; exec sleep 600").result()
    assert (result.kind, result.exit_code, result.signal) == ("failed", None, number)
    assert words in result.error


def test_times_and_usage_are_recorded(attempt):
    begun = time.monotonic()
    result = attempt(python("x = bytearray(80_000_000); print(sum(range(3_000_000)))")).result()
    assert result.started_at < result.ended_at
    assert 0 < result.duration_seconds < time.monotonic() - begun
    assert 0 < result.cpu_seconds < (time.monotonic() - begun) * os.cpu_count()
    assert 80_000_000 < result.peak_memory_bytes < 200_000_000


def test_cpu_of_children_counts(attempt):
    burn = python("import time; end = time.process_time() + .3\nwhile time.process_time() < end: pass")
    assert attempt(f"({burn}) & wait").result().cpu_seconds > 0.3


def test_token_of_the_attempt_is_in_its_result(attempt):
    running = attempt()
    assert running.result().token == running.token


def test_runner_says_when_the_job_has_started(attempt):
    running = attempt("sleep 0.1")
    os.set_blocking(running.notes, True)
    assert json.loads(os.read(running.notes, 4096))["pid"] == running.job


@pytest.fixture
def timed_out(attempt):
    """An attempt of this that said "ready" before its time was up, and has ended: on a busy machine not each does, nor
    has each begun by then.
    """

    def ready_in_time(body):
        running = attempt(body, timeout_seconds=0.5)
        assert running.result().kind == "timeout"
        return running if "ready" in running.text else None

    return lambda body: until(lambda: ready_in_time(body))


def test_time_limit_ends_the_job(timed_out):
    running = timed_out("echo ready; exec sleep 600")
    assert running.result().signal == signal.SIGTERM
    assert running.result().error == "ran longer than its time limit of 0.5 s and was ended"
    assert "time limit of 0.5 s reached: TERM sent to 1 process" in running.text


def test_time_limit_ends_what_ignores_term(timed_out):
    running = timed_out("trap '' TERM; echo ready; while :; do sleep 0.05; done")
    assert running.result().signal == signal.SIGKILL
    assert "KILL sent to" in running.text


def test_job_that_ends_well_on_term_still_timed_out(timed_out):
    assert timed_out("trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done").result().exit_code == 0


def test_work_stops_at_the_time_limit(timed_out, tmp_path):
    """bug-017: the run is called failed, and goes on writing."""
    ticks = tmp_path / "ticks"
    timed_out(f"while :; do echo tick >> {ticks}; echo ready; sleep 0.05; done")
    before = ticks.read_text()
    subprocess.run(["/bin/sleep", "0.2"], check=True)
    assert ticks.read_text() == before != ""


def test_cancel_ends_the_job(attempt):
    running = attempt("echo ready; exec sleep 600")
    running.prints("ready")
    running.cancel()
    result = running.result()
    assert (result.kind, result.signal, result.error) == ("cancelled", 15, "was cancelled while it ran")


def test_second_cancel_changes_nothing(attempt, gate):
    running = attempt(f"trap '{gate}; exit 7' TERM; echo ready; while :; do sleep 0.02; done", kill_grace_seconds=60)
    running.prints("ready")
    running.cancel()
    running.cancel()
    gate.open()
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


def test_cancel_after_the_jobs_own_end_ends_what_it_left(attempt):
    """Another try, if what is left was ended before the cancel came."""
    left = "until ! kill -0 $$; do sleep 0.01; done; while :; do echo left; sleep 0.05; done"

    def is_ended_by_the_cancel():
        running = attempt(f"({left}) 2>/dev/null & exit 4")
        running.prints("left")
        running.cancel()
        assert (running.result().kind, running.alive()) == ("failed", [])
        return "cancelled after the job has ended: TERM sent to" in running.text

    until(is_ended_by_the_cancel)


def test_cancel_before_the_start_starts_nothing(attempt, tmp_path):
    running = attempt(f"touch {tmp_path}/ran", wanted=False)
    result = running.result()
    assert (result.kind, result.started_at) == ("cancelled", None)
    assert result.error == "was cancelled before it was started"
    assert not (tmp_path / "ran").exists()


def test_term_without_the_wish_is_a_stray(attempt, gate):
    running = attempt(f"echo ready; {gate}; echo done")
    running.prints("ready")
    signal.pidfd_send_signal(running.pidfd, signal.SIGTERM)
    gate.open()
    assert running.result().kind == "success"
