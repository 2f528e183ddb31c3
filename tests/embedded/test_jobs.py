"""What is submitted once: models, delay, order, limits, cancel, filters, history."""

import asyncio
from datetime import datetime, timedelta

import pytest

from jobs.embedded import (
    AsyncJob,
    BlockingJob,
    Bucket,
    CpuBoundJob,
    InvalidJob,
    InvalidTransitionError,
    Priority,
    Scheduler,
    SchedulerError,
    SchedulerNotStartedError,
    SchedulerStoppedError,
    Status,
    UnknownJobError,
)
from tests.embedded.schedulers import WAIT, Gate, by_now, nothing, square
from tests.waiting import until


async def double(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


def ended(scheduler, *handles):
    assert scheduler.join(*handles, timeout_seconds=WAIT)
    return [handle.status for handle in handles]


# --- the three models ---


@pytest.mark.parametrize(
    ("job", "value"),
    [(AsyncJob(double, (4,)), 8), (BlockingJob(square, (4,)), 16), (CpuBoundJob(square, (5,)), 25)],
    ids=["async", "thread", "process"],
)
def test_each_model_runs_a_job_and_keeps_its_value(scheduler, job, value):
    handle = scheduler.submit(job)
    assert ended(scheduler, handle) == [Status.SUCCESS]
    assert (handle.value, handle.attempts, handle.error) == (value, 1, "")


def test_arguments_by_name_reach_the_function(scheduler):
    handle = scheduler.submit(BlockingJob(square, kwargs={"number": 3}))
    ended(scheduler, handle)
    assert handle.value == 9


def test_pools_are_made_when_first_needed(scheduler):
    assert scheduler._executors == {}
    ended(scheduler, scheduler.submit(BlockingJob(nothing)))
    assert list(scheduler._executors) == ["thread"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: AsyncJob(nothing), "use BlockingJob"),
        (lambda: BlockingJob(double), "use AsyncJob"),
        (lambda: CpuBoundJob(double), "use AsyncJob"),
        (lambda: BlockingJob(None), "cannot be called"),
        (lambda: BlockingJob(nothing, priority=9), "priority 9"),
        (lambda: BlockingJob(nothing, timeout_seconds=0), "timeout_seconds 0"),
        (lambda: BlockingJob(nothing, deadline_seconds=float("nan")), "deadline_seconds nan"),
    ],
)
def test_a_job_that_can_never_run_is_refused_when_made(make, words):
    with pytest.raises(InvalidJob, match=words):
        make()


@pytest.mark.parametrize(
    ("submit", "words"),
    [
        (lambda s: s.submit(nothing), "an AsyncJob, BlockingJob or CpuBoundJob is expected"),
        (lambda s: s.submit(CpuBoundJob(lambda: 1)), "function of a module"),
        (lambda s: s.submit(BlockingJob(nothing, rates=("api",))), "rates"),
        (lambda s: s.submit(BlockingJob(nothing), delay_seconds=float("inf")), "delay_seconds inf"),
        (lambda s: s.submit(BlockingJob(nothing), at=datetime(2026, 1, 1)), "aware datetime"),  # noqa: DTZ001 - the case
    ],
)
def test_what_cannot_be_taken_is_refused_when_submitted(scheduler, submit, words):
    with pytest.raises(InvalidJob, match=words):
        submit(scheduler)
    assert scheduler.jobs() == []


# --- when ---


def test_a_delayed_job_starts_at_its_moment(scheduler, clock):
    handle = scheduler.submit(BlockingJob(nothing), delay_seconds=300)
    clock.advance(299.999)
    assert scheduler.settle(WAIT)
    assert handle.status is Status.PENDING
    clock.advance(0.001)
    assert ended(scheduler, handle) == [Status.SUCCESS]
    assert handle.lag_seconds == 0


def test_a_job_may_be_given_a_moment(scheduler, clock):
    handle = scheduler.submit(BlockingJob(nothing), at=clock.now() + timedelta(hours=1))
    clock.advance(3600)
    assert ended(scheduler, handle) == [Status.SUCCESS]


