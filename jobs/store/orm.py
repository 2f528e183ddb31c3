"""The Store port on the ORM: all decisions of one engine step, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from django.db import transaction

from jobs.core.decisions import Begin, Decision, Finish, Fire, Flag, Queue, Start, Wait
from jobs.core.port import Committed
from jobs.store import attempts, events, fires, queueing

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
        """Commit in an order in which each move finds what it rests on: ends, fires, queueing, starts, reasons, events.

        Ends before starts makes a finish durable with, never after, what its cores let start. Raises django.db.Error
        with nothing written.
        """
        with transaction.atomic():
            ended, end_events = attempts.finish(_of(decisions, Finish), at, self.actor)
            unfired, born, fire_events = fires.fire(_of(decisions, Fire), at, self.actor)
            flag_events = fires.flag(_of(decisions, Flag), at, self.actor)
            unqueued, queue_events = queueing.queue(_of(decisions, Queue), at, self.actor)
            unstarted, start_events = attempts.start(_of(decisions, Start), at, self.node_id, self.actor)
            begin_events = attempts.begin(_of(decisions, Begin), at, self.actor)
            wait_events = queueing.wait(_of(decisions, Wait), at, self.actor)
            events.record(
                [*end_events, *fire_events, *flag_events, *queue_events, *start_events, *begin_events, *wait_events]
            )
        return Committed(
            refused_instances=frozenset(ended | unqueued | unstarted),
            refused_schedules=frozenset(unfired),
            born=tuple(born),
        )


def _of(decisions: Sequence[Decision], kind: type[T]) -> list[T]:
    return [decision for decision in decisions if type(decision) is kind]
