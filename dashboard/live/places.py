"""Where the log of an attempt lies."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from dashboard.live.logs import LogPlace
from jobs.execution import prepare
from jobs.execution.launch import AttemptRef
from jobs.models import Attempt


def latest_place(instance_id: int) -> LogPlace | None:
    """That of the latest attempt; None before the first. One query."""
    return _place(instance_id, Attempt.objects.order_by("-number"))


def place_of(instance_id: int, number: int) -> LogPlace | None:
    """None if the instance has no such attempt. One query."""
    return _place(instance_id, Attempt.objects.filter(number=number))


def path_of(instance_id: int, number: int, token: str) -> Path:
    """The run directory."""
    return prepare.path_of(settings.DATA_DIR / "runs", AttemptRef(instance_id, number, token))


def _place(instance_id: int, attempts: object) -> LogPlace | None:
    found = attempts.filter(instance_id=instance_id).values_list("number", "token").first()  # type: ignore[attr-defined]  # a query
    return LogPlace(found[0], path_of(instance_id, *found)) if found else None