@pytest.mark.parametrize("seconds", [0, -5])
def test_a_delay_of_nothing_is_at_once(scheduler, seconds):
    assert ended(scheduler, scheduler.submit(BlockingJob(nothing), delay_seconds=seconds)) == [Status.SUCCESS]


def test_a_start_deadline_skips_what_is_late(make, clock, gate):
    scheduler = make(max_threads=1)
    scheduler.submit(gate.job())
    late = scheduler.submit(BlockingJob(nothing, start_deadline_seconds=10))
    clock.advance(11)
    assert late.status is Status.SKIPPED
    assert "within 10 s" in late.reason


# --- in which order ---


def run_in_order(make, gate, order, jobs, **options) -> str:
    """Queue all behind one thread, let it go, and see in which order they ran."""
    scheduler = make(order=order, max_threads=1, **options)
    scheduler.submit(gate.job(tenant="gate"))
    ran = []
    for name, terms in jobs:
        scheduler.submit(BlockingJob(ran.append, (name,), **terms))
    gate.opened.set()
    assert scheduler.join(timeout_seconds=WAIT)
    return "".join(ran)


LOW_TO_HIGH = [("a", {"priority": Priority.LOW}), ("b", {}), ("c", {"priority": Priority.CRITICAL})]


@pytest.mark.parametrize(("order", "expected"), [("fifo", "abc"), ("priority", "cba"), ("aging", "cba")])
def test_orders_by_priority_and_by_turn(make, gate, order, expected):
    assert run_in_order(make, gate, order, LOW_TO_HIGH) == expected


def test_with_aging_who_waited_long_enough_goes_first(make, gate, clock):
    scheduler = make(order="aging", max_threads=1)
    scheduler.submit(gate.job())
    ran = []
    scheduler.submit(BlockingJob(ran.append, ("old and low",), priority=Priority.LOW))
    clock.advance(3600)
    scheduler.submit(BlockingJob(ran.append, ("new and critical",), priority=Priority.CRITICAL))
    gate.opened.set()
    assert scheduler.join(timeout_seconds=WAIT)
    assert ran == ["old and low", "new and critical"]


def test_the_earliest_deadline_goes_first(make, gate):
    jobs = [("none", {}), ("late", {"deadline_seconds": 90}), ("soon", {"deadline_seconds": 9})]
    assert run_in_order(make, gate, "edf", jobs) == "soonlatenone"


def test_tenants_take_turns_by_weight(make, gate):
    jobs = [("a", {"tenant": "a"})] * 4 + [("b", {"tenant": "b"})] * 2
    assert run_in_order(make, gate, "fair", jobs, weights={"a": 2.0, "gate": 1.0})[:3] in ("aba", "baa", "aab")


def test_an_order_of_ones_own_is_taken(make, gate):
    class LastFirst:
        def key(self, entry):
            self.given = getattr(self, "given", 0) - 1
            return self.given

        def seen(self, key, tenant): ...

        def started(self, key, tenant): ...

        def dropped(self, key, tenant): ...

    assert run_in_order(make, gate, LastFirst(), LOW_TO_HIGH) == "cba"


# --- how many ---


def test_no_more_than_the_limit_of_a_model_run(make):
    scheduler, gate = make(max_threads=2), Gate()
    handles = [scheduler.submit(gate.job()) for _ in range(5)]
    gate.wait_entered()
    gate.wait_entered()
    assert by_now(scheduler, *handles) == [Status.RUNNING] * 2 + [Status.QUEUED] * 3
    assert handles[2].hold.subject == {"limit": "model:thread", "maximum": 2, "in_use": 2}
    gate.opened.set()
    ended(scheduler, *handles)
    assert scheduler.peak_running == 2


def test_models_do_not_wait_for_each_other(make, gate):
    scheduler = make(max_threads=1)
    scheduler.submit(gate.job())
    assert ended(scheduler, scheduler.submit(AsyncJob(double, (1,)))) == [Status.SUCCESS]


def test_a_tag_may_have_a_limit(make, gate):
    scheduler = make(limits={"database": 1})
    scheduler.submit(gate.job(tags=("database",)))
    waits = scheduler.submit(BlockingJob(nothing, tags=("database",)))
    ended(scheduler, scheduler.submit(BlockingJob(nothing)))
    assert (waits.status, waits.hold.code) == (Status.QUEUED, "limit")


