"""The steps of a stop, each one pass: nothing new, then nothing that runs, then nothing that is waited for."""

from __future__ import annotations

from collections.abc import Iterable

from jobs.core.inputs import AdmissionChanged, CancelAsked, Input, ScheduleGone
from jobs.core.states import Status
from jobs.embedded.driver import Driver
from jobs.embedded.handles import Handle, Series

STOPPED = "was cancelled: its scheduler stopped"


def end_series(driver: Driver, over: Iterable[Series]) -> None:
    """No more runs; those that wait are cancelled, those that run go on."""
    told: list[Input] = []
    for series in over:
        series.active, series.next_at = False, None
        driver.over(series.id)
        waiting = driver.engine.known.waiting_of(series.id)
        told.append(ScheduleGone(series.id))
        told += [CancelAsked(instance.id, "cancelled", "its series was cancelled") for instance in waiting]
    driver.tell(*told)


def start_nothing_more(driver: Driver) -> None:
    """What waits is cancelled, and a failure from now on is final, as nothing would be there for another attempt."""
    driver.draining = True
    end_series(driver, [series for series in driver.ledger.series.values() if series.active])
    waiting = [handle for handle in driver.ledger.live.values() if handle.status is not Status.RUNNING]
    driver.tell(AdmissionChanged("the scheduler is stopping"), *cancelled_by_stop(waiting))


def cancel_running(driver: Driver) -> None:
    driver.tell(*cancelled_by_stop([h for h in driver.ledger.live.values() if h.status is Status.RUNNING]))


def abandon_running(driver: Driver) -> None:
    """What was asked to end and does not, such as a coroutine that goes on when it is cancelled."""
    for attempt in driver.attempts.values():
        if not attempt.abandoned:
            driver.abandon(attempt)
    driver.tell()


def cancelled_by_stop(handles: Iterable[Handle]) -> list[Input]:
    return [CancelAsked(handle.id, "stopped", STOPPED) for handle in handles]
