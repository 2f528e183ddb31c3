"""Functions that may be made jobs."""

# ruff: noqa: ARG001 - Ninja hands the request to every operation

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router

from jobs.api import answers
from jobs.callables import registry

router = Router(tags=["callables"])


@router.get("/callables", response={200: list[answers.CallableAnswer], **answers.REFUSALS})
def list_callables(request: HttpRequest) -> Any:
    """All that the apps' jobs.py offer, by name; `parameters` is the JSON Schema of what each takes."""
    return [
        {"name": one.name, "execution_model": one.model, "pooled": one.pooled, "doc": one.doc, "parameters": one.schema}
        for one in registry.all()
    ]