def test_a_token_bucket_says_how_often_jobs_start(make, clock):
    scheduler = make(rates={"api": Bucket(rate_per_second=1, burst=2)})
    handles = [scheduler.submit(BlockingJob(nothing, rates=("api",))) for _ in range(4)]
    ended(scheduler, *handles[:2])
    assert by_now(scheduler, *handles[2:]) == [Status.QUEUED] * 2
    clock.advance(1)
    ended(scheduler, handles[2])
    assert handles[3].hold.code == "rate"


@pytest.mark.parametrize("option", ["max_async", "max_threads", "max_processes", "history"])
def test_a_limit_below_one_is_refused(option):
    with pytest.raises(SchedulerError, match=r"0 was given; .* 1 or more"):
        Scheduler(**{option: 0})


# --- cancel ---


def test_a_pending_job_is_cancelled_at_once(scheduler):
    handle = scheduler.submit(BlockingJob(nothing), delay_seconds=60)
    assert scheduler.cancel(handle)
    assert (handle.status, handle.attempts, handle.reason) == (Status.CANCELLED, 0, "was cancelled")


def test_a_queued_job_is_cancelled_at_once(make, gate):
    scheduler = make(max_threads=1)
    scheduler.submit(gate.job())
    handle = scheduler.submit(BlockingJob(nothing))
    assert scheduler.cancel(handle.id)
    assert (handle.status, handle.attempts) == (Status.CANCELLED, 0)


def test_a_running_coroutine_is_cancelled(scheduler):
    entered = asyncio.Event()

    async def wait():
        entered.set()
        await asyncio.Event().wait()

    handle = scheduler.submit(AsyncJob(wait))
    until(entered.is_set)
    assert scheduler.cancel(handle)
    assert ended(scheduler, handle) == [Status.CANCELLED]


def test_a_job_that_waits_for_its_retry_is_cancelled_at_once(scheduler):
    def fail():
        raise ValueError

    handle = scheduler.submit(BlockingJob(fail))
    until(lambda: handle.status is Status.RETRYING)
    assert scheduler.cancel(handle)
    assert handle.status is Status.CANCELLED


def test_what_has_ended_is_not_cancelled(scheduler):
    handle = scheduler.submit(BlockingJob(nothing))
    ended(scheduler, handle)
    assert not scheduler.cancel(handle)
    assert handle.status is Status.SUCCESS


def test_a_second_cancel_says_false(scheduler, gate):
    waiting = scheduler.submit(BlockingJob(nothing), delay_seconds=60)
    running = scheduler.submit(gate.job())
    gate.wait_entered()
    assert [scheduler.cancel(handle) for handle in (waiting, waiting, running, running)] == [True, False, True, False]


def test_a_job_cancelled_before_it_began_never_runs(make, gate):
    scheduler = make(max_threads=50)
    handles = [scheduler.submit(gate.job()) for _ in range(50)]
    cancelled = [handle for handle in handles if scheduler.cancel(handle)]
    assert all(handle.status is Status.CANCELLED for handle in cancelled)
    never = [handle for handle in cancelled if not handle.abandoned]
    gate.opened.set()
    until(lambda: not scheduler.abandoned)
    assert gate.runs == len(handles) - len(never)


# --- what is known ---


def test_a_job_is_found_by_its_id(scheduler):
    handle = scheduler.submit(BlockingJob(nothing))
    assert scheduler.get(handle.id) is handle


def test_an_unknown_id_is_a_key_error_in_a_sentence(scheduler):
    for ask in (scheduler.get, scheduler.cancel, scheduler.join):
        with pytest.raises(KeyError) as caught:
            ask(4711)
        assert isinstance(caught.value, UnknownJobError | SchedulerError)
        assert str(caught.value).startswith("there is no job 4711; live ones")


def test_a_job_of_another_scheduler_is_refused(make):
    mine, other = make(), make()
    mine.submit(BlockingJob(nothing))
    stranger = other.submit(BlockingJob(nothing))
    for ask in (mine.cancel, mine.join, lambda job: mine.submit(BlockingJob(nothing), depends_on=[job])):
        with pytest.raises(InvalidJob, match="another scheduler"):
            ask(stranger)


