"""Stop: with and without cancelling, with a deadline, twice, and with what will not end."""

import threading

import pytest

from jobs.embedded import AsyncJob, BlockingJob, CpuBoundJob, Scheduler, Status, coroutines, lifecycle
from tests.embedded.schedulers import WAIT, Fails, nothing, sleep_for_ever
from tests.waiting import until


def stopping(scheduler, **options) -> threading.Thread:
    thread = threading.Thread(target=scheduler.stop, kwargs=options)
    thread.start()
    until(lambda: scheduler._driver.draining)
    scheduler._driver.call(lambda: None)
    return thread


def test_stop_waits_for_what_runs_and_cancels_what_waits(make, gate):
    scheduler = make(max_threads=1)
    running, queued = scheduler.submit(gate.job()), scheduler.submit(BlockingJob(nothing))
    later = scheduler.submit(BlockingJob(nothing), delay_seconds=60)
    gate.wait_entered()
    thread = stopping(scheduler)
    assert (running.status, queued.status, later.status) == (Status.RUNNING, Status.CANCELLED, Status.CANCELLED)
    assert queued.reason == "was cancelled: its scheduler stopped"
    gate.opened.set()
    thread.join(WAIT)
    assert running.status is Status.SUCCESS


def test_stop_with_cancel_cancels_what_runs(scheduler):
    handle = scheduler.submit(CpuBoundJob(sleep_for_ever))
    assert scheduler.stop(cancel=True, deadline_seconds=WAIT)
    assert handle.status is Status.CANCELLED


def test_stop_does_not_hang_on_a_thread(scheduler, gate):
    handle = scheduler.submit(gate.job())
    gate.wait_entered()
    assert scheduler.stop(cancel=True)
    assert (handle.status, handle.abandoned) == (Status.CANCELLED, True)


def test_a_loop_that_is_not_waited_for_is_closed_by_its_thread(scheduler, gate, monkeypatch):
    """It was left open, and Python warned of that whenever it happened to be collected."""
    monkeypatch.setattr(coroutines, "STOP_SECONDS", 0)
    monkeypatch.setattr(lifecycle, "GRACE_SECONDS", 0)

    async def block():
        gate()

    scheduler.submit(AsyncJob(block))
    gate.wait_entered()
    assert not scheduler.stop(deadline_seconds=0.01)
    loop = scheduler._executors["async"]._loop
    assert not loop.is_closed()
    gate.opened.set()
    until(loop.is_closed)


def test_stop_gives_up_at_its_deadline(scheduler, gate):
    handle = scheduler.submit(gate.job())
    gate.wait_entered()
    assert not scheduler.stop(deadline_seconds=0.01)
    assert (handle.status, handle.abandoned) == (Status.CANCELLED, True)


def test_a_failure_while_stopping_is_final(scheduler, gate):
    def fail():
        gate()
        raise ValueError("too late")

    handle = scheduler.submit(BlockingJob(fail))
    gate.wait_entered()
    thread = stopping(scheduler)
    gate.opened.set()
    thread.join(WAIT)
    assert (handle.status, handle.attempts) == (Status.FAILED, 1)


def test_a_retry_that_waits_is_cancelled(scheduler):
    handle = scheduler.submit(BlockingJob(Fails(1)))
    assert scheduler.settle(WAIT)
    scheduler.stop()
    assert handle.status is Status.CANCELLED


def test_dependents_of_what_runs_are_cancelled(scheduler, gate):
    first = scheduler.submit(gate.job())
    second = scheduler.submit(BlockingJob(nothing), depends_on=[first])
    gate.wait_entered()
    thread = stopping(scheduler)
    assert second.status is Status.CANCELLED
    gate.opened.set()
    thread.join(WAIT)


def test_series_end_with_the_scheduler(scheduler, clock):
    series = scheduler.fixed_rate(BlockingJob(nothing), 10)
    scheduler.stop()
    clock.advance(100)
    assert (series.active, series.fired) == (False, 0)


def test_stop_twice_is_as_once(scheduler):
    assert scheduler.stop()
    assert scheduler.stop()


def test_two_may_stop_it_at_once(scheduler, gate):
    scheduler.submit(gate.job())
    gate.wait_entered()
    threads = [stopping(scheduler), stopping(scheduler)]
    gate.opened.set()
    for thread in threads:
        thread.join(WAIT)
        assert not thread.is_alive()


def test_one_that_never_started_is_stopped(clock):
    assert Scheduler(clock=clock).stop()


def test_every_job_ends_and_its_threads_do(make):
    before = set(threading.enumerate())
    scheduler = make()
    handles = [scheduler.submit(BlockingJob(nothing)) for _ in range(20)]
    scheduler.stop()
    assert all(handle.ended for handle in handles)
    until(lambda: not [t for t in threading.enumerate() if t not in before and t.name.startswith("rota-")])


def test_an_error_in_the_block_cancels_what_runs(gate):
    handles = []

    def leave_badly():
        with Scheduler() as scheduler:
            handles.append(scheduler.submit(gate.job()))
            gate.wait_entered()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        leave_badly()
    assert handles[0].status is Status.CANCELLED
