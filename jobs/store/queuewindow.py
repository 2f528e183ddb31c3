"""The loaded part of the queue: its front, and more of it where the front waits for something else than its turn.

A thousand instances that wait for their own job, or for a limit, must not hide those behind them. So the window goes on
past them, a portion a turn: memory holds the first of each line that is stuck, and a turn costs by the portion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import QuerySet

from jobs import models
from jobs.core.engine import Engine
from jobs.core.known import Line
from jobs.core.states import Status

WIDTH = 5_000  # instances that are loaded at first, and half as many startable ones are kept loaded
OF_A_LINE = 100  # so many are loaded of a line before it is passed over
PORTION = 2_000  # places that are looked at in one turn

Place = tuple[int, int]


@dataclass(slots=True)
class QueueWindow:
    """`ends_at`: what lies behind it is not loaded; None: there is nothing behind it.

    `passed_over`: the lines of which something before that is not loaded either, each with its first place that may not
    be. `taken`: how many came since the window was last known to fit.
    """

    ends_at: Place | None = None
    passed_over: dict[Line, Place] = field(default_factory=dict)
    taken: int = 0

    def load(self) -> list[models.Instance]:
        """The front of the queue."""
        rows = list(startable()[: WIDTH + 1])
        if len(rows) > WIDTH:
            rows.pop()
            self.ends_at = _place(rows[-1])
        self.taken = len(rows)
        return rows

    def of_jobs(self, job_ids: Collection[int]) -> list[models.Instance]:
        """What waits of these jobs: while one was paused, its instances were not loaded."""
        rows = list(startable().filter(job_id__in=job_ids)[: WIDTH + 1]) if job_ids else []
        if len(rows) > WIDTH:
            rest = _place(rows.pop())
            for line in ((job_id, serial) for job_id in job_ids for serial in (False, True)):
                self.passed_over[line] = min(rest, self.passed_over.get(line, rest))
        return rows

    def takes(self, row: models.Instance) -> bool:
        """Whether the engine is told of this queued instance. One that has run before it may know from another node."""
        place = _place(row)
        is_behind = self.ends_at is not None and place > self.ends_at
        if not row.attempt_count and (is_behind or place >= self.passed_over.get((row.job_id, row.serial), _LAST)):
            return False
        self.taken += 1
        if self.taken >= 2 * WIDTH and self.ends_at is None:
            self.ends_at = place
        return True

    def is_short(self, engine: Engine) -> bool:
        """Whether somebody may be hidden who could start."""
        startable_now = engine.starts.startable
        few_startable = startable_now is not None and startable_now < WIDTH // 2
        return (self.ends_at is not None and few_startable) or bool(self._low(engine))

    def more(self, engine: Engine, now: datetime) -> list[models.Instance]:
        """The next portion where the window is short: what is not loaded yet of it, and is to be."""
        if low := self._low(engine):
            ids = list(self._refill(min(low), engine))
        elif self.ends_at is not None and self.is_short(engine):
            ids = list(self._go_on(self.ends_at, engine, now))
        else:
            return []
        return list(startable().filter(pk__in=ids)) if ids else []

    def _low(self, engine: Engine) -> list[Place]:
        """Where the rest begins of those lines that were passed over and of which little is left."""
        return [at for line, at in self.passed_over.items() if engine.known.queued_in(line) < OF_A_LINE // 2]

    def _go_on(self, after: Place, engine: Engine, now: datetime) -> Iterator[int]:
        """Behind the window: all but what is stuck and of which enough is loaded."""
        portion = _portion((after[0], after[1] + 1))
        counts = _Counts(engine.known.queued_in)
        for place, line in portion:
            if place[1] in engine.known.instances or line in self.passed_over:
                continue
            if counts[line] >= OF_A_LINE and engine.starts.is_stuck(line, now):
                self.passed_over[line] = place
                continue
            counts[line] += 1
            yield place[1]
        self.ends_at = portion[-1][0] if len(portion) == PORTION else None
        self.taken = 0

    def _refill(self, start: Place, engine: Engine) -> Iterator[int]:
        """Of the lines that were passed over from there on, what they have room for."""
        portion = _portion(start)
        counts = _Counts(engine.known.queued_in)
        lines = {line for line, at in self.passed_over.items() if at >= start}
        for place, line in portion:
            if line not in lines or place < self.passed_over[line] or place[1] in engine.known.instances:
                continue
            if counts[line] < OF_A_LINE:
                counts[line] += 1
                yield place[1]
            else:
                self.passed_over[line] = place
                lines.discard(line)
        for line in lines:
            if len(portion) < PORTION:
                del self.passed_over[line]
            else:
                (key, instance_id), _ = portion[-1]
                self.passed_over[line] = max(self.passed_over[line], (key, instance_id + 1))


def startable() -> QuerySet[models.Instance]:
    """The queue in its order, without those of paused jobs: a front of them would hide everybody behind it."""
    rows = models.Instance.objects.filter(status=Status.QUEUED, job__paused_at__isnull=True)
    return rows.order_by("order_key", "id")


_LAST: Place = (2**63, 0)


class _Counts(Counter[Line]):
    """How many are loaded of each line, asked for once."""

    def __init__(self, ask: Callable[[Line], int]) -> None:
        super().__init__()
        self._ask = ask

    def __missing__(self, line: Line) -> int:
        self[line] = self._ask(line)
        return self[line]


def _portion(start: Place) -> list[tuple[Place, Line]]:
    rows = startable().filter(order_key__gte=start[0]).exclude(order_key=start[0], id__lt=start[1])
    found = rows.values_list("order_key", "id", "job_id", "serial")[:PORTION]
    return [((key or 0, pk), (job_id, serial)) for key, pk, job_id, serial in found]


def _place(row: models.Instance) -> Place:
    return (row.order_key or 0, row.pk)