def test_a_handle_stays_good_when_its_job_is_forgotten(make):
    scheduler = make(history=1)
    first, _ = (scheduler.submit(BlockingJob(nothing)) for _ in range(2))
    assert scheduler.join(timeout_seconds=WAIT)
    below = scheduler.submit(BlockingJob(nothing), depends_on=[first])
    assert ended(scheduler, first, below) == [Status.SUCCESS, Status.SUCCESS]
    assert not scheduler.cancel(first)


def test_jobs_are_filtered(scheduler, gate):
    running = scheduler.submit(gate.job(tags=("slow",), tenant="a"))
    done = scheduler.submit(BlockingJob(nothing, name="fast"))
    ended(scheduler, done)
    assert scheduler.jobs() == [done, running]
    assert scheduler.jobs(Status.SUCCESS, Status.FAILED) == [done]
    assert scheduler.jobs(name="fast") == [done]
    assert scheduler.jobs(tag="slow") == scheduler.jobs(tenant="a") == scheduler.jobs(Status.RUNNING) == [running]


def test_only_the_last_that_ended_are_remembered(make):
    scheduler = make(history=3, max_threads=1)
    handles = [scheduler.submit(BlockingJob(nothing)) for _ in range(5)]
    assert scheduler.join(timeout_seconds=WAIT)
    assert scheduler.jobs() == handles[2:]
    assert scheduler.totals == {Status.SUCCESS: 5}
    with pytest.raises(UnknownJobError):
        scheduler.get(handles[0].id)


def test_the_engine_forgets_what_is_over(make):
    scheduler = make(history=1)
    first = scheduler.submit(BlockingJob(nothing))
    for _ in range(20):
        scheduler.submit(BlockingJob(nothing), depends_on=[first])
    scheduler.fixed_rate(BlockingJob(nothing), 60, start_in=0)
    for series in scheduler.series():
        scheduler.cancel_series(series)
    assert scheduler.join(timeout_seconds=WAIT)
    assert scheduler.settle(WAIT)
    engine = scheduler._driver.engine
    assert (engine.known._jobs, engine.known.instances, scheduler._driver.ledger.series) == ({}, {}, {})


def test_statuses_move_only_as_the_core_allows(scheduler):
    handle = scheduler.submit(BlockingJob(nothing))
    ended(scheduler, handle)
    ledger = scheduler._driver.ledger
    ledger.live[handle.id] = handle
    with pytest.raises(InvalidTransitionError, match="success cannot become running"):
        ledger.move(handle.id, Status.RUNNING, handle.ended_at)
    assert handle.status is Status.SUCCESS
    del ledger.live[handle.id]


# --- before and after ---


def test_nothing_is_taken_before_the_start():
    scheduler = Scheduler()
    for ask in (
        lambda: scheduler.submit(BlockingJob(nothing)),
        lambda: scheduler.cancel(1),
        scheduler.join,
        scheduler.settle,
        lambda: scheduler.fixed_rate(BlockingJob(nothing), 1),
    ):
        with pytest.raises(SchedulerNotStartedError, match=r"before the scheduler was started; use `with Scheduler"):
            ask()


def test_nothing_is_taken_after_the_stop(scheduler):
    scheduler.stop()
    for ask in (lambda: scheduler.submit(BlockingJob(nothing)), scheduler.start):
        with pytest.raises(SchedulerStoppedError, match="make a new Scheduler"):
            ask()


def test_it_is_not_started_twice(scheduler):
    with pytest.raises(SchedulerError, match="runs already"):
        scheduler.start()


def test_an_order_that_raises_is_not_passed_over(make):
    class Broken:
        def key(self, entry):
            raise ZeroDivisionError("no order")

        def seen(self, key, tenant): ...

    scheduler = make(order=Broken())
    scheduler.submit(BlockingJob(nothing))
    with pytest.raises(SchedulerError, match="broken down and decides nothing more: ZeroDivisionError: no order"):
        scheduler.join()
    with pytest.raises(SchedulerError, match="broken down"):
        scheduler.submit(BlockingJob(nothing))
    with pytest.raises(SchedulerError, match="broken down"):
        scheduler.stop()
