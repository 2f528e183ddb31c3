"""How the API refuses: a problem as RFC 9457 has it, with every field that is wrong."""

from __future__ import annotations

from typing import Any

from ninja import Schema


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
