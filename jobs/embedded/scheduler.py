"""A scheduler within a program: what it may be asked, from any thread and from an event loop."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime

from jobs.core.buckets import Bucket
from jobs.core.inputs import (
    CancelAsked,
    Input,
    InstanceSeen,
    JobChanged,
    LimitsChanged,
    ScheduleChanged,
)
from jobs.core.limits import Rate, model_key, tag_key
from jobs.core.order import Order, make_order
from jobs.core.policies import DEFAULT_POLICY, FirePolicy
from jobs.core.records import Instance, RetryPolicy
from jobs.core.states import Status
from jobs.core.triggers import Trigger, first_after
from jobs.embedded.checks import check_has, check_kind, check_retry, due_at
from jobs.embedded.clock import Clock, SystemClock
from jobs.embedded.errors import InvalidJob, SchedulerError
from jobs.embedded.handles import Handle, Series
from jobs.embedded.lifecycle import Lifecycle, Ref
from jobs.embedded.listeners import Listener
from jobs.embedded.recurrence import INSTANT, delay, rate, wall_clock
from jobs.embedded.stopping import cancelled_by_stop, end_series
from jobs.embedded.work import (
    ASYNC,
    ONE_OFF_RETRY,
    PROCESS,
    SERIES_RETRY,
    THREAD,
    AsyncJob,
    BlockingJob,
    CpuBoundJob,
    Work,
)

# Whatever is submitted once shares one logical date: there a dependent finds its upstreams.
ONE_DATE = datetime(1970, 1, 1, tzinfo=UTC)


class Scheduler(Lifecycle):
    """Runs jobs: at once, later, after others, again and again. Use it as `with` or `async with`, or start and stop it.

    order            "priority", "fifo", "aging", "edf" or "fair", or an `Order` of your own
    weights          of tenants, for "fair"
    max_async, max_threads, max_processes   how many of each kind run at once
    limits           how many jobs with a tag run at once, by tag
    rates            token buckets, by name
    retry            of what is submitted once and does not say
    history          how many ended jobs are remembered
    clock            what time it is; a `HandClock` moves only when told
    uniform          uniform(a, b), for the jitter of retries

    Raises SchedulerError, UnknownOrder, InvalidWeight. All that does not say otherwise returns at once.
    """

    def __init__(
        self,
        *,
        order: str | Order = "priority",
        weights: Mapping[str, float] | None = None,
        max_async: int = 100,
        max_threads: int = 8,
        max_processes: int | None = None,
        limits: Mapping[str, int] | None = None,
        rates: Mapping[str, Bucket] | None = None,
        retry: RetryPolicy = ONE_OFF_RETRY,
        history: int = 1000,
        clock: Clock | None = None,
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        processes = max_processes if max_processes is not None else len(os.sched_getaffinity(0))
        for option, given in (("limits", limits), ("rates", rates), ("weights", weights)):
            check_kind(option, given or {}, Mapping)
        maxima = {model_key(ASYNC): max_async, model_key(THREAD): max_threads, model_key(PROCESS): processes}
        maxima |= {tag_key(tag): most for tag, most in (limits or {}).items()}
        given_numbers = {"max_async": max_async, "max_threads": max_threads, "max_processes": processes}
        _check_numbers({**given_numbers, "history": history, **(limits or {})})
        for name, bucket in (rates or {}).items():
            if not isinstance(bucket, Bucket):
                raise SchedulerError(f"the rate {name!r} was given as {bucket!r}; a Bucket is expected")
        check_retry(retry)
        self._retry = retry
        chosen = make_order(order, weights or {}) if isinstance(order, str) else order
        check_has("order", chosen, "key", "the name of an order, or an Order,")
        super().__init__(
            clock or SystemClock(),
            chosen,
            uniform,
            history,
            LimitsChanged(maxima, {name: Rate(bucket) for name, bucket in (rates or {}).items()}),
        )

    # --- jobs ---

    def submit(
        self,
        job: Work,
        *,
        delay_seconds: float = 0.0,
        at: datetime | None = None,
        depends_on: Iterable[Ref] = (),
    ) -> Handle:
        """Run it once: as soon as it may, after a delay (0 or less: at once), or at an aware moment; after others.

        From any thread, a job or a listener too. Raises InvalidJob, UnknownJobError, SchedulerNotStartedError,
        SchedulerStoppedError.
        """
        self._check_job(job)
        self._check_running("submit()")
        if not isinstance(depends_on, Iterable):
            raise InvalidJob(f"depends_on {depends_on!r} was given; a list of jobs, or of their ids, is expected")
        upstreams = [self._upstream(ref) for ref in depends_on]
        job_id, now = self._driver.ledger.next_id(), self._driver.clock.now()
        instance = Instance(job_id, job_id, Status.PENDING, ONE_DATE, due_at(now, delay_seconds, at))
        handle = Handle(instance, job, job.payload(), self._driver.ledger)
        self._driver.post(lambda: self._take(handle, upstreams))
        return handle

    def cancel(self, job: Ref) -> bool:
        """End it: at once if it waits; if it runs it is asked to. False if it has ended or was asked already."""
        self._check_started("cancel()")
        handle = self._handle(job)
        return self._driver.call(lambda: self._cancel(handle))

    def get(self, job_id: int) -> Handle:
        """Raises UnknownJobError."""
        self._check_started("get()")
        return self._handle(job_id)

    def jobs(
        self, *statuses: Status, name: str | None = None, tag: str | None = None, tenant: str | None = None
    ) -> list[Handle]:
        """Those that are known: ended ones first, in the order in which they did; of these statuses only, if any."""
        self._check_started("jobs()")
        handles = self._driver.call(lambda: list(self._driver.ledger.all()))
        return [
            handle
            for handle in handles
            if (not statuses or handle.status in statuses)
            and (name is None or handle.name == name)
            and (tag is None or tag in handle.job.tags)
            and (tenant is None or handle.job.tenant == tenant)
        ]

    # --- series ---

    def fixed_rate(
        self, job: Work, every_seconds: float, *, start_in: float | None = None, policy: FirePolicy = DEFAULT_POLICY
    ) -> Series:
        """Every so many seconds from the first time on: after `start_in` seconds (0: at once), else after one period.

        While a run has not ended the next is skipped, and of those that came due in a pause there is one.
        """
        now = self._driver.clock.now()
        return self._watch(job, rate(now, every_seconds, start_in), now - INSTANT, policy)

    def fixed_delay(
        self, job: Work, delay_seconds: float, *, start_in: float | None = None, policy: FirePolicy = DEFAULT_POLICY
    ) -> Series:
        """So many seconds after the last run has ended, whatever its end; first after `start_in`, else one delay."""
        now = self._driver.clock.now()
        return self._watch(job, delay(now, delay_seconds, start_in), now - INSTANT, policy)

    def cron(self, job: Work, expression: str, *, zone: str = "UTC", policy: FirePolicy = DEFAULT_POLICY) -> Series:
        """By the clock on the wall of a zone. Raises InvalidSchedule."""
        now = self._driver.clock.now()
        return self._watch(job, wall_clock(now, expression, zone, job.title), now, policy)

    def recurring(self, job: Work, trigger: Trigger, *, policy: FirePolicy = DEFAULT_POLICY) -> Series:
        """As any trigger of jobs.core says, later than now. Raises as `submit` does."""
        check_has("trigger", trigger, "next_after", "a trigger of jobs.core")
        return self._watch(job, trigger, self._driver.clock.now(), policy)

    def cancel_series(self, series: Series | int) -> bool:
        """No more runs; the one that runs goes on, one that waits is cancelled. False if it was over already.

        One that is over and whose last run has ended is forgotten: its id raises UnknownJobError.
        """
        self._check_started("cancel_series()")
        return self._driver.call(lambda: self._cancel_series(series))

    def series(self) -> list[Series]:
        """Those that go on."""
        self._check_started("series()")
        return self._driver.call(lambda: [one for one in self._driver.ledger.series.values() if one.active])

    # --- what goes on ---

    def add_listener(self, listener: Listener) -> None:
        """Call it with every `Event` from now on, in order, on a thread of its own. `stop` waits for that a moment.

        Raises SchedulerError for what cannot be called.
        """
        if not callable(listener):
            raise SchedulerError(f"the listener {listener!r} cannot be called; a function of one event is expected")
        self._driver.listeners.add(listener)

    def remove_listener(self, listener: Listener) -> None:
        """Raises SchedulerError for one that is not there."""
        try:
            self._driver.listeners.remove(listener)
        except ValueError:
            raise SchedulerError(f"{listener!r} is no listener of this scheduler, or no more") from None

    @property
    def peak_running(self) -> int:
        """How many attempts there have been at once."""
        return self._driver.peak_running

    @property
    def totals(self) -> Mapping[Status, int]:
        """How many jobs have ended, by how, forgotten ones too."""
        return dict(self._driver.ledger.totals)

    @property
    def abandoned(self) -> list[Handle]:
        """Jobs that have ended and whose threads have not."""
        self._check_started("abandoned")
        return self._driver.call(lambda: [one.handle for one in self._driver.attempts.values() if one.abandoned])

    # --- within ---

    def _watch(self, job: Work, trigger: Trigger, since: datetime, policy: FirePolicy) -> Series:
        """Fires later than `since` count."""
        self._check_job(job)
        check_kind("policy", policy, FirePolicy)
        self._check_running("a series")
        series = Series(self._driver.ledger.next_id(), job, job.payload(), first_after(trigger, since))
        told = ScheduleChanged(series.id, series.id, trigger, since, policy)
        self._driver.call(lambda: self._take_series(series, told))
        return series

    # What follows is done by the watcher.

    def _take(self, handle: Handle, upstreams: list[Handle]) -> None:
        driver = self._driver
        driver.ledger.enter(handle, driver.clock.now())
        definition = handle.job.definition(handle.id, self._retry, tuple(upstream.id for upstream in upstreams))
        told: list[Input] = [JobChanged(definition), InstanceSeen(handle.instance)]
        for upstream in upstreams:
            if upstream.ended:  # the engine may have forgotten how
                if driver.engine.known.find_job(upstream.id) is None:
                    told.append(JobChanged(upstream.job.definition(upstream.id, self._retry)))
                told.append(InstanceSeen(upstream.instance))
        driver.tell(*told, *(cancelled_by_stop([handle]) if driver.draining else ()))

    def _take_series(self, series: Series, told: ScheduleChanged) -> None:
        self._check_running("a series")
        self._driver.ledger.series[series.id] = series
        self._driver.tell(JobChanged(series.job.definition(series.id, SERIES_RETRY)), told)

    def _cancel(self, handle: Handle) -> bool:
        if handle.ended or handle.instance.cancel_requested:
            return False
        self._driver.tell(CancelAsked(handle.id, "cancelled", "was cancelled"))
        return True

    def _cancel_series(self, series: Series | int) -> bool:
        found = series if isinstance(series, Series) else self._driver.ledger.series_of(series)
        if not found.active:
            return False
        end_series(self._driver, [found])
        return True

    # And this by whoever asks.

    def _check_job(self, job: Work) -> None:
        if not isinstance(job, AsyncJob | BlockingJob | CpuBoundJob):
            raise InvalidJob(f"{job!r} was given; an AsyncJob, BlockingJob or CpuBoundJob is expected")
        unknown = [name for name in job.rates if name not in self._limits.rates]
        if unknown:
            raise InvalidJob(f"{job.title} names the rates {unknown}, which the scheduler was not given (rates=)")

    def _upstream(self, ref: Ref) -> Handle:
        handle = self._handle(ref)
        if handle.series is not None:
            raise InvalidJob(f"{handle!r} is a run of a series; only what was submitted can be depended on")
        return handle


def _check_numbers(numbers: Mapping[str, int]) -> None:
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise SchedulerError(f"{name} {number!r} was given; a whole number, 1 or more, is expected")
