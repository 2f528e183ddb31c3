"""Limits beside cores: how many of a tag or model run at once, and how often something may start."""

# ruff: noqa: ARG001 - Ninja hands the request to every operation

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Status

from jobs import actions
from jobs.actions import NotFound
from jobs.api import answers, bodies
from jobs.api.auth import actor_of
from jobs.api.idempotency import DESCRIBED, idempotent
from jobs.api.moments import iso
from jobs.api.strict import identifier, json_object
from jobs.limituse import LimitUse, uses
from jobs.models import Limit

router = Router(tags=["limits"])


@router.get("/limits", response={200: list[answers.LimitAnswer], **answers.REFUSALS})
def list_limits(request: HttpRequest) -> Any:
    """All of them, by kind and name, with what is in use and how many wait at this moment."""
    return [_shape(use) for use in uses(Limit.objects.all(), timezone.now())]


@router.post(
    "/limits",
    response={201: answers.ChangedLimit, **answers.REFUSALS},
    openapi_extra=bodies.described(bodies.LimitFields) | DESCRIBED,
)
@idempotent
def create_limit(request: HttpRequest) -> Any:
    """Engines follow at once; what runs beyond a maximum goes on."""
    return Status(201, _done(actions.create_limit(json_object(request), actor=actor_of(request), now=timezone.now())))


@router.get("/limits/{limit_id}", response={200: answers.LimitAnswer, **answers.REFUSALS})
def read_limit(request: HttpRequest, limit_id: str) -> Any:
    return _one(identifier("limit", limit_id))


@router.patch(
    "/limits/{limit_id}",
    response={200: answers.ChangedLimit, **answers.REFUSALS},
    openapi_extra=bodies.described(bodies.LimitFields, partial=True),
)
def change_limit(request: HttpRequest, limit_id: str) -> Any:
    """Its numbers; kind and name stay."""
    number = identifier("limit", limit_id)
    return _done(actions.change_limit(number, json_object(request), actor=actor_of(request), now=timezone.now()))


@router.delete("/limits/{limit_id}", response={200: answers.DeletedLimit, **answers.REFUSALS})
def delete_limit(request: HttpRequest, limit_id: str) -> Any:
    """409 for a rate that jobs take from."""
    number = identifier("limit", limit_id)
    actions.delete_limit(number, actor=actor_of(request), now=timezone.now())
    return {"limit_id": number, "status": "deleted"}


def _done(done: actions.LimitChanged) -> dict[str, Any]:
    return _one(done.limit_id) | {"changed": done.changed}


def _one(limit_id: int) -> dict[str, Any]:
    found = uses(Limit.objects.filter(pk=limit_id), timezone.now())
    if not found:
        raise NotFound("limit", limit_id)
    return _shape(found[0])


def _shape(use: LimitUse) -> dict[str, Any]:
    return {
        "limit_id": use.limit.pk,
        "kind": use.limit.kind,
        "name": use.limit.name,
        "maximum": use.limit.maximum,
        "rate_per_second": use.limit.rate_per_second,
        "burst": use.limit.burst,
        "in_use": use.in_use,
        "waiting": use.waiting,
        "tokens": use.tokens,
        "ready_at": iso(use.ready_at),
    }
