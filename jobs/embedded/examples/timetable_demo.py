"""A program with threads and a timetable in it: one-off and repeating jobs, time limits, figures, shutdown.

    python -m jobs.embedded.examples.timetable_demo

Its clock is moved by hand, so a day takes no time and every run prints what timetable_demo.txt holds.
"""

from __future__ import annotations

import threading
from datetime import datetime

from jobs.embedded import BlockingJob, HandClock, RetryPolicy, Scheduler, Status, current_token

WAIT = 30


def at(moment: datetime | None) -> str:
    return f"{moment:%H:%M:%S}" if moment is not None else "never"


class Gate:
    """A job that says when it runs, and ends when it is let."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.opened = threading.Event()

    def __call__(self) -> None:
        self.entered.set()
        self.opened.wait(WAIT)


def timetable(scheduler: Scheduler, clock: HandClock) -> None:
    ran: list[str] = []
    for name, seconds in (("third", 30), ("first", 10), ("fourth", 30), ("never", 15), ("second", 20)):
        job = BlockingJob(ran.append, (name,), name=name, tags=("one at a time",))
        scheduler.submit(job, delay_seconds=seconds)
    print("  cancel never:", scheduler.cancel(scheduler.jobs(name="never")[0]))
    for _ in range(3):
        clock.advance(10)
        scheduler.settle(WAIT)
        print(f"  {at(clock.now())} ran: {', '.join(ran)}")


def fixed_rate(scheduler: Scheduler, clock: HandClock) -> None:
    gate = Gate()
    series = scheduler.fixed_rate(BlockingJob(gate, name="rate"), 10)
    clock.advance(10)
    gate.entered.wait(WAIT)
    for _ in range(3):
        clock.advance(10)
    print(f"  {at(clock.now())} while it runs: fired {series.fired}, skipped {series.skipped}")
    gate.opened.set()
    scheduler.settle(WAIT)
    clock.advance(3600)
    scheduler.settle(WAIT)
    print(f"  {at(clock.now())} after an hour's pause: fired {series.fired}, missed {series.missed}")
    print(f"  the next, in phase: {at(series.next_at)}")
    scheduler.cancel_series(series)


def fixed_delay(scheduler: Scheduler, clock: HandClock) -> None:
    gate = Gate()
    series = scheduler.fixed_delay(BlockingJob(gate, name="delay"), 10, start_in=0)
    gate.entered.wait(WAIT)
    clock.advance(25)
    print(f"  {at(clock.now())} while it runs the next is at: {at(series.next_at)}")
    gate.opened.set()
    scheduler.settle(WAIT)
    print(f"  {at(clock.now())} ended, the next is at: {at(series.next_at)}")
    scheduler.cancel_series(series)


def failures(scheduler: Scheduler, clock: HandClock) -> None:
    def fail() -> None:
        raise OSError("no answer")

    once = scheduler.submit(BlockingJob(fail, name="once", retry=RetryPolicy(2, delay_seconds=5, jitter=False)))
    series = scheduler.fixed_rate(BlockingJob(fail, name="often"), 5)
    for _ in range(3):
        scheduler.settle(WAIT)
        clock.advance(5)
    scheduler.settle(WAIT)
    print(f"  once: {once.status} after {once.attempts} attempts: {once.error}")
    print(f"  often: fired {series.fired}, failed {series.failed}, goes on: {series.active}")
    scheduler.cancel_series(series)


def time_limits(scheduler: Scheduler, clock: HandClock) -> None:
    patient, stubborn = threading.Event(), Gate()

    def listen() -> None:
        patient.set()
        current_token().wait(WAIT)

    polite = scheduler.submit(BlockingJob(listen, name="polite", timeout_seconds=60))
    deaf = scheduler.submit(BlockingJob(stubborn, name="deaf", timeout_seconds=60))
    patient.wait(WAIT)
    stubborn.entered.wait(WAIT)
    clock.advance(60)
    for handle in (polite, deaf):
        print(f"  {handle.name}: {handle.status}, {handle.error}")
    print("  its place is held until its thread has ended:", deaf in scheduler.abandoned)
    stubborn.opened.set()


def calendar(scheduler: Scheduler) -> None:
    series = scheduler.cron(BlockingJob(print, name="cron"), "30 2 * * *", zone="Europe/Berlin")
    print(f"  02:30 in Berlin is {at(series.next_at)} UTC")
    scheduler.cancel_series(series)


def main() -> None:
    clock = HandClock()
    with Scheduler(clock=clock, order="fifo", limits={"one at a time": 1}) as scheduler:
        print("by moment, then by turn")
        timetable(scheduler, clock)
        print("fixed rate")
        fixed_rate(scheduler, clock)
        print("fixed delay")
        fixed_delay(scheduler, clock)
        print("one-off jobs retry, repeating ones carry on")
        failures(scheduler, clock)
        print("time limits")
        time_limits(scheduler, clock)
        print("cron")
        calendar(scheduler)
        print("shutdown with a deadline")
        gate = Gate()
        late, waiting = scheduler.submit(BlockingJob(gate)), scheduler.submit(BlockingJob(print), delay_seconds=60)
        gate.entered.wait(WAIT)
        print("  all ended in time:", scheduler.stop(deadline_seconds=0.1))
        print(f"  what ran: {late.status}, {late.error}")
        print(f"  what waited: {waiting.status}, {waiting.reason}")
        gate.opened.set()
    totals = scheduler.totals
    print("in all:", ", ".join(f"{totals[status]} {status}" for status in Status if status in totals))


if __name__ == "__main__":
    main()
