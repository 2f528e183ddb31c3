"""Calendars: make, list, read, change, delete."""

# ruff: noqa: ARG001 - Ninja hands the request to every operation

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import Any

from django.db.models import Count
from django.http import HttpRequest
from django.utils import timezone
from ninja import P, QueryEx, Router, Status

from jobs import actions
from jobs.actions import NotFound
from jobs.actions.calendars import revision_of
from jobs.actions.definition import zone_to_show
from jobs.api import answers, bodies
from jobs.api.auth import actor_of
from jobs.api.idempotency import DESCRIBED, idempotent
from jobs.api.moments import iso
from jobs.api.strict import identifier, json_object
from jobs.calendars import next_closures, words_of
from jobs.models import Calendar

router = Router(tags=["calendars"])
CLOSURES = 5
Revision = QueryEx[str | None, P(description="That of the calendar which was edited: 409 if it has another by now.")]


@router.get("/calendars", response={200: list[answers.CalendarAnswer], **answers.REFUSALS})
def list_calendars(
    request: HttpRequest,
    limit: QueryEx[int, P(ge=1, le=500)] = 100,
    offset: QueryEx[int, P(ge=0, le=1_000_000)] = 0,
) -> Any:
    """By name."""
    now = timezone.now()
    return [_shape(calendar, now) for calendar in _rows().order_by("name")[offset : offset + limit]]


@router.post(
    "/calendars",
    response={201: answers.CalendarAnswer, **answers.REFUSALS},
    openapi_extra=bodies.described(bodies.CalendarFields) | DESCRIBED,
)
@idempotent
def create_calendar(request: HttpRequest) -> Any:
    now = timezone.now()
    stored = actions.create_calendar(json_object(request), actor=actor_of(request), now=now)
    return Status(201, _one(stored.calendar_id, now))


@router.get("/calendars/{calendar_id}", response={200: answers.CalendarAnswer, **answers.REFUSALS})
def read_calendar(request: HttpRequest, calendar_id: str) -> Any:
    return _one(identifier("calendar", calendar_id), timezone.now())


@router.patch(
    "/calendars/{calendar_id}",
    response={200: answers.CalendarAnswer, **answers.REFUSALS},
    openapi_extra=bodies.described(bodies.CalendarFields, partial=True),
)
def change_calendar(request: HttpRequest, calendar_id: str, revision: Revision = None) -> Any:
    """Change the fields that are given; null takes one away. The schedules that go by it follow; nothing is started."""
    number, now = identifier("calendar", calendar_id), timezone.now()
    actions.change_calendar(number, json_object(request), actor=actor_of(request), now=now, revision=revision)
    return _one(number, now)


@router.delete("/calendars/{calendar_id}", response={200: answers.DeletedCalendar, **answers.REFUSALS})
def delete_calendar(request: HttpRequest, calendar_id: str) -> Any:
    """409 while the schedule of a job goes by it."""
    number = identifier("calendar", calendar_id)
    name = actions.delete_calendar(number, actor=actor_of(request), now=timezone.now())
    return {"calendar_id": number, "name": name, "status": "deleted"}


def _rows() -> Any:
    return Calendar.objects.annotate(users=Count("schedules"))


def _one(calendar_id: int, now: datetime) -> dict[str, Any]:
    calendar = _rows().filter(pk=calendar_id).first()
    if calendar is None:
        raise NotFound("calendar", calendar_id)
    return _shape(calendar, now)


def _shape(calendar: Any, now: datetime) -> dict[str, Any]:
    definition = calendar.definition
    zone = zone_to_show(definition.get("timezone") or "UTC")
    return {
        "calendar_id": calendar.pk,
        "name": calendar.name,
        "timezone": zone.key,
        "blackouts": definition.get("blackouts") or [],
        "business_days": definition.get("business_days") or "",
        "holidays": definition.get("holidays") or [],
        "description": words_of(calendar),
        "closures": [
            {"begins": iso(closure.begins, zone), "ends": iso(closure.ends, zone), "says": closure.says}
            for closure in islice(next_closures(calendar, now), CLOSURES)
        ],
        "used_by": calendar.users,
        "revision": revision_of(calendar),
        "updated_at": iso(calendar.updated_at),
    }
