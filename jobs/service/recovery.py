"""At the start: what became of the attempts that this node had in flight."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from jobs import models
from jobs.core.engine import Engine
from jobs.core.inputs import Abandoned, Began, Ended, Input
from jobs.core.known import Run
from jobs.core.records import Allocation, Outcome
from jobs.core.states import AttemptStatus, OutcomeKind, Status
from jobs.execution.claim import ForeignHolderError
from jobs.execution.launch import AttemptRef, RecoveryKind
from jobs.execution.local import LocalExecutor
from jobs.store import read

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Recovered:
    """What the first pass is told; then the tokens of attempts that never ran, to be launched; then whom to stop.
    `unseen`: tokens of those of which could not be found out what became of them, with what was in the way.
    """

    inputs: list[Input] = field(default_factory=list)
    launch: list[str] = field(default_factory=list)
    stop: list[AttemptRef] = field(default_factory=list)
    adopted: list[str] = field(default_factory=list)
    unseen: dict[str, str] = field(default_factory=dict)


def recover(
    engine: Engine,
    executor: LocalExecutor,
    node_id: int,
    now: Callable[[], datetime],
    *,
    in_hand: Collection[str],
    unsettled: Mapping[str, Outcome],
    abandoned: Collection[str] = (),
) -> Recovered:
    """Take every attempt of this node that the store has in flight back into the engine, with what it holds.

    `in_hand`: tokens that this process gave to the executor, which reports on them anyway. `unsettled`: outcomes that
    it reported and that are not committed. `abandoned`: tokens of those of which a thread still runs.
    """
    recovered = Recovered()
    rows = models.Attempt.objects.filter(node_id=node_id).exclude(status=AttemptStatus.ENDED).order_by("pk")
    for attempt in rows.select_related("instance__job"):
        engine.adopt(read.job(attempt.instance.job), read.instance(attempt.instance), _run(attempt))
        if attempt.token in unsettled:
            told = Abandoned if attempt.token in abandoned else Ended
            recovered.inputs.append(told(attempt.instance_id, attempt.token, unsettled[attempt.token]))
        elif attempt.token not in in_hand:
            _ask(executor, attempt, recovered, now())
    if abandoned:
        _hold(engine, abandoned)
    return recovered


def ask_again(executor: LocalExecutor, unseen: Mapping[str, str], now: Callable[[], datetime]) -> Recovered:
    """The same of attempts that could not be seen: the engine has taken them back already."""
    recovered = Recovered()
    rows = models.Attempt.objects.filter(token__in=unseen).exclude(status=AttemptStatus.ENDED).order_by("pk")
    for attempt in rows.select_related("instance__job"):
        _ask(executor, attempt, recovered, now(), said=unseen.get(attempt.token))
    return recovered


def _run(attempt: models.Attempt) -> Run:
    allocation = Allocation(tuple(attempt.cores), attempt.virtual_cores, attempt.memory_mb)
    return Run(attempt.token, attempt.number, allocation, attempt.started_at or attempt.created_at)


def _hold(engine: Engine, tokens: Collection[str]) -> None:
    """Their instances have ended, but what they hold is not free, and their jobs are not either."""
    rows = models.Attempt.objects.filter(token__in=tokens, status=AttemptStatus.ENDED)
    for attempt in rows.select_related("instance__job"):
        instance = replace(read.instance(attempt.instance), status=Status.RUNNING)
        engine.adopt(read.job(attempt.instance.job), instance, replace(_run(attempt), abandoned=True))


def _ask(
    executor: LocalExecutor, attempt: models.Attempt, recovered: Recovered, now: datetime, said: str | None = None
) -> None:
    """`said`: what was in the way when it was asked before; the same is not said again."""
    ref = AttemptRef(attempt.instance_id, attempt.number, attempt.token)
    wished_away = attempt.instance.cancel_requested_at is not None
    try:
        found = executor.recover(ref)
    except Exception as error:  # one attempt must never stop the node
        # What cannot be seen may still run: it keeps its cores, and is asked for again.
        recovered.unseen[attempt.token] = str(error)
        if str(error) != said:
            told = "attempt %s of instance %s is left as it is: %s"
            is_known = isinstance(error, (ForeignHolderError, OSError))
            log.error(told, attempt.number, attempt.instance_id, error, exc_info=not is_known)
        return
    log.info("attempt %s of instance %s: %s", attempt.number, attempt.instance_id, found.kind)
    if found.outcome is not None:
        recovered.inputs.append(Ended(attempt.instance_id, attempt.token, found.outcome))
    elif found.kind is RecoveryKind.ADOPTED:
        recovered.adopted.append(attempt.token)
        if found.started_at is not None:
            recovered.inputs.append(Began(attempt.instance_id, attempt.token, found.started_at))
        recovered.stop += [ref] if wished_away else []
    elif wished_away:
        cancelled = Outcome(OutcomeKind.CANCELLED, now, error="was cancelled before it was started")
        recovered.inputs.append(Ended(attempt.instance_id, attempt.token, cancelled))
    elif attempt.status == AttemptStatus.RUNNING:
        # It had begun, so starting it now would run it twice.
        lost = Outcome(OutcomeKind.LOST, now, error="was lost: its run directory was removed while it ran")
        recovered.inputs.append(Ended(attempt.instance_id, attempt.token, lost))
    else:
        recovered.launch.append(attempt.token)
