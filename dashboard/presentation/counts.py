"""Counts that cost no more when there are a million."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

COUNTED_UP_TO = 1000


@dataclass(frozen=True, slots=True)
class Count:
    """`number` is exact up to COUNTED_UP_TO; above that it only says "more"."""

    number: int

    def __str__(self) -> str:
        return f"{COUNTED_UP_TO:,}+" if self.number > COUNTED_UP_TO else f"{self.number:,}"

    def __bool__(self) -> bool:
        return self.number > 0

    def beyond(self, shown: int) -> str:
        """How many are not shown, in words; empty when all are."""
        if self.number > COUNTED_UP_TO:
            return f"over {COUNTED_UP_TO - shown:,}"
        return f"{self.number - shown:,}" if self.number > shown else ""


def counted(*parts: QuerySet[Any]) -> Count:
    """Of all parts together; one query for each, which stops counting where the page would only say "more"."""
    return Count(sum(rows.order_by().values("pk")[: COUNTED_UP_TO + 1].count() for rows in parts))
