"""All decisions of one engine pass, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from django.db import transaction

from jobs.core.decisions import Begin, Decision, Finish, Fire, Flag, Queue, Start, Wait
from jobs.core.port import Refusals
from jobs.store import attempts, events, fires, queueing

T = TypeVar("T", bound=Decision)


def commit(decisions: Sequence[Decision], at: datetime, node_id: int, node_name: str) -> Refusals:
    """Commit in an order in which each move finds what it rests on: ends, fires, queueing, starts, reasons, events.

    Ends before starts makes a finish durable with, never after, what its cores let start. Returns what somebody
    else had moved first. Raises django.db.Error with nothing written.
    """
    with transaction.atomic():
        ended, end_events = attempts.finish(_of(decisions, Finish), at, node_name)
        unfired, unmade, fire_events = fires.fire(_of(decisions, Fire), at, node_name)
        flag_events = fires.flag(_of(decisions, Flag), at, node_name)
        unqueued, queue_events = queueing.queue(_of(decisions, Queue), at, node_name)
        unstarted, start_events = attempts.start(_of(decisions, Start), at, node_id, node_name)
        begin_events = attempts.begin(_of(decisions, Begin), at, node_name)
        wait_events = queueing.wait(_of(decisions, Wait), at, node_name)
        events.record(
            [*end_events, *fire_events, *flag_events, *queue_events, *start_events, *begin_events, *wait_events]
        )
    return Refusals(
        instances=frozenset(ended | unmade | unqueued | unstarted),
        schedules=frozenset(unfired),
    )


def _of(decisions: Sequence[Decision], kind: type[T]) -> list[T]:
    return [decision for decision in decisions if type(decision) is kind]
