"""What is said of one that waits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class HoldView:
    """`predicted_start` None: nobody knows, and `unknown_because` says why."""

    code: str
    sentence: str
    predicted_start: datetime | None
    unknown_because: str = ""
