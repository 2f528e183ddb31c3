"""A job is held to its cores, memory and number of processes: by cgroups where they may be made, else by looks."""

import contextlib
import os
import signal
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from jobs.core.records import Allocation
from jobs.core.states import OutcomeKind
from jobs.execution import cgroup_search, cgroups
from jobs.execution.attempt import Attempt
from jobs.execution.confinement import Passed
from jobs.execution.launch import RecoveryKind
from tests.execution.running import is_alive, until

MEGABYTE = 1024 * 1024
EATER = """
import sys, time
print("ready", flush=True)
kept = []
while True:
    kept.append(bytearray(b"x" * 4_000_000))
    time.sleep(0.002)
"""
BURNERS = """
import hashlib, os, threading, time
while not os.path.exists({gate!r}):
    time.sleep(0.02)
began, before = time.monotonic(), time.process_time()
def burn():
    os.sched_setaffinity(0, range(os.cpu_count()))
    while time.monotonic() < began + 1:
        hashlib.pbkdf2_hmac("sha256", b"x", b"y", 20_000)
threads = [threading.Thread(target=burn) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
used = time.process_time() - before
print(used / (time.monotonic() - began))
"""


@pytest.fixture(autouse=True)
def swept(tmp_path):
    yield
    cgroup_search.sweep(cgroup_search.bases(tmp_path))


@pytest.fixture
def made(tmp_path):
    """made(controller): where attempts get cgroups, or the reason why there is no test."""

    def bases(*controllers):
        for controller in controllers:
            if reason := cgroup_search.found().refusals.get(controller):
                pytest.skip(f"no cgroup for {controller} may be made here: {reason}")
        return cgroup_search.bases(tmp_path)

    return bases


@pytest.fixture(params=["by the kernel", "by looks"])
def bases(request, made):
    return made("memory") if request.param == "by the kernel" else {}


@pytest.fixture
def core():
    return min(os.sched_getaffinity(0))


# --- Memory ---


def test_job_past_its_memory_is_ended_and_nothing_else(attempt, bases):
    other = attempt("echo ready; exec sleep 600", memory_limit_bytes=64 * MEGABYTE, cgroups=bases)
    other.prints("ready")
    result = attempt(EATER, "script", memory_limit_bytes=64 * MEGABYTE, cgroups=bases).result()
    assert result.kind == "memory_exceeded"
    assert result.error.startswith("used more memory than its limit of 64 MB and was ended; its peak was ")
    assert is_alive(other.job)


def test_log_says_that_memory_was_passed(attempt, bases):
    running = attempt(EATER, "script", memory_limit_bytes=64 * MEGABYTE, cgroups=bases)
    running.result()
    assert "[rota] memory limit of 64 MB passed: " in running.text


def test_memory_is_that_of_the_whole_tree(attempt, bases):
    child = f"{sys.executable} -c 'x = bytearray(b\"x\" * 30_000_000); print(1); import time; time.sleep(600)'"
    running = attempt(f"{child} & {child} & {child} & wait", memory_limit_bytes=64 * MEGABYTE, cgroups=bases)
    assert running.result().kind == "memory_exceeded"
    assert running.alive() == []


def test_pages_that_processes_share_count_once(attempt):
    """Each of five resides on the 40 MB of their parent: 200 MB by residence, 40 by share."""
    body = (
        "import os, time; x = bytearray(b'x' * 40_000_000)\n"
        "for _ in range(5):\n    if not os.fork():\n        time.sleep(0.6); os._exit(0)\n"
        "for _ in range(5): os.wait()\n"
    )
    assert attempt(body, "script", memory_limit_bytes=128 * MEGABYTE).result().kind == "success"


def test_peak_below_the_limit_is_no_matter(attempt, bases):
    body = "x = bytearray(b'x' * 30_000_000); import time; time.sleep(0.3)"
    assert attempt(body, "script", memory_limit_bytes=128 * MEGABYTE, cgroups=bases).result().kind == "success"


def test_cancel_stays_a_cancel_past_the_memory(attempt, gate, bases):
    body = EATER.replace("import sys, time", "import os, signal, time; signal.signal(15, signal.SIG_IGN)").replace(
        "kept = []", f"kept = []\nwhile not os.path.exists({str(gate.path)!r}): time.sleep(0.02)"
    )
    running = attempt(body, "script", memory_limit_bytes=64 * MEGABYTE, cgroups=bases, kill_grace_seconds=600)
    running.prints("ready")
    running.cancel()
    running.prints("cancelled: TERM sent")
    gate.open()
    assert (running.result().kind, running.result().signal) == ("cancelled", signal.SIGKILL)


