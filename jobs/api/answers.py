"""What the API answers, for its description and its check. Moments are ISO 8601 texts with offset."""

from __future__ import annotations

from typing import Any

from ninja import Schema

Moment = str


class FieldProblem(Schema):
    field: str
    given: str
    expected: str
    detail: str


class Refusal(Schema):
    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldProblem]


REFUSALS: dict[Any, Any] = {frozenset({400, 401, 403, 404, 409, 413, 415, 422}): Refusal}


class CreatedJob(Schema):
    job_id: int
    name: str
    status: str
    created_at: Moment
    instance_id: int | None


class ListedJob(Schema):
    job_id: int
    name: str
    description: str
    kind: str
    python_version: str
    requirements: list[str]
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
    keep_workspace: bool | None
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
    environment: dict[str, str]


class ChangedJob(FullJob):
    changed: list[str]
    with_it: list[str]


class DeletedJob(Schema):
    job_id: int
    status: str
    cancelled: int
    running: int
    detail: str


class WaitingCancelled(Schema):
    job_id: int
    cancelled: int


class LimitAnswer(Schema):
    limit_id: int
    kind: str
    name: str
    maximum: int | None
    rate_per_second: float | None
    burst: int | None
    in_use: int | None
    waiting: int
    tokens: float | None
    ready_at: Moment | None


class ChangedLimit(LimitAnswer):
    changed: list[str]


class DeletedLimit(Schema):
    limit_id: int
    status: str


class ScheduledJob(Schema):
    job_id: int
    name: str
    next_run: Moment | None
    schedule: str
    last_run: Moment | None
    run_count: int
    missed_runs: int
    skipped_runs: int
    paused: bool
    fault: str


class Marks(Schema):
    at: Moment
    says: list[str]


class LeftOutFires(Schema):
    at: Moment
    count: int
    code: str
    says: str


class PreviewedSchedule(Schema):
    description: str
    fires: list[Moment]
    marks: list[Marks]
    left_out: list[LeftOutFires]
    starts: list[Moment]
    follows: str
    at_once: list[Moment] | None
    missed: int | None
    tzdata_version: str


class SkippedFires(Schema):
    event_id: int
    at: Moment
    logical_at: Moment
    code: str
    reason: str
    count: int


class Closed(Schema):
    begins: Moment
    ends: Moment
    says: str


class CalendarAnswer(Schema):
    calendar_id: int
    name: str
    timezone: str
    blackouts: list[dict[str, str]]
    business_days: str
    holidays: list[str]
    description: str
    closures: list[Closed]
    used_by: int
    updated_at: Moment


class DeletedCalendar(Schema):
    calendar_id: int
    name: str
    status: str


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


class ConditionsAnswer(Schema):
    number: int
    argv: list[str]
    working_directory: str
    environment: dict[str, str]
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


class RetriedAnswer(Schema):
    instance_id: int
    job_id: int
    logical_at: Moment
    is_new: bool
    also: list[int]


class WorkflowSquare(Schema):
    instance_id: int
    status: str
    generation: int
    first_cause: int | None


class WorkflowJob(Schema):
    job_id: int
    name: str
    depends_on: list[int]
    upstream_rule: str
    not_before: str
    paused: bool
    dates: dict[str, WorkflowSquare]


class WorkflowAnswer(Schema):
    job_id: int
    schedule: str
    dates: list[Moment]
    jobs: list[WorkflowJob]


class WorkflowRun(Schema):
    logical_at: Moment
    instances: dict[str, int]


class BackfillPlan(Schema):
    job_id: int
    jobs: list[str]
    dates: int
    existing: int
    first: Moment | None
    last: Moment | None
    detail: str


class BackfillAnswer(Schema):
    backfill_id: int
    job_id: int
    status: str
    first: Moment
    last: Moment
    next: Moment | None
    concurrency: int
    only_missing: bool
    dates: int
    made: int
    instances: dict[str, int]
    detail: str
    created_by: str
    created_at: Moment
    ended_at: Moment | None


class CancelAnswer(Schema):
    instance_id: int
    status: str
    result: str
    detail: str


class ResourcesAnswer(Schema):
    total_physical: int
    free_physical: int
    used_physical: int
    virtual_allocations: int
    max_virtual: int
    utilization_percent: float
    total_memory_mb: int
    used_memory_mb: int


class NodeResources(ResourcesAnswer):
    node_id: int
    node: str
    state: str
    cores: list[int]
    overcommit: float


class SystemResources(ResourcesAnswer):
    nodes: list[NodeResources]


class NodeHealth(Schema):
    node_id: int
    node: str
    state: str
    version: str
    incarnation: int
    started_at: Moment | None
    stopped_at: Moment | None
    heartbeat_at: Moment | None
    admission_stopped: str
    drained_at: Moment | None
    drained_by: str
    notices: list[str]


class DrainAnswer(Schema):
    node_id: int
    node: str
    state: str
    drained_at: Moment | None
    drained_by: str
    running: int
    changed: bool


class SystemHealth(Schema):
    status: str
    detail: str
    tzdata_version: str
    instances: dict[str, int]
    nodes: list[NodeHealth]
