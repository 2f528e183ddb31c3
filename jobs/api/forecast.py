"""What is to come, simulated; and what would come of a change."""

# ruff: noqa: ARG001 - Ninja hands the request to every operation

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import P, QueryEx, Router

from jobs.actions.forecasts import foretell, foretell_change
from jobs.api import answers
from jobs.api.strict import json_object
from jobs.core.present import GUESS_SECONDS

router = Router(tags=["forecast"])

WHAT_IF = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["job"],
                    "properties": {
                        "job": {"type": "string", "description": "Of a job that there is, or of a new one."},
                        "at": {"type": "string", "description": 'Daily at this time, such as "02:00".'},
                        "schedule_type": {"type": "string"},
                        "schedule_expression": {"type": "string"},
                        "start_date": {"type": "string"},
                        "end_date": {"type": "string"},
                        "timezone": {"type": "string"},
                        "cores": {"type": "integer"},
                        "memory_mb": {"type": "integer"},
                        "duration_seconds": {"type": "number"},
                        "days": {"type": "number", "default": 7},
                        "guess_seconds": {"type": "number", "default": GUESS_SECONDS},
                    },
                }
            }
        },
    }
}


@router.get("/forecast", response={200: dict[str, Any], **answers.REFUSALS})
def get_forecast(
    request: HttpRequest,
    days: QueryEx[float, P(gt=0, le=31)] = 7,
    guess_seconds: QueryEx[float, P(gt=0, le=86_400)] = GUESS_SECONDS,
) -> Any:
    """Fires, starts, waits, skips, core use and warnings of the next days, if every run succeeds. Stores nothing.

    It is computed for a few seconds at most. Where that was too little, `cut` is true, `cut_because` says so in a
    sentence, and everything is true up to `reached`.
    """
    return foretell(days=days, guess_seconds=guess_seconds, now=timezone.now())


@router.post("/forecast/what-if", response={200: dict[str, Any], **answers.REFUSALS}, openapi_extra=WHAT_IF)
def what_if(request: HttpRequest) -> Any:
    """What would wait longer, be skipped and be warned of, if a job were other than it is. Stores nothing.

    Both are simulated up to the same moment, `reached`; see `GET forecast` for `cut` and `cut_because`.
    """
    return foretell_change(json_object(request), now=timezone.now())