def test_oom_kill_of_a_child_is_the_end_of_the_job(attempt, made):
    """The kernel chooses one process; its parent went on as if nothing had been."""
    eater = f"{sys.executable} -c 'x = bytearray(b\"x\" * 200_000_000)'"
    running = attempt(f"{eater}; echo $?; exec sleep 600", memory_limit_bytes=64 * MEGABYTE,
                      cgroups=made("memory"))  # fmt: skip
    assert running.result().kind == "memory_exceeded"


def test_what_a_job_leaves_is_held_to_its_limits():
    """For the two seconds that it may go on, it could take all memory of the machine."""
    lingering = Mock(ending=None, status=0, ended_by_us=None, reap=lambda: True)
    Attempt.on_passed(lingering, Passed("memory_exceeded", "used too much", "memory limit passed"), 0.0)
    lingering.end.assert_called_once_with(None, "memory limit passed", grace_seconds=0.0)


def test_memory_that_a_job_reserves_is_its_limit(node):
    outcome = node.outcome(node.launch(EATER, kind="script", memory_limit_mb=64))
    assert outcome.kind == OutcomeKind.MEMORY_EXCEEDED
    assert "its limit of 64 MB" in outcome.error


# --- Processes ---


def test_fork_beyond_the_limit_is_refused_by_the_kernel(attempt, made):
    body = (
        "import os, time\n"
        "try:\n    while True:\n        if not os.fork(): time.sleep(600)\n"
        "except BlockingIOError as error:\n    print(error)"
    )
    running = attempt(body, "script", max_processes=10, cgroups=made("pids"))
    assert (running.result().kind, running.result().descendants_ended) == ("success", 9)
    assert "Resource temporarily unavailable" in running.text


def test_job_with_too_many_processes_is_ended_where_forks_cannot_be_refused(attempt):
    running = attempt("for i in $(seq 30); do sleep 600 & done; sleep 600", max_processes=10)
    result = running.result()
    assert result.kind == "failed"
    assert "processes and threads, more than the 10 that it may have, and was ended" in result.error
    assert running.alive() == []


def test_threads_count_as_processes(attempt):
    body = "import threading, time\nfor _ in range(20): threading.Thread(target=time.sleep, args=(600,)).start()"
    assert "more than the 10 that it may have" in attempt(body, "script", max_processes=10).result().error


# --- Cores ---


def cores_used(attempt, gate, **fields):
    """By eight threads, from when the kernel holds them: before its first look, which may come late on a busy machine,
    nothing does.
    """
    running = attempt(BURNERS.format(gate=str(gate.path)), "script", cpu_slots=1, **fields)
    for base in fields["cgroups"].values():
        until(lambda folder=f"{base}/{running.token}": running.job in cgroups.members(folder))
    gate.open()
    assert running.result().kind == "success", running.text
    return float(running.text)


def test_job_that_resets_its_affinity_gets_no_second_core(attempt, gate, made, core):
    found = made("cpuset")
    assert cores_used(attempt, gate, cores=[core], cgroups={"cpuset": found["cpuset"]}) <= 1.05


def test_job_without_cores_of_its_own_gets_its_share(attempt, gate, made):
    """A quota: what is lent to each core is the margin."""
    found = made("cpu")
    assert cores_used(attempt, gate, cgroups={"cpu": found["cpu"]}) <= 1.2


def test_job_that_leaves_its_cores_is_put_back_where_it_cannot_be_fenced(attempt, core):
    body = "import os, time; os.sched_setaffinity(0, range(os.cpu_count())); print('free', flush=True); time.sleep(600)"
    running = attempt(body, "script", cores=[core])
    running.prints("free")
    running.prints("the job had left the cores that it holds and was put back on them")
    assert os.sched_getaffinity(running.job) == {core}


# --- The folders ---


