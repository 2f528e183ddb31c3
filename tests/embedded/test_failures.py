"""Retries, time limits, and what cannot be ended."""

import asyncio

import pytest

from jobs.embedded import (
    AsyncJob,
    BlockingJob,
    CpuBoundJob,
    JobCancelled,
    NonRetryableError,
    RetryPolicy,
    SchedulerError,
    Status,
    current_token,
)
from tests.embedded.schedulers import NO_RETRY, WAIT, Fails, by_now, nothing, sleep_for_ever
from tests.waiting import until


async def for_ever():
    await asyncio.Event().wait()


def settled(scheduler) -> None:
    assert scheduler.settle(WAIT)


# --- retries ---


def test_what_is_submitted_once_is_tried_three_times_more(scheduler, clock):
    job = Fails(99)
    handle = scheduler.submit(BlockingJob(job))
    for seconds in (1, 2, 4):
        settled(scheduler)
        assert handle.status is Status.RETRYING
        clock.advance(seconds)
    settled(scheduler)
    assert (handle.status, handle.attempts, job.calls) == (Status.FAILED, 4, 4)
    assert (handle.error, str(handle.exception)) == ("ValueError: no luck", "no luck")


def test_a_retry_that_succeeds_ends_as_success(scheduler, clock):
    handle = scheduler.submit(BlockingJob(Fails(2)))
    for _ in range(2):
        settled(scheduler)
        clock.advance(60)
    settled(scheduler)
    assert (handle.status, handle.value, handle.error, handle.exception) == (Status.SUCCESS, 3, "", None)


def test_the_wait_before_a_retry_doubles_up_to_its_cap(scheduler, clock):
    policy = RetryPolicy(max_retries=5, delay_seconds=10, max_delay_seconds=35, jitter=False)
    handle = scheduler.submit(BlockingJob(Fails(99), retry=policy))
    waits = []
    while settled(scheduler) or handle.status is Status.RETRYING:
        waits.append((handle.retry_at - clock.now()).total_seconds())
        clock.advance(waits[-1])
    assert waits == [10, 20, 35, 35, 35]


def test_full_jitter_draws_from_nothing_to_the_cap(make, clock):
    drawn = []

    def uniform(low, high):
        drawn.append((low, high))
        return 0.5

    scheduler = make(uniform=uniform)
    handle = scheduler.submit(BlockingJob(Fails(1), retry=RetryPolicy(1, delay_seconds=8)))
    settled(scheduler)
    assert drawn == [(0.0, 8.0)]
    clock.advance(0.5)
    settled(scheduler)
    assert handle.status is Status.SUCCESS


def test_a_waiting_retry_holds_no_place(make, clock):
    scheduler = make(max_threads=1)
    first = scheduler.submit(BlockingJob(Fails(1)))
    second = scheduler.submit(BlockingJob(nothing))
    settled(scheduler)
    assert (first.status, second.status) == (Status.RETRYING, Status.SUCCESS)


@pytest.mark.parametrize("kind", [NonRetryableError, type("Worse", (NonRetryableError,), {})])
def test_an_error_that_says_so_is_not_tried_again(scheduler, kind):
    handle = scheduler.submit(BlockingJob(Fails(1, kind("no use"))))
    settled(scheduler)
    assert (handle.status, handle.attempts) == (Status.FAILED, 1)
    assert "no use" in handle.error


@pytest.mark.parametrize("error", [TimeoutError("mine"), SystemExit(2), asyncio.CancelledError()])
def test_whatever_a_job_raises_is_a_failure(scheduler, error):
    def raise_it():
        raise error

    handle = scheduler.submit(BlockingJob(raise_it, retry=NO_RETRY))
    settled(scheduler)
    assert (handle.status, handle.exception) == (Status.FAILED, error)


@pytest.mark.parametrize("error", [TimeoutError("mine"), SystemExit(2), asyncio.CancelledError(), KeyboardInterrupt()])
def test_whatever_a_coroutine_raises_is_a_failure(scheduler, error):
    async def raise_it():
        raise error

    handle = scheduler.submit(AsyncJob(raise_it, retry=NO_RETRY))
    settled(scheduler)
    assert handle.status is Status.FAILED
    after = scheduler.submit(AsyncJob(asyncio.sleep, (0, "alive")))
    settled(scheduler)
    assert after.value == "alive"


# --- time limits: minutes of them, none waited for ---


def test_a_coroutine_is_ended_by_its_time_limit(scheduler, clock):
    handle = scheduler.submit(AsyncJob(for_ever, timeout_seconds=300, retry=NO_RETRY))
    until(lambda: handle.status is Status.RUNNING)
    clock.advance(300)
    settled(scheduler)
    assert (handle.status, handle.abandoned) == (Status.TIMEOUT, False)
    assert handle.error == "took longer than its 300 s"


def test_a_coroutine_is_ended_before_its_first_step(make):
    scheduler = make(max_async=1000)
    handles = [scheduler.submit(AsyncJob(for_ever)) for _ in range(200)]
    assert all(scheduler.cancel(handle) for handle in handles)
    assert scheduler.join(timeout_seconds=WAIT)
    assert {handle.status for handle in handles} == {Status.CANCELLED}


