"""Callables as the API answers them."""

from __future__ import annotations

from typing import Any

from ninja import Schema


class CallableAnswer(Schema):
    name: str
    execution_model: str
    pooled: bool
    doc: str
    parameters: dict[str, Any]
