"""Schedules: what fires next, and what would."""

# ruff: noqa: ARG001 - Ninja hands the request to every operation

from __future__ import annotations

from typing import Any

from django.db.models import F, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from ninja import P, QueryEx, Router

from jobs import actions
from jobs.actions.definition import zone_to_show
from jobs.api import answers, bodies
from jobs.api.moments import iso
from jobs.api.shapes import words_of
from jobs.api.strict import json_object
from jobs.models import Schedule

router = Router(tags=["schedules"])


def to_come() -> QuerySet[Schedule]:
    """Schedules that will fire, or would if their job were not paused or they had no fault; the next one first."""
    waits = Q(next_at__isnull=False) | Q(job__paused_at__isnull=False) | ~Q(fault="")
    over = Q(type=Schedule.Type.ONCE) & (Q(start_at__isnull=True) | Q(last_logical_at__gte=F("start_at")))
    found = Schedule.objects.filter(waits).exclude(over).select_related("job")
    names = ("job__name", "job__paused_at")
    return found.only(*(field.attname for field in Schedule._meta.concrete_fields), *names).order_by(
        F("next_at").asc(nulls_last=True), "pk"
    )


@router.get("/jobs/scheduled", response={200: list[answers.ScheduledJob], **answers.REFUSALS})
def scheduled_jobs(
    request: HttpRequest,
    limit: QueryEx[int, P(ge=1, le=1000)] = 100,
    offset: QueryEx[int, P(ge=0, le=1_000_000)] = 0,
) -> Any:
    """Jobs that their schedule will start, the next one first; `last_run` is the logical date of the latest fire."""
    return [_scheduled(schedule) for schedule in to_come()[offset : offset + limit]]


@router.post(
    "/schedules/preview",
    response={200: answers.PreviewedSchedule, **answers.REFUSALS},
    openapi_extra=bodies.described(bodies.PreviewFields),
)
def preview_schedule(request: HttpRequest) -> Any:
    """The next fires that a schedule would have, and the schedule in words. Nothing is stored."""
    found = actions.preview(json_object(request), now=timezone.now())
    return {"fires": [fire.isoformat() for fire in found.fires], "description": found.description}


def _scheduled(schedule: Schedule) -> dict[str, Any]:
    zone = zone_to_show(schedule.zone)
    return {
        "job_id": schedule.job_id,
        "name": schedule.job.name,
        "next_run": iso(schedule.next_at, zone),
        "schedule": words_of(schedule),
        "last_run": iso(schedule.last_logical_at, zone),
        "run_count": schedule.run_count,
        "missed_runs": schedule.missed_count,
        "skipped_runs": schedule.skipped_count,
        "paused": schedule.job.paused,
        "fault": schedule.fault,
    }
