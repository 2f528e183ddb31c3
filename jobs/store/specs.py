"""Definitions as they are to be stored: checked, complete, frozen. `jobs.actions.submission` makes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from jobs.core.calendared import CalendarAction
from jobs.core.catchup import CatchUp
from jobs.core.daylight import Fold, Gap
from jobs.core.policies import DEFAULT_POLICY, Overlap, UpstreamRule
from jobs.core.records import Priority
from jobs.core.running import USUAL_RUN, ExecutionModel, RunOptions


@dataclass(frozen=True, slots=True)
class ScheduleSpec:
    """When a job runs, beside "now". Moments are aware UTC; `start_at` is the moment of a `once`.

    `calendar_name` is what the calendar is called; `calendar_id` says which it is.
    """

    type: str
    expression: str
    zone: str
    start_at: datetime | None = None
    end_at: datetime | None = None
    gap: Gap = "default"
    fold: Fold = "default"
    calendar_id: int | None = None
    calendar_action: CalendarAction = "skip"
    catch_up: str = CatchUp.ONE
    catch_up_limit: int = DEFAULT_POLICY.catch_up_limit
    misfire_grace_seconds: float = DEFAULT_POLICY.misfire_grace_seconds
    overlap: str = Overlap.SKIP
    queue_bound: int = DEFAULT_POLICY.queue_bound
    jitter_seconds: float = 0.0
    first_at_once: bool = False
    calendar_name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class SecretUse:
    """The secret `name` as the variable of a job: its value, or the path of a file that has it."""

    variable: str
    name: str
    as_file: bool = False


@dataclass(frozen=True, slots=True)
class JobSpec:
    """What runs, what it needs, what happens when it fails. Field names are those of the model Job.

    Without a schedule it is a `once` without a date: it runs when it is submitted, and after that only by hand.
    """

    name: str
    kind: str
    body: str
    execution_model: str = ExecutionModel.PROCESS
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    parameter_values: dict[str, Any] = field(default_factory=dict)
    python_version: str = ""
    requirements: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    secrets: tuple[SecretUse, ...] = ()
    cores: int = 1
    memory_mb: int = 0
    timeout_seconds: float | None = None
    kill_grace_seconds: float = 10.0
    priority: int = Priority.MEDIUM
    max_retries: int = 0
    retry_delay_seconds: float = 60.0
    retry_max_delay_seconds: float = 3600.0
    retry_jitter: bool = True
    retry_only_exit_codes: tuple[int, ...] = ()
    retry_never_exit_codes: tuple[int, ...] = ()
    pause_after_failures: int | None = None
    tenant: str = ""
    deadline_seconds: float | None = None
    start_deadline_seconds: float | None = None
    max_running: int | None = None
    rates: tuple[str, ...] = ()
    upstreams: tuple[int, ...] = ()
    upstream_rule: str = UpstreamRule.ALL_SUCCESS
    not_before: str = ""
    run: RunOptions = USUAL_RUN
    keep_workspace: bool | None = None
    keep_days: int | None = None
    keep_failed_days: int | None = None
    keep_instances: int | None = None
    tags: tuple[str, ...] = ()
    notify_email: str = ""
    notify_webhook: str = ""
    schedule: ScheduleSpec | None = None
