"""Limits as the API answers them."""

from __future__ import annotations

from ninja import Schema

from jobs.api.answers.moment import Moment


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
