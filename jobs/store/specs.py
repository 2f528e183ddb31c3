"""Definitions as they are to be stored: checked, complete, frozen. `jobs.actions.submission` makes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from jobs.core.records import Priority


@dataclass(frozen=True, slots=True)
class ScheduleSpec:
    """When a job runs, beside "now". Moments are aware UTC; `start_at` is the moment of a `once`."""

    type: str
    expression: str
    zone: str
    start_at: datetime | None = None
    end_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class JobSpec:
    """What runs, what it needs, what happens when it fails. Field names are those of the model Job.

    Without a schedule it is a `once` without a date: it runs when it is submitted, and after that only by hand.
    """

    name: str
    kind: str
    body: str
    description: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    cores: int = 1
    memory_mb: int = 0
    timeout_seconds: float | None = None
    kill_grace_seconds: float = 10.0
    priority: int = Priority.MEDIUM
    max_retries: int = 0
    retry_delay_seconds: float = 60.0
    retry_max_delay_seconds: float = 3600.0
    retry_jitter: bool = True
    keep_workspace: bool | None = None
    tags: tuple[str, ...] = ()
    notify_email: str = ""
    notify_webhook: str = ""
    schedule: ScheduleSpec | None = None
