"""Backfills: the dates of a window, a few at a time."""

# ruff: noqa: ARG001 - Ninja hands the request to every operation

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import P, QueryEx, Router, Status

from jobs import actions
from jobs.actions import NotFound
from jobs.actions.dates import EXPECTED
from jobs.actions.reading import Reader
from jobs.actions.unknown import refuse_unknown
from jobs.api import answers, bodies, pages
from jobs.api.auth import actor_of
from jobs.api.idempotency import DESCRIBED, idempotent
from jobs.api.moments import iso
from jobs.api.strict import identifier, json_object
from jobs.models import Backfill, Job
from jobs.progress import Progress, progress_of, progress_of_all

router = Router(tags=["backfills"])
FIELDS = ("first", "last", "concurrency", "only_missing", "dry_run")


@router.post(
    "/jobs/{job_id}/backfills",
    response={200: answers.BackfillPlan, 201: answers.BackfillAnswer, **answers.REFUSALS},
    openapi_extra=bodies.described(bodies.BackfillFields) | DESCRIBED,
)
@idempotent
def create_backfill(request: HttpRequest, job_id: str) -> Any:
    """Make the dates of a window, oldest first. With `dry_run` only say what that would be (200)."""
    number, now = identifier("job", job_id), timezone.now()
    reader = Reader(json_object(request))
    refuse_unknown(reader, FIELDS)
    texts = {field: reader.text(field, longest=64) for field in ("first", "last")}
    for field in (field for field, text in texts.items() if not text and not reader.problems):
        reader.expected(field, EXPECTED)
    only_missing = reader.flag("only_missing", True)
    dry_run = reader.flag("dry_run", False)
    concurrency = reader.whole("concurrency", 1, lowest=1, highest=actions.MOST_AT_ONCE)
    reader.check()
    first = actions.read_date(number, "first", texts["first"])
    last = actions.read_date(number, "last", texts["last"], end_of_day=True)
    if dry_run:
        plan = actions.plan_backfill(number, first, last, now=now)
        sentence = plan.sentence(only_missing=only_missing)
        return Status(200, _plan(plan, sentence))
    made = actions.create_backfill(
        number, first, last, actor=actor_of(request), now=now, concurrency=concurrency, only_missing=only_missing
    )
    return Status(201, _shape(made, progress_of(made)))


@router.get("/jobs/{job_id}/backfills", response={200: list[answers.BackfillAnswer], **answers.REFUSALS})
def list_backfills(
    request: HttpRequest,
    response: HttpResponse,
    job_id: str,
    before: QueryEx[int | None, P(ge=1, le=pages.LARGEST, description="Only backfills with a smaller id.")] = None,
    limit: QueryEx[int, P(ge=1, le=100)] = 50,
) -> Any:
    """Newest first."""
    number = identifier("job", job_id)
    if not Job.objects.filter(pk=number).exists():
        raise NotFound("job", number)
    found = Backfill.objects.filter(job=number).order_by("-pk")
    page = pages.page(request, response, found, before, limit)
    return [_shape(*both) for both in zip(page, progress_of_all(page), strict=True)]


@router.get("/backfills/{backfill_id}", response={200: answers.BackfillAnswer, **answers.REFUSALS})
def read_backfill(request: HttpRequest, backfill_id: str) -> Any:
    """How far it has got."""
    backfill = _backfill(backfill_id)
    return _shape(backfill, progress_of(backfill))


@router.post("/backfills/{backfill_id}/cancel", response={200: answers.BackfillAnswer, **answers.REFUSALS})
def cancel_backfill(request: HttpRequest, backfill_id: str) -> Any:
    """Make no more of it, and cancel all of its instances that have not ended."""
    number = identifier("backfill", backfill_id)
    actions.cancel_backfill(number, actor=actor_of(request), now=timezone.now())
    backfill = _backfill(backfill_id)
    return _shape(backfill, progress_of(backfill))


def _backfill(text: str) -> Backfill:
    number = identifier("backfill", text)
    backfill = Backfill.objects.filter(pk=number).first()
    if backfill is None:
        raise NotFound("backfill", number)
    return backfill


def _plan(plan: actions.BackfillPlan, sentence: str) -> dict[str, Any]:
    return {
        "job_id": plan.job_id,
        "jobs": plan.jobs,
        "dates": plan.dates,
        "existing": plan.existing,
        "first": iso(plan.first),
        "last": iso(plan.last),
        "detail": sentence,
    }


def _shape(backfill: Backfill, progress: Progress) -> dict[str, Any]:
    return {
        "backfill_id": backfill.pk,
        "job_id": backfill.job_id,
        "status": backfill.status,
        "first": iso(backfill.first_at),
        "last": iso(backfill.last_at),
        "next": iso(backfill.next_at),
        "concurrency": backfill.concurrency,
        "only_missing": backfill.only_missing,
        "dates": backfill.dates,
        "made": backfill.made,
        "instances": progress.instances,
        "detail": progress.sentence,
        "created_by": backfill.created_by,
        "created_at": iso(backfill.created_at),
        "ended_at": iso(backfill.ended_at),
    }
