"""Who is told of what, and that a bad listener harms nobody."""

import threading

from jobs.embedded import BlockingJob, Status, lifecycle
from tests.embedded.schedulers import WAIT, Fails, nothing
from tests.waiting import until


def told_of(events, handle) -> list[tuple[Status | None, Status]]:
    return [(event.from_status, event.to_status) for event in events if event.handle is handle]


def test_every_move_is_told_in_order(scheduler, clock):
    events = []
    scheduler.add_listener(events.append)
    handle = scheduler.submit(BlockingJob(Fails(1)))
    assert scheduler.settle(WAIT)
    clock.advance(1)
    assert scheduler.settle(WAIT)
    way = [
        Status.PENDING,
        Status.QUEUED,
        Status.RUNNING,
        Status.RETRYING,
        Status.QUEUED,
        Status.RUNNING,
        Status.SUCCESS,
    ]
    assert told_of(events, handle) == list(zip([None, *way], way, strict=False))
    assert [event.attempt for event in events] == [0, 0, 1, 1, 1, 2, 2]


def test_runs_of_a_series_are_told_too(scheduler, clock):
    events = []
    scheduler.add_listener(events.append)
    series = scheduler.fixed_rate(BlockingJob(nothing), 10)
    clock.advance(10)
    assert scheduler.settle(WAIT)
    assert {event.handle for event in events} == {series.last}


def test_one_that_raises_harms_nobody(scheduler, caplog):
    events = []

    def bad(event):
        raise ValueError("not listening")

    scheduler.add_listener(bad)
    scheduler.add_listener(events.append)
    handle = scheduler.submit(BlockingJob(nothing))
    assert scheduler.settle(WAIT)
    assert told_of(events, handle)[-1] == (Status.RUNNING, Status.SUCCESS)
    assert "a listener raised" in caplog.text


def test_one_that_blocks_keeps_no_job_waiting(scheduler):
    let = threading.Event()
    scheduler.add_listener(lambda event: let.wait(WAIT))
    handles = [scheduler.submit(BlockingJob(nothing)) for _ in range(10)]
    assert scheduler.join(timeout_seconds=WAIT)
    assert {handle.status for handle in handles} == {Status.SUCCESS}
    let.set()


def test_one_that_blocks_fills_no_memory(scheduler, monkeypatch):
    monkeypatch.setattr("jobs.embedded.listeners.MOST_WAITING", 5)
    let = threading.Event()
    scheduler.add_listener(lambda event: let.wait(WAIT))
    for _ in range(10):
        scheduler.submit(BlockingJob(nothing))
    assert scheduler.join(timeout_seconds=WAIT)
    assert scheduler._driver.listeners._events.qsize() <= 5
    assert scheduler._driver.listeners.dropped > 0
    let.set()


def test_a_listener_may_submit(scheduler):
    made = []

    def follow(event):
        if event.to_status is Status.SUCCESS and not made:
            made.append(scheduler.submit(BlockingJob(nothing)))

    scheduler.add_listener(follow)
    scheduler.submit(BlockingJob(nothing))
    until(lambda: made and made[0].ended)


def test_one_that_was_removed_is_not_told(scheduler):
    events = []
    scheduler.add_listener(events.append)
    scheduler.remove_listener(events.append)
    scheduler.submit(BlockingJob(nothing))
    assert scheduler.settle(WAIT)
    assert events == []


def test_stop_tells_what_there_is_left(scheduler, monkeypatch):
    monkeypatch.setattr(lifecycle, "GRACE_SECONDS", WAIT)  # a listener's thread may be kept from running for a moment
    events = []
    scheduler.add_listener(events.append)
    handles = [scheduler.submit(BlockingJob(nothing), delay_seconds=9) for _ in range(100)]
    scheduler.stop()
    assert [told_of(events, handle)[-1][1] for handle in handles] == [Status.CANCELLED] * 100
