"""Secrets as the API answers them: never with a value."""

from __future__ import annotations

from ninja import Schema

from jobs.api.answers.moment import Moment


class GivenTo(Schema):
    job_id: int
    job_name: str
    variable: str
    file: bool


class SecretAnswer(Schema):
    secret_id: int
    name: str
    description: str
    jobs: list[GivenTo]
    created_by: str
    created_at: Moment
    updated_by: str
    updated_at: Moment


class ChangedSecret(SecretAnswer):
    changed: list[str]


class DeletedSecret(Schema):
    secret_id: int
    status: str
