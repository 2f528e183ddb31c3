"""Secrets: made, described, replaced, deleted. No value is ever answered."""

# ruff: noqa: ARG001 - Ninja hands the request to every operation

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables
from ninja import Router, Status

from jobs import actions
from jobs.actions import NotFound
from jobs.api import answers, bodies
from jobs.api.auth import actor_of
from jobs.api.idempotency import DESCRIBED, idempotent
from jobs.api.moments import iso
from jobs.api.strict import identifier, json_object
from jobs.models import Secret
from jobs.store import secrets as store

router = Router(tags=["secrets"])


@router.get("/secrets", response={200: list[answers.SecretAnswer], **answers.REFUSALS})
def list_secrets(request: HttpRequest) -> Any:
    """All of them, by name, with the jobs that are given them."""
    return [_shape(secret) for secret in store.with_jobs()]


@router.post(
    "/secrets",
    response={201: answers.ChangedSecret, **answers.REFUSALS},
    openapi_extra=bodies.described(bodies.SecretFields) | DESCRIBED,
)
@idempotent
@sensitive_variables()
def create_secret(request: HttpRequest) -> Any:
    """Its value is stored encrypted, and told to nobody but the jobs that are given it."""
    return Status(201, _done(actions.create_secret(json_object(request), actor=actor_of(request), now=timezone.now())))


@router.get("/secrets/{secret_id}", response={200: answers.SecretAnswer, **answers.REFUSALS})
def read_secret(request: HttpRequest, secret_id: str) -> Any:
    return _one(identifier("secret", secret_id))


@router.patch(
    "/secrets/{secret_id}",
    response={200: answers.ChangedSecret, **answers.REFUSALS},
    openapi_extra=bodies.described(bodies.SecretFields, partial=True),
)
@sensitive_variables()
def change_secret(request: HttpRequest, secret_id: str) -> Any:
    """Its description and its value; the name stays. Attempts that start from now on get the new value."""
    number = identifier("secret", secret_id)
    return _done(actions.change_secret(number, json_object(request), actor=actor_of(request), now=timezone.now()))


@router.delete("/secrets/{secret_id}", response={200: answers.DeletedSecret, **answers.REFUSALS})
def delete_secret(request: HttpRequest, secret_id: str) -> Any:
    """409 while jobs are given it."""
    number = identifier("secret", secret_id)
    actions.delete_secret(number, actor=actor_of(request), now=timezone.now())
    return {"secret_id": number, "status": "deleted"}


def _done(done: actions.SecretChanged) -> dict[str, Any]:
    return _one(done.secret_id) | {"changed": list(done.changed)}


def _one(secret_id: int) -> dict[str, Any]:
    secret = store.with_jobs().filter(pk=secret_id).first()
    if secret is None:
        raise NotFound("secret", secret_id)
    return _shape(secret)


def _shape(secret: Secret) -> dict[str, Any]:
    return {
        "secret_id": secret.pk,
        "name": secret.name,
        "description": secret.description,
        "jobs": [
            {"job_id": grant.job_id, "job_name": grant.job.name, "variable": grant.variable, "file": grant.as_file}
            for grant in secret.grants.all()
        ],
        "created_by": secret.created_by,
        "created_at": iso(secret.created_at),
        "updated_by": secret.updated_by,
        "updated_at": iso(secret.updated_at),
    }
