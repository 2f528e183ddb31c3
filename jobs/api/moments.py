"""Moments as the API writes them."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

UTC = ZoneInfo("UTC")


def iso(moment: datetime | None, zone: ZoneInfo = UTC) -> str | None:
    """ISO 8601 with offset, such as 2026-05-04T12:00:30+00:00."""
    return moment.astimezone(zone).isoformat() if moment else None
