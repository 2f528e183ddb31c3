"""Schedules and calendars as the API answers them."""

from __future__ import annotations

from ninja import Schema

from jobs.api.answers.moment import Moment


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
    revision: str
    updated_at: Moment


class DeletedCalendar(Schema):
    calendar_id: int
    name: str
    status: str
