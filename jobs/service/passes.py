"""One pass: step, commit, and a further step for what the commit brought forth, in one transaction."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import DataError, IntegrityError, transaction

from jobs.core.decisions import (
    Decision,
    Dismiss,
    Finish,
    Fire,
    Flag,
    Pause,
    Plan,
    Prepare,
    Rearm,
    Start,
    Stop,
    Unprepare,
)
from jobs.core.engine import Engine
from jobs.core.inputs import Input
from jobs.core.port import Committed, Store
from jobs.execution.launch import Launch
from jobs.service.launching import launches
from jobs.store.locks import once_more

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Passed:
    """What is durable now and has to be done, and what was refused and has to be looked at again."""

    starts: list[Start] = field(default_factory=list)
    stops: list[Stop] = field(default_factory=list)
    finishes: list[Finish] = field(default_factory=list)
    refused_instances: set[int] = field(default_factory=set)
    refused_schedules: set[int] = field(default_factory=set)
    preparations: list[Prepare | Unprepare] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    wake_at: datetime | None = None
    dismissed: list[Dismiss] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        """Whether anything did, by a run or while it waited."""
        return bool(self.dismissed or self.finishes)

    def add(self, plan: Plan, committed: Committed) -> None:
        refused = committed.refused_instances
        self.preparations += plan.preparations
        for decision in plan.decisions:
            match decision:
                case Start() if decision.instance_id not in refused:
                    self.starts.append(decision)
                case Finish():
                    self.finishes.append(decision)
                case Dismiss() if decision.instance_id not in refused:
                    self.dismissed.append(decision)
                case Stop():
                    self.stops.append(decision)
        self.refused_instances |= refused
        self.refused_schedules |= committed.refused_schedules


def run_pass(engine: Engine, store: Store, now: datetime, inputs: Iterable[Input], load: Mapping[int, float]) -> Passed:
    """Decide and make durable. Nothing of it has been done when this raises django.db.Error."""
    passed = Passed()
    plan = engine.step(now, inputs, load)
    if not any(not isinstance(decision, Stop) for decision in plan.decisions):
        passed.add(plan, Committed())
        passed.wake_at = plan.wake_at
        return passed
    with transaction.atomic():
        while True:
            committed = _commit(store, plan, now)
            passed.add(plan, committed)
            following = engine.settle(committed)
            if not following:
                break
            plan = engine.step(now, following, load)
        # Read with what was committed: after it, an edit could run another script than the one that was admitted.
        passed.launches = launches([start.token for start in passed.starts])
    passed.wake_at = engine.wake_at()
    return passed


def _commit(store: Store, plan: Plan, now: datetime) -> Committed:
    """The whole group; where the database refuses it, one by one, so that one bad row does not stop the others."""
    try:
        return _commit_all(store, plan.decisions, now)
    except (IntegrityError, DataError) as error:
        log.warning("a group of %d decisions was refused, trying them one by one: %s", len(plan.decisions), error)
    parts: list[Committed] = []
    refused: set[int] = set()
    for decision in plan.decisions:
        if isinstance(decision, Start) and decision.instance_id in refused:
            continue
        parts.append(_commit_one(store, decision, now))
        refused |= parts[-1].refused_instances
    return Committed(
        frozenset(refused),
        frozenset().union(*(part.refused_schedules for part in parts)),
        tuple(instance for part in parts for instance in part.born),
    )


@once_more
@transaction.atomic
def _commit_all(store: Store, decisions: Sequence[Decision], now: datetime) -> Committed:
    return store.commit(decisions, now)


def _commit_one(store: Store, decision: Decision, now: datetime) -> Committed:
    try:
        return _commit_all(store, [decision], now)
    except (IntegrityError, DataError) as error:
        log.exception("the database refused %r; it is set aside", decision)
        store.set_aside(decision, f"the database refused it: {str(error).strip()}", now)
        if isinstance(decision, Fire | Flag | Rearm):
            return Committed(refused_schedules=frozenset({decision.schedule_id}))
        if isinstance(decision, Pause):
            return Committed()
        return Committed(refused_instances=frozenset({decision.instance_id}))
