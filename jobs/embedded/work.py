"""What a program gives a scheduler to do: a call, where it runs, and the terms on which it runs."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

from jobs.core.limits import model_key, tag_key
from jobs.core.policies import UpstreamRule
from jobs.core.records import Demand, Job, Priority, RetryPolicy
from jobs.embedded.checks import check_call, check_retry, check_text, check_texts, is_seconds
from jobs.embedded.errors import InvalidJob

ASYNC, THREAD, PROCESS = "async", "thread", "process"

# What is submitted once is worth three more tries; of a series the next fire is the retry.
ONE_OFF_RETRY = RetryPolicy(max_retries=3, delay_seconds=1.0, max_delay_seconds=60.0)
SERIES_RETRY = RetryPolicy()


@dataclass(frozen=True, eq=False)
class Work:
    """A call `fn(*args, **kwargs)` and its terms. Raises InvalidJob.

    priority                from Priority.LOW to Priority.CRITICAL
    ..._seconds             at most a century
    timeout_seconds         an attempt that takes longer ends as `timeout`
    retry                   None: three more tries if submitted once, none in a series
    deadline_seconds        from due to done; what the order "edf" goes by
    start_deadline_seconds  from due to started; what is late is skipped
    tenant                  whose share it takes in the order "fair"
    tags, rates             names of limits and of token buckets that the scheduler was given
    run_when                what has to have become of the jobs it depends on
    """

    fn: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    _: KW_ONLY
    name: str = ""
    priority: int = Priority.MEDIUM
    timeout_seconds: float | None = None
    retry: RetryPolicy | None = None
    deadline_seconds: float | None = None
    start_deadline_seconds: float | None = None
    tenant: str = ""
    tags: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    run_when: UpstreamRule = UpstreamRule.ALL_SUCCESS

    model: ClassVar[str] = ""
    can_be_ended: ClassVar[bool] = True  # while it runs, and against its will

    def __post_init__(self) -> None:
        if not callable(self.fn):
            raise InvalidJob(f"{self.fn!r} cannot be called; give a function and its args, not what it returned")
        check_call(self.args, self.kwargs)
        self._check_terms()
        self._check_call()

    def _check_terms(self) -> None:
        if not isinstance(self.priority, int) or not Priority.LOW <= self.priority <= Priority.CRITICAL:
            raise InvalidJob(
                f"priority {self.priority!r} was given; 0 (Priority.LOW) to 3 (Priority.CRITICAL) is expected"
            )
        for option in ("timeout_seconds", "deadline_seconds", "start_deadline_seconds"):
            seconds = getattr(self, option)
            if seconds is not None and not (is_seconds(seconds) and seconds > 0):
                raise InvalidJob(
                    f"{option} {seconds!r} was given; seconds above 0, at most a century, or None, are expected"
                )
        if self.retry is not None:
            check_retry(self.retry)
        check_text("name", self.name)
        check_text("tenant", self.tenant)
        check_texts("tags", self.tags)
        check_texts("rates", self.rates)
        if self.run_when not in tuple(UpstreamRule):
            rules = ", ".join(UpstreamRule)
            raise InvalidJob(f"run_when {self.run_when!r} was given; one of {rules} is expected")

    def _check_call(self) -> None:
        """What only some models can run."""

    @property
    def title(self) -> str:
        """Its name, else that of its function."""
        return self.name or getattr(self.fn, "__qualname__", type(self.fn).__name__)

    def payload(self) -> bytes | None:
        """The call as bytes, for a process of its own; None where it runs in this one. Raises InvalidJob."""
        return None

    def definition(self, job_id: int, retry: RetryPolicy, upstreams: tuple[int, ...] = ()) -> Job:
        """What the core decides by: no cores, its model's limit bounds it. `retry`: of a job that does not say."""
        return Job(
            job_id,
            name=self.title,
            demand=Demand(cores=0),
            priority=self.priority,
            timeout_seconds=self.timeout_seconds,
            retry=self.retry or retry,
            tenant=self.tenant,
            deadline_seconds=self.deadline_seconds,
            start_deadline_seconds=self.start_deadline_seconds,
            upstreams=upstreams,
            upstream_rule=self.run_when,
            limits=(model_key(self.model), *map(tag_key, self.tags)),
            rates=self.rates,
        )


class AsyncJob(Work):
    """A coroutine function, on the scheduler's event loop. Can be ended: it is cancelled at its next `await`."""

    model = ASYNC

    def _check_call(self) -> None:
        if inspect.isroutine(self.fn) and not inspect.iscoroutinefunction(self.fn):
            raise InvalidJob(f"{self.title} is no coroutine function and would stop the event loop; use BlockingJob")


class BlockingJob(Work):
    """A function, on a thread. Cannot be ended: it is asked to by its token, and abandoned if it goes on."""

    model = THREAD
    can_be_ended = False

    def _check_call(self) -> None:
        if inspect.iscoroutinefunction(self.fn):
            raise InvalidJob(f"{self.title} is a coroutine function, which a thread would never run; use AsyncJob")


class CpuBoundJob(Work):
    """A function of a module, in a process of the pool. Can be ended: its process is killed."""

    model = PROCESS

    def _check_call(self) -> None:
        if inspect.iscoroutinefunction(self.fn):
            raise InvalidJob(f"{self.title} is a coroutine function, which a process would never run; use AsyncJob")

    def payload(self) -> bytes:
        try:
            return pickle.dumps((self.fn, self.args, dict(self.kwargs)))
        except Exception as error:  # whatever the objects' own pickling raises
            raise InvalidJob(
                f"{self.title} cannot be sent to a process ({error}); give a function of a module, "
                "not a lambda or one inside another, and arguments that can be pickled"
            ) from error
