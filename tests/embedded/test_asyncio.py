"""The same scheduler on an event loop."""

import asyncio
import threading
from functools import partial

import pytest

from jobs.embedded import AsyncJob, BlockingJob, HandClock, Scheduler, SchedulerError, SchedulerStoppedError, Status
from tests.embedded.schedulers import NO_RETRY, WAIT, nothing
from tests.waiting import until


async def where() -> threading.Thread:
    return threading.current_thread()


async def for_ever() -> None:
    await asyncio.Event().wait()


async def test_async_jobs_run_on_the_program_s_loop():
    async with Scheduler() as scheduler:
        handle = scheduler.submit(AsyncJob(where))
        assert await scheduler.join_async(timeout_seconds=WAIT)
    assert handle.value is threading.current_thread()


async def test_blocking_jobs_leave_the_loop_free():
    let = threading.Event()
    async with Scheduler() as scheduler:
        handle = scheduler.submit(BlockingJob(partial(let.wait, WAIT)))
        await asyncio.to_thread(lambda: None)
        let.set()
        assert await scheduler.join_async(handle, timeout_seconds=WAIT)
    assert handle.value is True


async def test_jobs_are_submitted_from_any_thread():
    async with Scheduler() as scheduler:
        jobs = [AsyncJob(where), BlockingJob(threading.current_thread)]
        handles = [await asyncio.to_thread(scheduler.submit, job) for job in jobs]
        assert await scheduler.join_async(timeout_seconds=WAIT)
    assert handles[0].value is threading.current_thread() is not handles[1].value


async def test_a_hundred_joins_need_no_thread_each():
    async with Scheduler() as scheduler:
        gate = asyncio.Event()
        handle = scheduler.submit(AsyncJob(gate.wait))
        waiting = [asyncio.create_task(scheduler.join_async(handle)) for _ in range(100)]
        await asyncio.sleep(0)
        before = threading.active_count()
        gate.set()
        assert await asyncio.gather(*waiting) == [True] * 100
        assert threading.active_count() <= before


async def test_join_says_when_its_time_is_up():
    async with Scheduler() as scheduler:
        handle = scheduler.submit(AsyncJob(for_ever))
        assert not await scheduler.join_async(handle, timeout_seconds=0.01)
        scheduler.cancel(handle)
        assert await scheduler.join_async(handle, timeout_seconds=WAIT)


async def test_a_join_that_is_cancelled_waits_no_more():
    async with Scheduler() as scheduler:
        handle = scheduler.submit(AsyncJob(for_ever))
        waiting = asyncio.create_task(scheduler.join_async(handle))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert until(lambda: len(scheduler._driver._waiters) == 0)
        scheduler.cancel(handle)


@pytest.mark.parametrize("ask", ["join", "stop", "settle"])
async def test_what_would_stop_the_loop_is_refused(ask):
    async with Scheduler() as scheduler:
        with pytest.raises(SchedulerError, match=f"use await {ask}_async"):
            getattr(scheduler, ask)()


async def test_an_error_in_the_block_cancels_what_runs():
    handles = []

    async def leave_badly():
        async with Scheduler() as scheduler:
            handles.append(scheduler.submit(AsyncJob(for_ever)))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await leave_badly()
    assert handles[0].status is Status.CANCELLED


async def test_leaving_the_block_waits_for_what_runs():
    async with Scheduler() as scheduler:
        entered = asyncio.Event()

        async def last():
            entered.set()
            await asyncio.sleep(0.01)

        handle = scheduler.submit(AsyncJob(last))
        await entered.wait()
    assert handle.status is Status.SUCCESS
    with pytest.raises(SchedulerStoppedError):
        scheduler.submit(AsyncJob(last))


async def test_a_coroutine_that_will_not_end_is_abandoned_at_the_deadline():
    entered, ended = asyncio.Event(), asyncio.Event()

    async def stubborn():
        entered.set()
        while not ended.is_set():
            try:
                await ended.wait()
            except asyncio.CancelledError:
                continue

    scheduler = Scheduler().start()
    handle = scheduler.submit(AsyncJob(stubborn))
    await entered.wait()
    assert not await scheduler.stop_async(deadline_seconds=0.01)
    assert (handle.status, handle.abandoned) == (Status.CANCELLED, True)
    ended.set()


async def test_settle_waits_for_time_that_has_come():
    clock = HandClock()
    async with Scheduler(clock=clock) as scheduler:
        handle = scheduler.submit(AsyncJob(where), delay_seconds=300)
        assert await scheduler.settle_async(WAIT)
        assert handle.status is Status.PENDING
        clock.advance(300)
        assert await scheduler.settle_async(WAIT)
        assert handle.status is Status.SUCCESS


def test_a_job_whose_loop_is_gone_fails_in_a_sentence():
    async def leave():
        return Scheduler().start()

    scheduler = asyncio.run(leave())
    handle = scheduler.submit(AsyncJob(where, retry=NO_RETRY))
    assert scheduler.join(handle, timeout_seconds=WAIT)
    assert (handle.status, handle.error) == (
        Status.FAILED,
        "could not be started: RuntimeError: Event loop is closed",
    )
    assert scheduler.submit(BlockingJob(nothing)).id > handle.id
    scheduler.stop()
