"""Backfills go on: the next dates of each, when earlier ones have ended."""

from __future__ import annotations

from datetime import datetime

from jobs.store import backfills


class Backfills:
    """One per engine. Costs no query while none is running: their beginning is told by the feed."""

    def __init__(self, actor: str) -> None:
        self._actor = actor
        self._any = True  # until it has been looked
        self._live: dict[int, backfills.Live] = {}

    def told(self) -> None:
        """One was made or has ended."""
        self._any = True

    def advance(self, now: datetime) -> int:
        """One pass over all that run; returns how many dates were made, which the engine has yet to be told of."""
        if not self._any:
            return 0
        made = 0
        for backfill_id in backfills.running():
            before = self._live.get(backfill_id, backfills.Live())
            more, self._live[backfill_id] = backfills.advance(backfill_id, now, self._actor, before)
            made += more
        running = set(backfills.running())
        self._live = {backfill_id: live for backfill_id, live in self._live.items() if backfill_id in running}
        self._any = bool(running)
        return made
