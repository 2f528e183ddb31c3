"""The Store port on the ORM: all decisions of one engine step, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from django.db import transaction

from jobs.core.decisions import (
    Begin,
    Decision,
    Dismiss,
    Finish,
    Fire,
    Flag,
    Pause,
    Queue,
    Rearm,
    Start,
    Wait,
    Withdraw,
)
from jobs.core.port import Committed
from jobs.core.records import Outcome
from jobs.store import attempts, dismissals, events, fires, limits, locks, queueing

T = TypeVar("T", bound=Decision)


@dataclass(frozen=True, slots=True)
class OrmStore:
    """Commits for one node. Implements `jobs.core.port.Store`."""

    node_id: int
    node_name: str

    @property
    def actor(self) -> str:
        """Who the events of this node's engine say did it. No user can be called so: their names have no colon."""
        return f"node:{self.node_name}"

    def commit(self, decisions: Sequence[Decision], at: datetime) -> Committed:
        """Commit in an order in which each move finds what it rests on; what is told last is the feed.

        Ends before starts makes a finish durable with, never after, what its cores let start. Raises django.db.Error
        with nothing written.
        """
        with transaction.atomic():
            limits.take_turn(_of(decisions, Start))
            pauses = dismissals.with_fellows(_of(decisions, Pause))
            locks.take([*decisions, *pauses])
            ended, told = attempts.finish(_of(decisions, Finish), at, self.actor)
            told += dismissals.pause(_of(pauses, Pause), at)
            undismissed, dismissed = dismissals.dismiss(_of(decisions, Dismiss), at, self.actor)
            told += dismissed + dismissals.withdraw(_of(decisions, Withdraw), at, self.actor)
            fired = fires.fire(_of(decisions, Fire), at, self.actor)
            unarmed = fires.rearm(_of(decisions, Rearm))
            told += fired.events + fires.flag(_of(decisions, Flag), at, self.actor)
            unqueued, queued = queueing.queue(_of(decisions, Queue), at, self.actor)
            refused = ended | undismissed | unqueued
            # As one that another node was first to queue: its engine forgets it, and it would run here for ever.
            starts = [start for start in _of(decisions, Start) if start.instance_id not in refused]
            unstarted, started = attempts.start(starts, at, self.node_id, self.actor)
            told += queued + started
            told += attempts.begin(_of(decisions, Begin), at, self.actor)
            told += queueing.wait(_of(decisions, Wait), at, self.actor)
            events.record(told)
        return Committed(
            refused_instances=frozenset(refused | unstarted),
            refused_schedules=frozenset(fired.refused | unarmed),
            born=tuple(fired.born),
        )

    def set_aside(self, decision: Decision, fault: str, at: datetime) -> None:
        """See `jobs.core.port.Store`."""
        match decision:
            case Start() | Queue() | Dismiss():
                with transaction.atomic():
                    events.record(queueing.fail([decision], fault, at, self.actor))
            case Finish():
                bare = Outcome(decision.outcome.kind, at, error=fault)
                self.commit([replace(decision, outcome=bare, usual_seconds=None)], at)
            case Fire():
                self.commit([Flag(decision.schedule_id, decision.job_id, fault)], at)


def _of(decisions: Sequence[Decision], kind: type[T]) -> list[T]:
    """In the order of their rows: two nodes that lock the same rows in different orders would deadlock."""
    return sorted((decision for decision in decisions if type(decision) is kind), key=_row)


def _row(decision: Decision) -> int:
    match decision:
        case Fire() | Rearm() | Flag():
            return decision.schedule_id
        case Pause():
            return decision.job_id
        case _:
            return decision.instance_id
