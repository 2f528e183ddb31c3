"""Jobs as the API answers them."""

from __future__ import annotations

from typing import Any

from ninja import Schema

from jobs.api.answers.moment import Moment


class CreatedJob(Schema):
    job_id: int
    name: str
    status: str
    created_at: Moment
    instance_id: int | None


class UsedSecret(Schema):
    name: str
    variable: str
    file: bool


class ListedJob(Schema):
    job_id: int
    name: str
    description: str
    kind: str
    execution_model: str
    python_version: str
    requirements: list[str]
    secrets: list[UsedSecret]
    cpu_cores_required: int
    memory_mb_required: int
    timeout_seconds: float | None
    kill_grace_seconds: float
    schedule_type: str
    schedule_expression: str | None
    start_date: Moment | None
    end_date: Moment | None
    timezone: str | None
    gap: str
    fold: str
    calendar: str | None
    calendar_action: str
    catch_up: str
    catch_up_limit: int
    misfire_grace_seconds: float
    overlap: str
    queue_bound: int
    jitter_seconds: float
    first_at_once: bool
    schedule: str
    next_run: Moment | None
    max_retries: int
    retry_delay_seconds: float
    retry_max_delay_seconds: float
    retry_jitter: bool
    retry_only_exit_codes: list[int]
    retry_never_exit_codes: list[int]
    pause_after_failures: int | None
    failures_in_a_row: int
    tenant: str
    deadline_seconds: float | None
    start_deadline_seconds: float | None
    max_running: int | None
    rates: list[str]
    priority: int
    priority_name: str
    tags: list[str]
    depends_on: list[int]
    upstream_rule: str
    not_before: str
    start: str
    working_directory: str
    run_as: str
    umask: str
    nice: int
    io_priority: str
    max_processes: int | None
    max_file_mb: int | None
    cleanup_command: str
    cleanup_after: list[str]
    cleanup_timeout_seconds: float
    keep_workspace: bool | None
    keep_days: int | None
    keep_failed_days: int | None
    keep_instances: int | None
    notify_email: str
    notify_webhook: str
    paused: bool
    paused_at: Moment | None
    paused_by: str
    delete_requested_at: Moment | None
    revision: int
    created_by: str | None
    created_at: Moment
    updated_at: Moment


class FullJob(ListedJob):
    script_content: str | None
    script_path: str | None
    command: str | None
    parameters: dict[str, Any]
    parameter_values: dict[str, Any]
    callable: str | None
    environment: dict[str, str]


class ChangedJob(FullJob):
    changed: list[str]
    with_it: list[str]
    cancelled: int


class DeletedJob(Schema):
    job_id: int
    status: str
    cancelled: int
    running: int
    detail: str


class WaitingCancelled(Schema):
    job_id: int
    cancelled: int
