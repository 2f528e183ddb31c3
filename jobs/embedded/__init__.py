"""A scheduler within a program: no service, no database, no Django. docs/embedded.md tells how to use it."""

from jobs.core.buckets import Bucket
from jobs.core.catchup import CatchUp
from jobs.core.order import Entry, Order
from jobs.core.policies import FirePolicy, Overlap, UpstreamRule
from jobs.core.records import Priority, RetryPolicy
from jobs.core.states import InvalidTransitionError, Status
from jobs.embedded.cancellation import CancellationToken, current_token
from jobs.embedded.clock import Clock, HandClock, SystemClock
from jobs.embedded.errors import (
    InvalidJob,
    JobCancelled,
    NonRetryableError,
    SchedulerError,
    SchedulerNotStartedError,
    SchedulerStoppedError,
    UnknownJobError,
)
from jobs.embedded.handles import Event, Handle, Series
from jobs.embedded.scheduler import Scheduler
from jobs.embedded.work import AsyncJob, BlockingJob, CpuBoundJob

__all__ = [
    "AsyncJob",
    "BlockingJob",
    "Bucket",
    "CancellationToken",
    "CatchUp",
    "Clock",
    "CpuBoundJob",
    "Entry",
    "Event",
    "FirePolicy",
    "HandClock",
    "Handle",
    "InvalidJob",
    "InvalidTransitionError",
    "JobCancelled",
    "NonRetryableError",
    "Order",
    "Overlap",
    "Priority",
    "RetryPolicy",
    "Scheduler",
    "SchedulerError",
    "SchedulerNotStartedError",
    "SchedulerStoppedError",
    "Series",
    "Status",
    "SystemClock",
    "UnknownJobError",
    "UpstreamRule",
    "current_token",
]