def test_what_hides_after_its_runner_was_killed_is_found_in_its_cgroup(node):
    """Neither token nor session tells whose it is."""
    if reason := cgroup_search.found().refusals.get("cpuset"):
        pytest.skip(f"no cgroup for cpuset may be made here: {reason}")
    core = min(os.sched_getaffinity(0))
    ref = node.launch("(env -i setsid sleep 600 &); echo ready; exec sleep 601", allocation=Allocation((core,), 0, 0))
    folder = f"{cgroup_search.bases(node.data_dir)['cpuset']}/{ref.token}"
    until(lambda: len(cgroups.members(folder)) == 2)
    hidden = set(cgroups.members(folder)) - {node.reports.started(ref).pid}
    os.kill(node.runner_pid(ref), signal.SIGKILL)
    assert node.outcome(ref).kind == OutcomeKind.LOST
    assert not any(map(is_alive, hidden))
    assert not Path(folder).exists()


MOVES_ON = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork():
    print("ready", flush=True)
    time.sleep(600)
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
"""


def test_what_moves_on_by_fork_after_its_runner_was_killed_is_ended(node):
    """It was another process whenever it was looked at: called lost, the attempt went on without end."""
    if reason := cgroup_search.found().refusals.get("memory"):
        pytest.skip(f"no cgroup for memory may be made here: {reason}")
    ref = node.launch(MOVES_ON, kind="script", memory_limit_mb=256)
    folder = f"{cgroup_search.bases(node.data_dir)['memory']}/{ref.token}"
    until(lambda: len(cgroups.members(folder)) == 2)
    runner, job = node.runner_pid(ref), node.reports.started(ref).pid
    node.executor.close()
    os.kill(runner, signal.SIGKILL)
    until(lambda: not is_alive(job))
    assert node.restart().recover(ref).kind == RecoveryKind.ADOPTED
    assert node.outcome(ref).kind == OutcomeKind.LOST
    assert cgroups.members(folder) == []
    assert not Path(folder).exists()


def test_cgroups_of_attempts_that_nobody_asks_about_are_swept_at_the_start(node):
    base = cgroup_search.bases(node.data_dir).get("memory")
    if not base:
        pytest.skip(f"no cgroup for memory may be made here: {cgroup_search.found().refusals['memory']}")
    left = Path(cgroups.make(base, "of-the-dead", "memory", str(MEGABYTE)))
    node.restart()
    assert not left.exists()


def test_cgroups_are_removed_with_their_attempt(attempt, made, core):
    folders = made("memory", "cpuset")
    running = attempt("exec sleep 600", memory_limit_bytes=64 * MEGABYTE, cores=[core], cgroups=folders)
    inside = [Path(folders[name], running.token) for name in ("memory", "cpuset")]
    until(lambda: all(running.job in cgroups.members(folder) for folder in inside))
    running.cancel()
    running.result()
    assert [folder for folder in inside if folder.exists()] == []


def test_job_that_leaves_its_cgroup_is_taken_in_again(attempt, made):
    folders = made("memory")
    top = Path(folders["memory"]).parent
    running = attempt(f"echo $$ > {top}/cgroup.procs; echo out; exec sleep 600", memory_limit_bytes=64 * MEGABYTE,
                      cgroups=folders)  # fmt: skip
    running.prints("out")
    until(lambda: running.job in cgroups.members(f"{folders['memory']}/{running.token}"))


def test_cgroup_that_was_swept_is_made_again(attempt, made):
    """It was empty for a moment, when a service started."""
    folders = made("memory")
    running = attempt("exec sleep 600", memory_limit_bytes=64 * MEGABYTE, cgroups=folders)
    job, top = running.job, Path(folders["memory"]).parent
    folder = Path(folders["memory"], running.token)

    def swept():
        (top / "cgroup.procs").write_text(str(job))
        with contextlib.suppress(OSError):  # taken in again between the two
            folder.rmdir()
        return not folder.exists()

    until(swept)
    until(lambda: job in cgroups.members(str(folder)))
    assert "no cgroup for memory" not in running.text


def test_cgroup_that_cannot_be_made_is_told_and_watched_for(attempt, tmp_path):
    running = attempt(EATER, "script", memory_limit_bytes=64 * MEGABYTE, cgroups={"memory": f"{tmp_path}/no/such"})
    assert running.result().kind == "memory_exceeded"
    assert "no cgroup for memory: No such file or directory" in running.text


def test_kill_by_cgroup_takes_all_at_once(attempt, made):
    body = "trap '' TERM; while :; do (sleep 0.01 &) ; done"
    running = attempt(body, timeout_seconds=0.3, kill_grace_seconds=0.1, cgroups=made("kill"))
    assert running.result().kind == "timeout"
    assert running.alive() == []
