"""Instances, why they wait, and their attempts as the API answers them."""

from __future__ import annotations

from typing import Any

from ninja import Schema

from jobs.api.answers.moment import Moment


class ProgressAnswer(Schema):
    done: float
    text: str


class AttemptAnswer(Schema):
    number: int
    status: str
    outcome: str | None
    node: str
    cores: list[int]
    virtual_cores: int
    memory_mb_allocated: int
    created_at: Moment
    started_at: Moment | None
    completed_at: Moment | None
    exit_code: int | None
    signal: int | None
    reason: str
    duration_seconds: float | None
    cpu_seconds: float | None
    peak_memory_bytes: int | None
    descendants_ended: int
    abandoned_at: Moment | None
    progress: ProgressAnswer | None
    result: Any


class OutputAnswer(Schema):
    name: str
    size_bytes: int
    modified_at: Moment


class OutputsAnswer(Schema):
    number: int
    outputs: list[OutputAnswer]


class SampleAnswer(Schema):
    seconds: float
    cores: float
    memory_bytes: int


class SamplesAnswer(Schema):
    number: int
    complete: bool
    peak_memory_bytes: int | None
    cpu_seconds: float | None
    samples: list[SampleAnswer]


class PackagesAnswer(Schema):
    environment: str
    python_version: str | None
    requirements: list[str] | None
    built_at: Moment | None


class ConditionsAnswer(Schema):
    number: int
    argv: list[str]
    working_directory: str
    environment: dict[str, str]
    secrets: dict[str, str]
    masked: list[str]
    cores: list[int]
    virtual_cores: int
    pinned_to: list[int] | None
    memory_mb_allocated: int
    nice: int
    umask: str
    timeout_seconds: float | None
    kill_grace_seconds: float
    log_cap_bytes: int
    keep_workspace: bool
    run_as: str
    io_priority: str
    max_processes: int | None
    max_file_bytes: int | None
    packages: PackagesAnswer | None
    start: str
    start_note: str


class HoldAnswer(Schema):
    code: str
    sentence: str
    predicted_start: Moment | None
    unknown_because: str


class QueuedAnswer(Schema):
    instance_id: int
    job_id: int
    job_name: str
    tenant: str
    queued_at: Moment | None
    cpu_cores_required: int
    memory_mb_required: int
    hold: HoldAnswer | None


class InstanceAnswer(Schema):
    instance_id: int
    job_id: int
    job_name: str
    status: str
    logical_at: Moment
    scheduled_at: Moment
    queued_at: Moment | None
    started_at: Moment | None
    completed_at: Moment | None
    exit_code: int | None
    signal: int | None
    output: str
    error: str
    reason: str
    cores: list[int]
    virtual_cores: int
    memory_mb_allocated: int
    node: str | None
    retry_count: int
    attempts: list[AttemptAnswer]
    hold: HoldAnswer | None
    generation: int
    cause: str
    retry_of: int | None
    first_cause: int | None
    backfill: int | None
    cancel_requested_at: Moment | None
    cancel_requested_by: str
    created_by: str
    created_at: Moment


class FullInstance(InstanceAnswer):
    parameters: dict[str, Any] | None


class RetriedAnswer(Schema):
    instance_id: int
    job_id: int
    logical_at: Moment
    is_new: bool
    also: list[int]


class CancelAnswer(Schema):
    instance_id: int
    status: str
    result: str
    detail: str