def test_a_process_is_killed_by_its_time_limit(scheduler, clock):
    handle = scheduler.submit(CpuBoundJob(sleep_for_ever, timeout_seconds=300, retry=NO_RETRY))
    until(lambda: scheduler._executors.get("process") and scheduler._executors["process"]._busy)
    clock.advance(300)
    settled(scheduler)
    assert (handle.status, handle.abandoned) == (Status.TIMEOUT, False)


def test_a_time_limit_ends_a_thread_s_job_at_once(scheduler, clock, gate):
    handle = scheduler.submit(gate.job(timeout_seconds=300))
    gate.wait_entered()
    clock.advance(299.999)
    assert handle.status is Status.RUNNING
    clock.advance(0.001)
    assert (handle.status, handle.abandoned) == (Status.TIMEOUT, True)
    assert handle.error == "took longer than its 300 s; it could not be ended and runs on"


def test_a_time_out_is_tried_again_where_it_may(scheduler, clock):
    calls = []

    async def slow_once():
        calls.append(1)
        if len(calls) == 1:
            await for_ever()

    handle = scheduler.submit(AsyncJob(slow_once, timeout_seconds=10))
    until(lambda: calls)
    clock.advance(10)
    settled(scheduler)
    assert handle.status is Status.RETRYING
    clock.advance(1)
    settled(scheduler)
    assert (handle.status, handle.attempts) == (Status.SUCCESS, 2)


def test_a_time_limit_counts_for_each_attempt_anew(scheduler, clock):
    handle = scheduler.submit(BlockingJob(Fails(2), timeout_seconds=5))
    for _ in range(2):
        settled(scheduler)
        clock.advance(60)
    settled(scheduler)
    assert handle.status is Status.SUCCESS


# --- threads that go on ---


def test_a_cancelled_thread_s_job_ends_at_once(scheduler, gate):
    handle = scheduler.submit(gate.job())
    gate.wait_entered()
    assert scheduler.cancel(handle)
    assert (handle.status, handle.abandoned) == (Status.CANCELLED, True)
    assert scheduler.abandoned == [handle]
    gate.opened.set()
    until(lambda: scheduler.abandoned == [])
    assert (handle.status, handle.value) == (Status.CANCELLED, None)


def test_an_abandoned_thread_keeps_its_place(make, gate):
    scheduler = make(max_threads=1)
    handle = scheduler.submit(gate.job())
    gate.wait_entered()
    scheduler.cancel(handle)
    after = scheduler.submit(BlockingJob(nothing))
    assert by_now(scheduler, after) == [Status.QUEUED]
    gate.opened.set()
    assert scheduler.join(after, timeout_seconds=WAIT)


def test_no_retry_starts_beside_an_abandoned_thread(scheduler, clock, gate):
    handle = scheduler.submit(gate.job(timeout_seconds=10, retry=RetryPolicy(5)))
    gate.wait_entered()
    clock.advance(10)
    clock.advance(3600)
    assert (handle.status, handle.attempts, gate.runs) == (Status.TIMEOUT, 1, 1)


def test_join_does_not_wait_for_an_abandoned_thread(scheduler, gate):
    handle = scheduler.submit(gate.job())
    gate.wait_entered()
    scheduler.cancel(handle)
    assert scheduler.join(timeout_seconds=WAIT)
    assert scheduler.join(handle, timeout_seconds=WAIT)


def test_dependents_learn_of_an_abandoned_job_at_once(scheduler, gate):
    handle = scheduler.submit(gate.job())
    below = scheduler.submit(BlockingJob(nothing), depends_on=[handle])
    gate.wait_entered()
    scheduler.cancel(handle)
    assert below.status is Status.UPSTREAM_FAILED


# --- the token ---


def test_a_blocking_job_is_told_by_its_token(scheduler):
    seen = []

    def patient():
        seen.append("began")
        seen.append(current_token().wait(WAIT))

    handle = scheduler.submit(BlockingJob(patient))
    until(lambda: seen)
    scheduler.cancel(handle)
    until(lambda: not scheduler.abandoned)
    assert seen == ["began", True]


def test_a_token_is_a_short_way_out(scheduler, clock, gate):
    raised = []

    def deep():
        gate()
        try:
            current_token().check()
        except JobCancelled as error:
            raised.append(error)

    handle = scheduler.submit(BlockingJob(deep, timeout_seconds=1))
    gate.wait_entered()
    clock.advance(1)
    until(lambda: scheduler._driver.attempts[handle.id].cancellation.cancelled)
    gate.opened.set()
    until(lambda: raised)


def test_a_coroutine_has_a_token_too(scheduler):
    async def ask():
        return current_token().cancelled

    handle = scheduler.submit(AsyncJob(ask))
    settled(scheduler)
    assert handle.value is False


def test_jobs_do_not_share_tokens(make):
    scheduler = make(max_threads=1)
    handles = [scheduler.submit(BlockingJob(current_token)) for _ in range(3)]
    settled(scheduler)
    assert len({id(handle.value) for handle in handles}) == 3


def test_outside_a_job_there_is_no_token():
    with pytest.raises(SchedulerError, match="outside an AsyncJob"):
        current_token()
