"""Real threads: races, locks, callbacks, crashes and signals. Nothing here is timed."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from queue import SimpleQueue

import pytest

from jobs.embedded import AsyncJob, BlockingJob, CpuBoundJob, RetryPolicy, Scheduler, SchedulerError, Status
from jobs.embedded.waiters import LOOK_UP_SECONDS, acquired
from jobs.embedded.watcher import LONGEST_SLEEP_SECONDS
from tests.embedded.schedulers import (
    NO_RETRY,
    WAIT,
    by_now,
    exit_at_once,
    exit_politely,
    make_unpicklable,
    nothing,
    pid,
    say_no,
    segfault,
    sleep_for_ever,
    square,
)
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def live():
    """A scheduler by the machine's clock."""
    with Scheduler() as scheduler:
        yield scheduler
        scheduler.stop(cancel=True, deadline_seconds=WAIT)


# --- the watcher ---


def test_ten_thousand_submits_race_the_watcher_to_sleep(live):
    """Each is submitted when the one before may have left the watcher anywhere on its way to sleep."""
    ran, lock = [], threading.Lock()

    def note(number):
        with lock:
            ran.append(number)

    def submit(first):
        for number in range(first, first + 2500):
            live.submit(BlockingJob(note, (number,)))

    threads = [threading.Thread(target=submit, args=(first,)) for first in range(0, 10_000, 2500)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert live.join(timeout_seconds=120)
    assert sorted(ran) == list(range(10_000))


def test_each_of_a_thousand_lone_submits_wakes_the_watcher(live):
    for number in range(1000):
        handle = live.submit(BlockingJob(square, (number,)))
        assert live.join(handle, timeout_seconds=WAIT)
        assert handle.value == number * number


def test_a_sooner_job_wakes_the_watcher_from_a_longer_sleep(live):
    far = live.submit(BlockingJob(nothing), delay_seconds=3600)
    assert by_now(live, far) == [Status.PENDING]
    soon = live.submit(BlockingJob(nothing), delay_seconds=0.01)
    assert live.join(soon, timeout_seconds=WAIT)
    assert far.status is Status.PENDING
    assert soon.lag_seconds >= 0  # never early


def test_delayed_jobs_start_in_order_and_never_early(live):
    began = []
    for number in (3, 1, 2):
        live.submit(BlockingJob(began.append, (number,)), delay_seconds=number / 100)
    assert live.join(timeout_seconds=WAIT)
    assert sorted(began) == [1, 2, 3]
    assert all(handle.lag_seconds >= 0 for handle in live.jobs())


def test_the_watcher_sleeps_exactly_until_the_next_moment(monkeypatch):
    slept = []

    class Inbox(SimpleQueue):
        def get(self, block=True, timeout=None):
            slept.append(timeout)
            return super().get(block, timeout)

    monkeypatch.setattr("jobs.embedded.watcher.SimpleQueue", Inbox)
    with Scheduler() as scheduler:
        until(lambda: slept == [LONGEST_SLEEP_SECONDS] * 2)
        scheduler.submit(BlockingJob(nothing), delay_seconds=50)
        until(lambda: len(slept) > 2)
        assert 40 < slept[-1] <= 50


# --- locks ---


@pytest.mark.parametrize("kind", [BlockingJob, AsyncJob])
def test_no_lock_is_held_while_a_job_runs(live, kind):
    """The job calls back, and another thread submits meanwhile: either would hang if a lock were held."""
    inside, outside = [], []

    def call_back():
        inside.append(live.submit(BlockingJob(nothing)))
        assert live.get(inside[0].id) is inside[0]
        other = threading.Thread(target=lambda: outside.append(live.submit(BlockingJob(nothing))))
        other.start()
        other.join(WAIT)
        return live.cancel(live.submit(BlockingJob(nothing), delay_seconds=60))

    async def call_back_async():
        return call_back()

    handle = live.submit(kind(call_back if kind is BlockingJob else call_back_async, retry=NO_RETRY))
    assert live.join(timeout_seconds=WAIT)
    assert (handle.error, handle.value) == ("", True)
    assert {one.status for one in (*inside, *outside)} == {Status.SUCCESS}


def test_a_job_waits_for_jobs_of_its_own_making(live):
    def parent():
        child = live.submit(BlockingJob(square, (3,)))
        assert live.join(child, timeout_seconds=WAIT)
        return child.value

    handle = live.submit(BlockingJob(parent, retry=NO_RETRY))
    assert live.join(handle, timeout_seconds=WAIT)
    assert handle.value == 9


@pytest.mark.parametrize("ask", ["join", "stop", "settle"])
def test_a_job_that_would_wait_for_itself_is_told(live, ask):
    handle = live.submit(BlockingJob(getattr(live, ask), retry=NO_RETRY))
    assert live.join(handle, timeout_seconds=WAIT)
    assert isinstance(handle.exception, SchedulerError)
    assert f"{ask}() was called by job {handle.id}, which would wait for itself" in handle.error


def test_many_threads_may_do_everything_at_once(live):
    errors = []

    def everything(number):
        try:
            for _ in range(50):
                first = live.submit(BlockingJob(nothing))
                second = live.submit(BlockingJob(nothing), depends_on=[first], delay_seconds=0.001)
                live.cancel(second if number % 2 else first)
                series = live.fixed_rate(BlockingJob(nothing), 0.01, start_in=0)
                live.jobs(Status.RUNNING)
                assert live.cancel_series(series)
        except Exception as error:  # noqa: BLE001 - shown below
            errors.append(error)

    threads = [threading.Thread(target=everything, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert live.join(timeout_seconds=WAIT)
    until(lambda: live._driver.engine.known.instances == {})


# --- processes that die ---


@pytest.mark.parametrize(
    ("fn", "words"),
    [(exit_at_once, "exited with code 3"), (segfault, "ended by SIGSEGV")],
)
def test_a_crash_fails_that_job_only(live, fn, words):
    bad = live.submit(CpuBoundJob(fn, retry=NO_RETRY))
    good = live.submit(CpuBoundJob(square, (6,)))
    after = live.submit(CpuBoundJob(square, (7,)), depends_on=[good])
    assert live.join(timeout_seconds=WAIT)
    assert (bad.status, good.value, after.value) == (Status.FAILED, 36, 49)
    assert words in bad.error


def test_a_worker_is_used_again_and_replaced_when_killed(live):
    def run_pid():
        handle = live.submit(CpuBoundJob(pid))
        assert live.join(handle, timeout_seconds=WAIT)
        return handle.value

    first = run_pid()
    assert run_pid() == first != os.getpid()
    os.kill(first, signal.SIGKILL)
    until(lambda: not live._executors["process"]._idle[0].process.is_alive())
    assert run_pid() != first


def test_a_cancelled_process_is_killed(live):
    handle = live.submit(CpuBoundJob(sleep_for_ever))
    until(lambda: handle.status is Status.RUNNING and live._executors.get("process"))
    (worker,) = until(live._executors["process"].pids)
    assert live.cancel(handle)
    assert live.join(handle, timeout_seconds=WAIT)
    assert (handle.status, handle.abandoned) == (Status.CANCELLED, False)
    until(lambda: not Path(f"/proc/{worker}").exists())


def test_errors_and_results_come_back_from_a_process(live):
    later = RetryPolicy(1, delay_seconds=3600, jitter=False)  # it waits still, however late the other processes come
    no, exits, odd = (live.submit(CpuBoundJob(fn, retry=later)) for fn in (say_no, exit_politely, make_unpicklable))
    until(lambda: (no.ended, odd.ended, exits.status) == (True, True, Status.RETRYING))
    assert (no.status, no.attempts) == (Status.FAILED, 1)
    assert isinstance(exits.exception, SystemExit)
    assert "its result, of type lock, cannot be sent back" in odd.error


def test_no_process_is_left_after_the_stop():
    with Scheduler() as scheduler:
        handle = scheduler.submit(CpuBoundJob(pid))
        assert scheduler.join(handle, timeout_seconds=WAIT)
    until(lambda: not Path(f"/proc/{handle.value}").exists())


# --- the whole program ---


def program(text: str) -> subprocess.Popen:
    head = "from jobs.embedded import *\nimport threading, time, sys, os, signal\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + textwrap.dedent(text)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_ctrl_c_ends_a_program_that_waits_for_its_jobs():
    process = program("""
        try:
            with Scheduler() as s:
                known = threading.Event()
                h = s.submit(BlockingJob(lambda: (known.wait(), print("runs", flush=True), current_token().wait())))
                known.set()
                s.join()
        except KeyboardInterrupt:
            print(h.status)
    """)
    assert process.stdout.readline() == "runs\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=WAIT)
    assert (out, err, process.returncode) == ("cancelled\n", "", 0)


def test_ctrl_c_while_it_stops_leaves_no_job_without_an_end():
    process = program("""
        def interrupt():
            while not s._driver.draining:
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(3600)
        s = Scheduler().start()
        h = s.submit(BlockingJob(interrupt))
        try:
            while h.status != "running":
                time.sleep(0.001)
            s.stop()
        except KeyboardInterrupt:
            print(h.status, h.abandoned)
    """)
    assert process.communicate(timeout=WAIT) == ("cancelled True\n", "")


def test_ctrl_c_ends_an_asyncio_program_and_its_jobs():
    process = program("""
        import asyncio
        async def wait():
            print("runs", flush=True)
            await asyncio.Event().wait()
        async def main():
            async with Scheduler() as s:
                handles.append(s.submit(AsyncJob(wait)))
                await s.join_async()
        handles = []
        try:
            asyncio.run(main())
        except KeyboardInterrupt:
            print(handles[0].status)
    """)
    assert process.stdout.readline() == "runs\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=WAIT) == ("cancelled\n", "")


def test_ctrl_c_leaves_nothing_half_done():
    """It hits a program that submits and asks as fast as it can, wherever it happens to be."""
    process = program("""
        handles = []
        try:
            with Scheduler(max_threads=2) as s:
                print("runs", flush=True)
                while True:
                    handles.append(s.submit(BlockingJob(int)))
                    s.cancel(s.submit(BlockingJob(int), delay_seconds=60))
        except KeyboardInterrupt:
            print(all(h.ended for h in handles))
    """)
    assert process.stdout.readline() == "runs\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=WAIT) == ("True\n", "")


def test_a_signal_handler_may_ask_whatever_it_interrupts():
    process = program("""
        with Scheduler() as s:
            count = []
            def handle(*_):
                count.append(s.submit(BlockingJob(int)))
                s.cancel(s.submit(BlockingJob(int), delay_seconds=60))
                s.jobs(Status.RUNNING)
                if len(count) < 50:
                    signal.setitimer(signal.ITIMER_REAL, 0.001)
            signal.signal(signal.SIGALRM, handle)
            signal.setitimer(signal.ITIMER_REAL, 0.001)
            while len(count) < 50:
                s.join(s.submit(BlockingJob(int)))
                s.cancel(s.submit(BlockingJob(int), delay_seconds=60))
            print(s.join())
    """)
    assert process.communicate(timeout=WAIT) == ("True\n", "")


def test_a_signal_handler_may_stop_it_while_the_program_waits():
    process = program("""
        s = Scheduler().start()
        signal.signal(signal.SIGTERM, lambda *_: s.stop(cancel=True))
        h = s.submit(BlockingJob(lambda: (print("runs", flush=True), current_token().wait())))
        s.join()
        print(h.status)
    """)
    assert process.stdout.readline() == "runs\n"
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=WAIT) == ("cancelled\n", "")


def test_a_wait_for_ever_looks_up_for_signals_it_was_too_late_for():
    class Lock:
        """Comes at the third look."""

        def __init__(self):
            self.looks = []

        def acquire(self, timeout):
            self.looks.append(timeout)
            return len(self.looks) == 3

    lock = Lock()
    assert acquired(lock, None)
    assert lock.looks == [LOOK_UP_SECONDS] * 3
    assert not acquired(Lock(), 0)


def test_a_signal_handler_may_submit_while_the_program_waits():
    process = program("""
        with Scheduler() as s:
            signal.signal(signal.SIGUSR1, lambda *_: s.submit(BlockingJob(gate.set)))
            gate = threading.Event()
            s.submit(BlockingJob(lambda: (print("runs", flush=True), gate.wait())))
            s.join()
            print("joined")
    """)
    assert process.stdout.readline() == "runs\n"
    process.send_signal(signal.SIGUSR1)
    assert process.communicate(timeout=WAIT) == ("joined\n", "")


def test_a_thread_that_never_ends_does_not_keep_the_program():
    process = program("""
        runs = threading.Event()
        clock = HandClock()
        with Scheduler(clock=clock) as s:
            h = s.submit(BlockingJob(lambda: (runs.set(), time.sleep(3600)), timeout_seconds=300))
            runs.wait()
            clock.advance(300)
            s.join()
        print(h.status, h.abandoned)
    """)
    assert process.communicate(timeout=WAIT) == ("timeout True\n", "")
    assert process.returncode == 0


def test_a_program_that_never_stops_its_scheduler_still_ends():
    process = program("""
        s = Scheduler().start()
        s.add_listener(print)
        s.fixed_rate(BlockingJob(int), 1000)
        s.submit(BlockingJob(print, ("done",)))
        s.join()
    """)
    out, _ = process.communicate(timeout=WAIT)
    assert "done" in out
    assert process.returncode == 0


def test_workers_end_with_a_program_that_is_killed():
    process = program("""
        if __name__ == "__main__":
            s = Scheduler().start()
            h = s.submit(CpuBoundJob(os.getpid))
            s.join()
            print(h.value, flush=True)
            time.sleep(3600)
    """)
    worker = int(process.stdout.readline())
    process.kill()
    process.communicate(timeout=WAIT)
    until(lambda: not Path(f"/proc/{worker}").exists())


def test_async_jobs_run_beside_a_program_without_a_loop(live):
    async def where():
        await asyncio.sleep(0)
        return threading.current_thread().name

    handle = live.submit(AsyncJob(where))
    assert live.join(handle, timeout_seconds=WAIT)
    assert handle.value == "rota-loop"
