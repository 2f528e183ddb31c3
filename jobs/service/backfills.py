"""Backfills go on: the next dates of each, when earlier ones have ended."""

from __future__ import annotations

from datetime import datetime

from jobs.store import backfills


class Backfills:
    """One per engine. Costs no query while none is running: their beginning is told by the feed."""

    def __init__(self, actor: str) -> None:
        self._actor = actor
        self._any = True  # until it has been looked

    def told(self) -> None:
        """One was made or has ended."""
        self._any = True

    def advance(self, now: datetime) -> int:
        """One pass over all that run; returns how many dates were made, which the engine has yet to be told of."""
        if not self._any:
            return 0
        made = sum(backfills.advance(backfill_id, now, self._actor) for backfill_id in backfills.running())
        self._any = bool(backfills.running())
        return made
