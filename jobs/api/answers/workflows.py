"""Workflows and backfills as the API answers them."""

from __future__ import annotations

from ninja import Schema

from jobs.api.answers.moment import Moment


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
