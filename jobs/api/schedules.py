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
from jobs.core.zones import tzdata_version
from jobs.models import Schedule

router = Router(tags=["schedules"])


def to_come() -> QuerySet[Schedule]:
    """Schedules that will fire, or would if their job were not paused or they had no fault; the next one first."""
    waits = Q(next_at__isnull=False) | Q(job__paused_at__isnull=False) | ~Q(fault="")
    over = Q(type=Schedule.Type.ONCE) & (Q(start_at__isnull=True) | Q(last_logical_at__gte=F("start_at")))
    found = Schedule.objects.filter(waits).exclude(over).select_related("job", "calendar")
    names = ("job__name", "job__paused_at", "calendar__name", "calendar__definition")
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
    """The next fires that a schedule would have, what becomes of them, and the schedule in words. Nothing is stored."""
    return previewed(actions.preview(json_object(request), now=timezone.now()))


def previewed(found: actions.Preview) -> dict[str, Any]:
    """Moments are in the schedule's zone. Only fires with something to say about them are in `marks`."""
    caught_up = found.caught_up
    return {
        "description": found.description,
        "fires": [fire.at.isoformat() for fire in found.coming],
        "marks": [{"at": fire.at.isoformat(), "says": list(fire.marks)} for fire in found.coming if fire.marks],
        "left_out": [
            {"at": gone.at.isoformat(), "count": gone.count, "code": gone.code, "says": gone.says}
            for gone in found.left_out
        ],
        "starts": [fire.starts_at.isoformat() for fire in found.coming if fire.starts_at],
        "follows": found.follows,
        "at_once": [at.isoformat() for at in caught_up.at_once] if caught_up else None,
        "missed": caught_up.missed if caught_up else None,
        "tzdata_version": tzdata_version(),
    }


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
