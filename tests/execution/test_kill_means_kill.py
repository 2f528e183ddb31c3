"""No process that a job started survives its end, its cancel or its time limit."""

import os
import signal

import pytest

from jobs.execution.tree import has_variable, process
from jobs.execution.usage import use_of
from tests.execution.running import HEADLESS, is_alive
from tests.waiting import until

DAEMON = "(setsid sh -c 'trap \"\" TERM; (sleep 601 & exec sleep 602) & exec sleep 603' &)"


@pytest.mark.parametrize("stubborn", ["", "trap '' TERM;"])
def test_cancel_ends_every_descendant(attempt, stubborn):
    running = attempt(f"{stubborn} {DAEMON}; sleep 604 & echo ready; while :; do sleep 605; done")
    until(lambda: len(running.alive()) >= 6)
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


def test_leftovers_may_finish_within_the_grace(attempt, gate):
    left = f"(trap 'echo tidy; exit' TERM; touch {gate.path}; while :; do sleep 0.02; done)"
    running = attempt(f"{left} & {gate}", kill_grace_seconds=20)
    running.result()
    assert "tidy" in running.text


def test_filter_of_the_output_takes_in_its_last_lines(attempt):
    """TERM hit the filter of `exec > >(tee log)` before it had read what the job printed last."""
    running = attempt('exec > >(while read -r line; do echo "got $line"; done); seq 300')
    result = running.result()
    assert running.text.split() == [word for number in range(1, 301) for word in ("got", str(number))]
    assert (result.kind, result.descendants_ended) == ("success", 0)


def test_slow_filter_that_its_job_waits_for_takes_in_all(attempt, gate):
    running = attempt(f"exec > >({gate}; cat); filter=$!; seq 3; echo ready >&2; exec >&-; wait $filter")
    running.prints("ready")
    gate.open()
    result = running.result()
    assert running.text.split() == ["ready", "1", "2", "3"]
    assert (result.kind, result.descendants_ended) == ("success", 0)


def test_slow_filter_that_ignores_term_has_the_grace(attempt, gate):
    filters = f"trap '' TERM; touch deaf; {gate}; cat"
    running = attempt(f"exec > >({filters}); seq 3; until [ -e deaf ]; do sleep 0.01; done", kill_grace_seconds=60)
    running.prints("TERM sent to")
    gate.open()
    assert running.result().kind == "success"
    assert running.text.split()[-3:] == ["1", "2", "3"]


def test_leftover_that_holds_the_pipe_does_not_hang(attempt):
    running = attempt("(trap '' TERM; exec sleep 600) & sleep 0.1; echo last")
    assert running.result().kind == "success"
    assert "last" in running.text


def test_stopped_job_is_ended(attempt):
    running = attempt("kill -STOP $$; echo never", timeout_seconds=0.3)
    assert running.result().kind == "timeout"
    assert running.alive() == []


def test_stopped_job_that_minds_term_goes_on_to_end(attempt):
    running = attempt("trap 'echo bye; exit 5' TERM; kill -STOP $$; sleep 600", kill_grace_seconds=20)
    until(lambda: process(running.job).state == "T")
    running.cancel()
    assert running.result().exit_code == 5
    assert "bye" in running.text


def test_job_that_closes_its_output_as_it_is_cancelled_is_cancelled(attempt, gate):
    """Heard of at once, after the wish: its runner read on from a pipe that it had just closed, and called it lost."""
    running = attempt(f"trap '' TERM; echo ready; {gate}; exec >&- 2>&-; touch closed; exec sleep 600")
    running.prints("ready")
    os.kill(running.pid, signal.SIGSTOP)
    until(lambda: process(running.pid).state == "T")
    running.cancel()
    gate.open()
    until((running.path / "work/closed").exists)
    os.kill(running.pid, signal.SIGCONT)
    assert running.result().kind == "cancelled"


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


def test_process_in_the_middle_of_an_execve_is_seen(attempt, tmp_path):
    """It has no environment for a moment: one look in thirty took it for somebody else's, and left it running."""
    again = tmp_path / "again"
    again.write_text(f"exec sh {again}")
    running = attempt(f"exec sh {again}")
    mark = f"ROTA_TOKEN={running.token}".encode()
    until(lambda: has_variable(running.job, mark))
    assert sum(has_variable(running.job, mark) for _ in range(5000)) == 5000
    running.cancel()
    running.result()


def test_process_whose_first_thread_has_ended_gets_its_term(attempt):
    """It looks like one that waits to be reaped: no TERM was sent to it, and after a kill of its runner no KILL."""
    running = attempt(HEADLESS, "script", kill_grace_seconds=60)
    until(lambda: process(running.job).state == "Z")
    assert [one.pid for one in running.alive()] == [running.job]
    running.cancel()
    assert running.result().signal == signal.SIGTERM
    assert running.alive() == []


def test_memory_of_a_process_counts_when_its_first_thread_has_ended(attempt):
    grows = "import time; large = bytearray(80_000_000); "
    running = attempt(HEADLESS.replace("import", f"{grows}import", 1), "script")
    until(lambda: process(running.job).state == "Z")
    assert use_of(running.job).memory_bytes > 80_000_000


def test_death_of_the_runner_kills_the_job(attempt):
    running = attempt("exec sleep 600")
    job = running.job
    signal.pidfd_send_signal(running.pidfd, signal.SIGKILL)
    until(lambda: not is_alive(job))
