"""An asyncio program with a scheduler in it: three kinds of jobs, order, delay, retries, dependencies, series, stop.

    python -m jobs.embedded.examples.asyncio_demo

Its clock is moved by hand, so five minutes take no time and every run prints what asyncio_demo.txt holds.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from jobs.embedded import (
    AsyncJob,
    BlockingJob,
    CpuBoundJob,
    Event,
    HandClock,
    Handle,
    NonRetryableError,
    Priority,
    RetryPolicy,
    Scheduler,
    SchedulerStoppedError,
    Status,
    UnknownJobError,
)

NO_RETRY = RetryPolicy()


async def fetch(page: str) -> str:
    await asyncio.sleep(0)
    return f"<{page}>"


async def wait_for_ever() -> None:
    await asyncio.Event().wait()


def add_up(most: int) -> int:
    return sum(range(most))


def crash() -> None:
    os._exit(3)


def failing(times: int, error: Callable[[], Exception]) -> Callable[[], str]:
    """A function that raises so often before it succeeds."""
    left = [times]

    def run() -> str:
        left[0] -= 1
        if left[0] >= 0:
            raise error()
        return "at last"

    return run


def longest(_: float, high: float) -> float:
    """The random wait before a retry, for once not random."""
    return high


def show(*handles: Handle) -> None:
    for handle in handles:
        said = handle.value if handle.status is Status.SUCCESS else handle.error or handle.reason
        print(f"  {handle.name}: {handle.status}, attempts {handle.attempts}" + (f", {said}" if said else ""))


async def three_models(scheduler: Scheduler) -> None:
    handles = [
        scheduler.submit(AsyncJob(fetch, ("home",))),
        scheduler.submit(BlockingJob("-".join, (["on", "a", "thread"],), name="join")),
        scheduler.submit(CpuBoundJob(add_up, (1000,))),
        scheduler.submit(CpuBoundJob(crash, retry=NO_RETRY)),
        scheduler.submit(await asyncio.to_thread(lambda: BlockingJob(str.upper, ("from any thread",), name="upper"))),
    ]
    await scheduler.join_async(*handles)
    show(*handles)


async def order(scheduler: Scheduler) -> None:
    gate, ran = asyncio.Event(), list[str]()

    async def note(name: str) -> None:
        ran.append(name)

    scheduler.submit(AsyncJob(gate.wait, tags=("one at a time",)))
    for priority in (Priority.LOW, Priority.MEDIUM, Priority.CRITICAL, Priority.MEDIUM):
        scheduler.submit(AsyncJob(note, (priority.name.lower(),), priority=priority, tags=("one at a time",)))
    gate.set()
    await scheduler.join_async()
    print("  ran:", ", ".join(ran))


async def time(scheduler: Scheduler, clock: HandClock) -> None:
    later = scheduler.submit(AsyncJob(fetch, ("news",)), delay_seconds=300)
    print(f"  submitted: {later.status}")
    clock.advance(300)
    await scheduler.join_async()
    show(later)


async def failures(scheduler: Scheduler, clock: HandClock) -> None:
    flaky = scheduler.submit(BlockingJob(failing(2, lambda: OSError("no answer")), name="flaky"))
    for _ in range(2):
        await scheduler.settle_async()
        wait = (flaky.retry_at - clock.now()).total_seconds() if flaky.retry_at else 0
        print(f"  flaky: {flaky.status} in {wait:g} s after {flaky.error}")
        clock.advance(wait)
    hopeless = scheduler.submit(BlockingJob(failing(1, lambda: NonRetryableError("wrong password")), name="hopeless"))
    slow = scheduler.submit(AsyncJob(wait_for_ever, timeout_seconds=60, retry=NO_RETRY, name="slow"))
    await scheduler.join_async(flaky, hopeless)
    clock.advance(60)
    await scheduler.join_async()
    show(flaky, hopeless, slow)


async def dependencies(scheduler: Scheduler) -> None:
    extract = scheduler.submit(BlockingJob(failing(1, lambda: OSError("disk full")), name="extract", retry=NO_RETRY))
    load = scheduler.submit(BlockingJob(print, name="load"), depends_on=[extract])
    report = scheduler.submit(BlockingJob(print, name="report"), depends_on=[load])
    await scheduler.join_async()
    show(extract, load, report)


async def cancelling(scheduler: Scheduler) -> None:
    entered = asyncio.Event()

    async def enter() -> None:
        entered.set()
        await wait_for_ever()

    pending = scheduler.submit(AsyncJob(enter, name="pending"), delay_seconds=60)
    running = scheduler.submit(AsyncJob(enter, name="running"))
    done = scheduler.submit(AsyncJob(fetch, ("done",), name="done"))
    await entered.wait()
    await scheduler.join_async(done)
    for handle in (pending, running, done, pending):
        print(f"  cancel {handle.name}: {scheduler.cancel(handle)}")
    await scheduler.join_async()
    show(pending, running, done)


async def series(scheduler: Scheduler, clock: HandClock) -> None:
    gate = asyncio.Event()
    tick = scheduler.fixed_rate(AsyncJob(gate.wait, name="tick"), 60, start_in=0)
    for _ in range(2):
        clock.advance(60)
    print(f"  while the first runs: fired {tick.fired}, skipped {tick.skipped}")
    gate.set()
    await scheduler.settle_async()
    clock.advance(600)
    await scheduler.settle_async()
    print(f"  after a pause of ten periods: fired {tick.fired}, missed {tick.missed}")
    print(f"  cancel: {scheduler.cancel_series(tick)}, again: {scheduler.cancel_series(tick)}")


async def main() -> None:
    clock, events = HandClock(), list[Event]()
    async with Scheduler(clock=clock, limits={"one at a time": 1}, uniform=longest) as scheduler:
        scheduler.add_listener(events.append)
        print("three kinds of jobs, and a crash that is one job's alone")
        await three_models(scheduler)
        print("the higher priority first, then first come, first served")
        await order(scheduler)
        print("five minutes later")
        await time(scheduler, clock)
        print("retries, a failure that is final, a time limit")
        await failures(scheduler, clock)
        print("what depends on a failure")
        await dependencies(scheduler)
        print("cancel, in every state")
        await cancelling(scheduler)
        print("every minute")
        await series(scheduler, clock)
        last = scheduler.submit(AsyncJob(wait_for_ever, name="last"), delay_seconds=60)
    print("stop")
    show(last)
    try:
        scheduler.submit(AsyncJob(wait_for_ever))
    except SchedulerStoppedError as error:
        print(f"  SchedulerStoppedError: {error}")
    try:
        scheduler.get(4711)
    except UnknownJobError as error:
        print(f"  UnknownJobError: {error}")
    way = [str(event.to_status) for event in events if event.handle.name == "flaky"]
    print("what the listener was told of flaky:", " -> ".join(way))


if __name__ == "__main__":
    asyncio.run(main())
