"""One action on many instances, in the background: one by one, each in a transaction of its own.

A thread of the web process works through it in portions, and rests between them. The engine goes first wherever both
wait to write (jobs.sqlite.lock), so it waits for one instance at most. When the process ends before it is through, the
operation is shown as interrupted, and goes on when somebody asks for it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, connection, transaction
from django.db.models import Count, F, Max
from django.utils import timezone

from dashboard.filters import InstanceFilter, filter_in
from dashboard.models import SILENT, BulkOperation
from dashboard.presentation.matching import parts_matching
from jobs import actions
from jobs.actions import ActionError
from jobs.core.states import LIVE, TERMINAL, Status
from jobs.models import Instance

PORTION = 50
REST_SECONDS = 0.05
MOST_IDS = 1000
KEPT = timedelta(days=30)  # after its end; the events of the instances tell longer
ACTS_ON = {"cancel": LIVE, "retry": TERMINAL}

log = logging.getLogger(__name__)


class NothingToDo(ActionError):
    """None of the chosen instances can be acted upon."""


def fitting(wanted: InstanceFilter, action: str) -> InstanceFilter:
    """The filter without the statuses in which there is nothing to do; with a problem if none is left."""
    statuses = tuple(s for s in Status if s in ACTS_ON[action] and (not wanted.statuses or s in wanted.statuses))
    problems = wanted.problems if statuses else wanted.problems | {"status": "None of these statuses can be acted on."}
    return replace(wanted, statuses=statuses, problems=problems)


def counts_matching(wanted: InstanceFilter, action: str, up_to: int, now: datetime) -> dict[Status, int]:
    """How many there are to act upon, by status; exact."""
    found: dict[Status, int] = {}
    for rows in parts_matching(fitting(wanted, action), now):
        for status, count in rows.filter(pk__lte=up_to).values_list("status").annotate(Count("pk")).order_by():
            found[Status(status)] = found.get(Status(status), 0) + count
    return found


def counts_chosen(ids: list[int], action: str) -> dict[Status, int]:
    rows = Instance.objects.filter(pk__in=ids, status__in=ACTS_ON[action])
    return {Status(status): count for status, count in rows.values_list("status").annotate(Count("pk")).order_by()}


def newest_id() -> int:
    return Instance.objects.aggregate(newest=Max("pk"))["newest"] or 0


def begin(
    action: str, *, actor: str, now: datetime, ids: list[int] | None = None, query: str = "", up_to: int = 0
) -> BulkOperation:
    """Stored, not started. Either `ids`, or all that `query` matches up to the id `up_to`. Raises NothingToDo."""
    wanted = filter_in(query)
    counts = counts_chosen(ids, action) if ids is not None else counts_matching(wanted, action, up_to, now)
    if not counts:
        raise NothingToDo(f"There is nothing to {action} any more; look at the list again.")
    BulkOperation.objects.filter(ended_at__lt=now - KEPT).delete()
    return BulkOperation.objects.create(
        action=action,
        actor=actor,
        query=query,
        ids=None if ids is None else sorted(set(ids)),
        up_to=up_to if ids is None else max(ids),
        total=sum(counts.values()),
        created_at=now,
        seen_at=now,
    )


def start(operation_id: int) -> None:
    """Work through it on a thread of its own."""
    threading.Thread(target=_run, args=(operation_id,), name=f"bulk-{operation_id}", daemon=True).start()


def claim_silent(operation_id: int, now: datetime) -> bool:
    """Whether the caller may go on with an interrupted one: of two that ask, one."""
    silent = BulkOperation.objects.filter(pk=operation_id, ended_at=None, seen_at__lt=now - SILENT)
    return bool(silent.update(seen_at=now, stop_asked_at=None))


def ask_to_stop(operation_id: int, now: datetime) -> None:
    """It ends after the instance that it is at. One that is silent ends at once: nobody would hear it."""
    unended = BulkOperation.objects.filter(pk=operation_id, ended_at=None)
    unended.update(stop_asked_at=now)
    unended.filter(seen_at__lt=now - SILENT).update(ended_at=now)


def work(operation_id: int, *, clock: Callable[[], datetime], rest: Callable[[], object]) -> None:
    """Portion after portion until it is through, or told to stop, or another thread works on it."""
    while portion(operation_id, clock):
        rest()


def portion(operation_id: int, clock: Callable[[], datetime]) -> bool:
    """One portion. Returns whether there is more to do."""
    operation = BulkOperation.objects.get(pk=operation_id)
    ids = [] if operation.stop_asked_at else _next_ids(operation)
    for instance_id in ids:
        if not _one(operation, instance_id, clock()):
            return False
    if not ids:
        BulkOperation.objects.filter(pk=operation_id, ended_at=None).update(ended_at=clock())
    return bool(ids)


def _next_ids(operation: BulkOperation) -> list[int]:
    if operation.ids is not None:
        return [pk for pk in operation.ids if pk > operation.cursor][:PORTION]
    wanted = fitting(filter_in(operation.query), operation.action)
    found = [
        pk
        for rows in parts_matching(wanted, operation.created_at)
        for pk in rows.filter(pk__gt=operation.cursor, pk__lte=operation.up_to)
        .order_by("pk")
        .values_list("pk", flat=True)[:PORTION]
    ]
    return sorted(found)[:PORTION]


@transaction.atomic
def _one(operation: BulkOperation, instance_id: int, now: datetime) -> bool:
    """The action and the note that it was done, both or none. False: somebody else works on this operation."""
    mine = BulkOperation.objects.filter(pk=operation.pk, cursor=operation.cursor, ended_at=None)
    if not mine.update(cursor=instance_id, seen_at=now):
        return False
    operation.cursor = instance_id
    refusal, is_done = _act(operation.action, instance_id, operation.actor, now)
    count: dict[str, Any] = {"done": F("done") + 1} if is_done else {"unchanged": F("unchanged") + 1}
    if refusal:
        count["refusal"] = refusal
    BulkOperation.objects.filter(pk=operation.pk).update(**count)
    return True


def _act(action: str, instance_id: int, actor: str, now: datetime) -> tuple[str, bool]:
    """Why not, and whether anything was done."""
    try:
        if action == "cancel":
            return "", actions.cancel_instance(instance_id, actor=actor, now=now).answer != "ended"
        return "", actions.retry_instance(instance_id, actor=actor, now=now).is_new
    except ActionError as refused:
        return refused.sentence, False


def _run(operation_id: int) -> None:
    rest = threading.Event()
    try:
        work(operation_id, clock=timezone.now, rest=lambda: rest.wait(REST_SECONDS))
    except DatabaseError as error:
        log.error("Bulk operation %s was interrupted: %s; continue it on its page.", operation_id, error)
    except BulkOperation.DoesNotExist:
        log.warning("Bulk operation %s was deleted while it was worked on.", operation_id)
    finally:
        connection.close()
