"""Instances: list, read, cancel, retry."""

# ruff: noqa: ARG001 - Ninja hands the request to every operation

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import P, QueryEx, Router, Status

from jobs import actions, holds
from jobs.actions import InvalidInput, NotFound, Problem
from jobs.actions.reading import shown
from jobs.api import answers, outputs, pages
from jobs.api.auth import actor_of
from jobs.api.idempotency import DESCRIBED, idempotent
from jobs.api.shapes import instance_shape
from jobs.api.strict import identifier
from jobs.core import states
from jobs.given import ran_with
from jobs.models import LARGE_OF_JOB, Attempt, Instance
from jobs.parameters.masking import masked

router = Router(tags=["instances"])
FEW = 1000
EXPECTED_STATUS = ", ".join(status.value for status in states.Status)


def rows() -> QuerySet[Instance]:
    """With what the answers need, in two queries whatever their number; newest first."""
    attempts = Prefetch("attempts", Attempt.objects.select_related("node").order_by("number"))
    light = Instance.objects.defer(*LARGE_OF_JOB, "job__description")
    return light.select_related("job", "node").prefetch_related(attempts).order_by("-pk")


def several(found: Iterable[Instance], chars: int = outputs.IN_LISTS) -> list[dict[str, Any]]:
    instances = list(found)
    reasons = holds.explain(instances, timezone.now())
    return [instance_shape(one, outputs.latest_output(one, chars), reasons.get(one.pk)) for one in instances]


def one(instance_id: int) -> dict[str, Any]:
    instance = rows().filter(pk=instance_id).first()
    if instance is None:
        raise NotFound("instance", instance_id)
    given = ran_with(instance)
    return several([instance], outputs.IN_DETAIL)[0] | {"parameters": None if given is None else masked(given)}


@router.get("/instances", response={200: list[answers.InstanceAnswer], **answers.REFUSALS})
def list_instances(
    request: HttpRequest,
    response: HttpResponse,
    job_id: QueryEx[int | None, P(ge=1, le=pages.LARGEST)] = None,
    status: QueryEx[str | None, P(description=f"One or more of {EXPECTED_STATUS}, separated by commas.")] = None,
    before: QueryEx[int | None, P(ge=1, le=pages.LARGEST, description="Only instances with a smaller id.")] = None,
    limit: QueryEx[int, P(ge=1, le=100)] = 50,
) -> Any:
    """Newest first."""
    found = rows()
    if job_id is not None:
        found = found.filter(job_id=job_id)
    if status is not None:
        found = _with_status(found, _statuses(status))
    return several(pages.page(request, response, found, before, limit))


@router.get("/instances/{instance_id}", response={200: answers.FullInstance, **answers.REFUSALS})
def read_instance(request: HttpRequest, instance_id: str) -> Any:
    """With up to 50,000 characters of `output` and `error`; the whole is at `/log`."""
    return one(identifier("instance", instance_id))


@router.post("/instances/{instance_id}/cancel", response={200: answers.CancelAnswer, **answers.REFUSALS})
def cancel_instance(request: HttpRequest, instance_id: str) -> Any:
    """`result`: cancelled (it waited), stopping (it runs and is being ended) or ended (too late, it stays as it is)."""
    number = identifier("instance", instance_id)
    answer = actions.cancel_instance(number, actor=actor_of(request), now=timezone.now())
    status = Instance.objects.values_list("status", flat=True).get(pk=number)
    return {"instance_id": number, "status": status, "result": answer.answer, "detail": answer.sentence}


@router.post(
    "/instances/{instance_id}/retry",
    response={200: answers.FullInstance, 201: answers.FullInstance, **answers.REFUSALS},
    openapi_extra=DESCRIBED,
)
@idempotent
def retry_instance(request: HttpRequest, instance_id: str) -> Any:
    """A new instance of the same logical date. 200 with the one under way when it was asked for before."""
    number = identifier("instance", instance_id)
    retry = actions.retry_instance(number, actor=actor_of(request), now=timezone.now())
    return Status(201 if retry.is_new else 200, one(retry.instance_id))


def _with_status(found: QuerySet[Instance], statuses: list[str]) -> QuerySet[Instance]:
    """Few that live are found by their own indexes; the order by id would have a million ended ones looked through."""
    if set(statuses) <= states.LIVE:
        each = [Instance.objects.filter(status=status).values_list("pk", flat=True)[:FEW] for status in statuses]
        if all(len(ids) < FEW for ids in each):
            found = found.filter(pk__in=[pk for ids in each for pk in ids])
    return found.filter(status__in=statuses)


def _statuses(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in states.Status._value2member_map_]
    if unknown:
        sentence = f"{shown(unknown[0])} is no status; expected {EXPECTED_STATUS}."
        raise InvalidInput([Problem("status", shown(text), f"some of {EXPECTED_STATUS}", sentence)])
    return names
