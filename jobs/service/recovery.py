"""At the start: what became of the attempts that this node had in flight."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from jobs import models
from jobs.core.engine import Engine
from jobs.core.inputs import Ended, Input, JobChanged
from jobs.core.known import Run
from jobs.core.records import Allocation, Outcome
from jobs.core.states import AttemptStatus, OutcomeKind
from jobs.execution.local import AttemptRef, LocalExecutor
from jobs.execution.recovery import Adopted, Finished, NeverRan
from jobs.store import read

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Recovered:
    """`launch`: tokens of attempts that never ran and are started now. `inputs`: what the first pass is told."""

    launch: list[str] = field(default_factory=list)
    stop: list[AttemptRef] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)


def recover(
    engine: Engine, executor: LocalExecutor, node_id: int, unsettled: dict[str, Outcome], now: Callable[[], datetime]
) -> Recovered:
    """Take every attempt of this node that the store has in flight back into the engine, with what it holds.

    `unsettled`: outcomes that were reported to this process and not committed, by token.
    """
    recovered = Recovered()
    rows = models.Attempt.objects.filter(node_id=node_id).exclude(status=AttemptStatus.ENDED).order_by("pk")
    for attempt in rows.select_related("instance__job"):
        job = read.job(attempt.instance.job)
        engine.step(now(), [JobChanged(job)])
        allocation = Allocation(tuple(attempt.cores), attempt.virtual_cores, attempt.memory_mb)
        run = Run(attempt.token, attempt.number, allocation, attempt.started_at or attempt.created_at)
        engine.adopt(read.instance(attempt.instance), run)
        if attempt.token in unsettled:
            recovered.inputs.append(Ended(attempt.instance_id, attempt.token, unsettled[attempt.token]))
        else:
            _ask(executor, attempt, recovered, now())
    return recovered


def _ask(executor: LocalExecutor, attempt: models.Attempt, recovered: Recovered, now: datetime) -> None:
    ref = AttemptRef(attempt.instance_id, attempt.number, attempt.token)
    wished_away = attempt.instance.cancel_requested_at is not None
    match executor.recover(ref):
        case NeverRan() if wished_away:
            cancelled = Outcome(OutcomeKind.CANCELLED, now, error="cancelled before it was started")
            recovered.inputs.append(Ended(attempt.instance_id, attempt.token, cancelled))
        case NeverRan():
            log.info("attempt %s of instance %s never ran: starting it", attempt.number, attempt.instance_id)
            recovered.launch.append(attempt.token)
        case Adopted():
            log.info("attempt %s of instance %s still runs: adopted", attempt.number, attempt.instance_id)
            if wished_away:
                recovered.stop.append(ref)
        case Finished(outcome):
            log.info("attempt %s of instance %s ended meanwhile: %s", attempt.number, attempt.instance_id, outcome.kind)
            recovered.inputs.append(Ended(attempt.instance_id, attempt.token, outcome))
