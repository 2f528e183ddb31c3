"""Whatever is asked of a scheduler, in whatever order, what it promises holds."""

import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.embedded import BlockingJob, HandClock, RetryPolicy, Scheduler, Status
from tests.embedded.schedulers import NO_RETRY, WAIT

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("submit"), st.integers(0, 30), st.lists(st.integers(0, 40), max_size=3)),
        st.tuples(st.just("fail"), st.integers(0, 30), st.lists(st.integers(0, 40), max_size=3)),
        st.tuples(st.just("cancel"), st.integers(0, 40), st.just([])),
        st.tuples(st.just("rate"), st.integers(1, 10), st.just([])),
        st.tuples(st.just("end of a series"), st.integers(0, 10), st.just([])),
        st.tuples(st.just("advance"), st.integers(1, 20), st.just([])),
    ),
    max_size=40,
)


class Watched:
    """A scheduler, and what its jobs saw."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.scheduler = Scheduler(clock=self.clock, max_threads=2, history=1000, uniform=lambda low, high: high)
        self.handles, self.series, self.wrong, self.above = [], [], [], {}
        self._lock = threading.Lock()
        self._running = 0

    def job(self, *, good: bool) -> BlockingJob:
        def run():
            with self._lock:
                self._running += 1
                if self._running > 2:
                    self.wrong.append("more ran than may")
            with self._lock:
                self._running -= 1
            if not good:
                raise ValueError("bad")

        return BlockingJob(run, retry=NO_RETRY if good else RetryPolicy(1, delay_seconds=5, jitter=False))

    def do(self, what: str, number: int, others: list[int]) -> None:
        if what in ("submit", "fail"):
            above = [self.handles[i] for i in others if i < len(self.handles)]
            job = self.job(good=what == "submit")
            self.handles.append(self.scheduler.submit(job, delay_seconds=number, depends_on=above))
            self.above[self.handles[-1].id] = above
        elif what == "cancel" and number < len(self.handles):
            self.scheduler.cancel(self.handles[number])
        elif what == "rate":
            self.series.append(self.scheduler.fixed_rate(self.job(good=True), number))
        elif what == "end of a series" and number < len(self.series):
            self.scheduler.cancel_series(self.series[number])
        elif what == "advance":
            self.clock.advance(number)
            assert self.scheduler.settle(WAIT)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_every_job_ends_once_and_none_starts_too_soon(steps):
    watched = Watched()
    moves = []
    with watched.scheduler as scheduler:
        scheduler.add_listener(moves.append)
        for step in steps:
            watched.do(*step)
        for series in watched.series:
            scheduler.cancel_series(series)
        for _ in range(20):
            watched.clock.advance(60)
            assert scheduler.settle(WAIT)
        assert scheduler.join(timeout_seconds=WAIT)
    ends = [event.handle.id for event in moves if event.to_status not in ("pending", "queued", "running", "retrying")]
    assert len(ends) == len(set(ends)) == len({event.handle.id for event in moves})
    assert watched.wrong == []
    assert scheduler.peak_running <= 2
    for handle in watched.handles:
        if handle.attempts:
            assert handle.started_at >= handle.due_at
            assert all(above.status is Status.SUCCESS for above in watched.above[handle.id])
        elif handle.status is Status.UPSTREAM_FAILED:
            assert any(above.status is not Status.SUCCESS for above in watched.above[handle.id])
    assert scheduler._driver.engine.known.instances == {}
    assert scheduler._driver.engine.known._jobs == {}
