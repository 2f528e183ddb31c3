"""Schedulers for tests: started, under a hand-moved clock, stopped and without a thread left at the end."""

import os
import signal
import threading
import time

import pytest

from jobs.embedded import BlockingJob, HandClock, RetryPolicy, Scheduler
from tests.waiting import DEADLINE_SECONDS as WAIT

NO_RETRY = RetryPolicy()


class Gate:
    """A blocking job that says when it runs, and ends when it is let."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.opened = threading.Event()
        self.runs = 0

    def __call__(self) -> str:
        self.runs += 1
        self.entered.release()
        assert self.opened.wait(WAIT)
        return "through"

    def job(self, **terms) -> BlockingJob:
        return BlockingJob(self, **{"name": "gate", **terms})

    def wait_entered(self) -> None:
        assert self.entered.acquire(timeout=WAIT)


class Fails:
    """Fails so often, then succeeds."""

    def __init__(self, times: int, error: Exception | None = None) -> None:
        self.times = times
        self.error = error or ValueError("no luck")
        self.calls = 0

    def __call__(self) -> int:
        self.calls += 1
        if self.calls <= self.times:
            raise self.error
        return self.calls


def nothing() -> None:
    pass


def by_now(scheduler, *handles) -> list:
    """Their statuses, when all that was submitted before has been looked at."""
    scheduler.jobs()
    return [handle.status for handle in handles]


def square(number: int) -> int:
    return number * number


def exit_at_once() -> None:
    os._exit(3)


def segfault() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def sleep_for_ever() -> None:
    while True:
        time.sleep(3600)


def pid() -> int:
    return os.getpid()


def say_no() -> None:
    from jobs.embedded import NonRetryableError

    raise NonRetryableError("not in this life")


def exit_politely() -> None:
    raise SystemExit("bye")


def make_unpicklable() -> object:
    return threading.Lock()


@pytest.fixture
def clock():
    return HandClock()


@pytest.fixture
def make(clock):
    """Makes schedulers under the clock, and ends them with the test."""
    made = []

    def make(**options) -> Scheduler:
        made.append(Scheduler(**{"clock": clock, "uniform": lambda low, high: high, **options}).start())
        return made[-1]

    yield make
    for scheduler in made:
        scheduler.stop(cancel=True, deadline_seconds=WAIT)


@pytest.fixture
def scheduler(make):
    return make()


@pytest.fixture
def gate():
    made = Gate()
    yield made
    made.opened.set()
