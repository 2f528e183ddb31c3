"""One action on many jobs or instances, in the background: one by one, each in a transaction of its own.

A thread of the web process works through it in portions, and rests between them. The engine goes first wherever both
wait to write (jobs.sqlite.lock), so it waits for one of them at most. When the process ends before it is through, the
operation is shown as interrupted, and goes on when somebody asks for it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, connection, transaction
from django.db.models import Count, F, Max, QuerySet
from django.utils import timezone

from dashboard.acts import ACTS, INSTANCE, JOB, Wish
from dashboard.filters import InstanceFilter, filter_in
from dashboard.jobsearch import search_of
from dashboard.models import SILENT, BulkOperation
from dashboard.presentation.job_list import matching
from dashboard.presentation.matching import counts_by_status, parts_matching
from jobs.actions import ActionError
from jobs.core.states import Status
from jobs.models import Instance, Job

PORTION = 50
REST_SECONDS = 0.05
MOST_IDS = 1000
KEPT = timedelta(days=30)  # after its end; the events of the instances tell longer

log = logging.getLogger(__name__)


class NothingToDo(ActionError):
    """None of the chosen ones can be acted upon."""


def fitting(wanted: InstanceFilter, action: str) -> InstanceFilter:
    """The filter without the statuses in which there is nothing to do; with a problem if none is left."""
    acts_on = ACTS[INSTANCE, action].statuses
    statuses = tuple(s for s in Status if s in acts_on and (not wanted.statuses or s in wanted.statuses))
    problems = wanted.problems if statuses else wanted.problems | {"status": "None of these statuses can be acted on."}
    return replace(wanted, statuses=statuses, problems=problems)


def counts_matching(wanted: InstanceFilter, action: str, up_to: int, now: datetime) -> dict[Status, int]:
    """How many there are to act upon, by status; exact."""
    return counts_by_status(fitting(wanted, action), up_to, now)


def counts_chosen(ids: list[int], action: str) -> dict[Status, int]:
    rows = Instance.objects.filter(pk__in=ids, status__in=ACTS[INSTANCE, action].statuses)
    return {Status(status): count for status, count in rows.values_list("status").annotate(Count("pk")).order_by()}


def jobs_chosen(ids: list[int] | None, text: str, up_to: int) -> QuerySet[Job]:
    """The jobs `ids`, or without them all that the search `text` finds up to the id `up_to`."""
    if ids is not None:
        return Job.objects.filter(pk__in=ids)
    return matching(search_of(text)).filter(pk__lte=up_to)


def newest_id(subject: str = INSTANCE) -> int:
    model: type[Job | Instance] = Job if subject == JOB else Instance
    return model.objects.aggregate(newest=Max("pk"))["newest"] or 0


def begin(
    action: str, *, actor: str, now: datetime, ids: list[int] | None = None, query: str = "", up_to: int = 0
) -> BulkOperation:
    """On instances; stored, not started. Either `ids`, or all that `query` matches up to the id `up_to`.

    Raises NothingToDo.
    """
    wanted = filter_in(query)
    counts = counts_chosen(ids, action) if ids is not None else counts_matching(wanted, action, up_to, now)
    wish = {"action": action, "actor": actor, "query": query}
    return _stored(INSTANCE, sum(counts.values()), ids, up_to, now, wish)


def begin_on_jobs(
    action: str,
    *,
    actor: str,
    now: datetime,
    ids: list[int] | None = None,
    text: str = "",
    up_to: int = 0,
    detail: str = "",
) -> BulkOperation:
    """On jobs; stored, not started. Either `ids`, or all that the search `text` finds up to the id `up_to`.

    Raises NothingToDo.
    """
    wish = {"action": action, "actor": actor, "query": text, "detail": detail}
    return _stored(JOB, jobs_chosen(ids, text, up_to).count(), ids, up_to, now, wish)


def start(operation_id: int) -> None:
    """Work through it on a thread of its own."""
    threading.Thread(target=_run, args=(operation_id,), name=f"bulk-{operation_id}", daemon=True).start()


def claim_silent(operation_id: int, now: datetime) -> bool:
    """Whether the caller may go on with an interrupted one: of two that ask, one."""
    silent = BulkOperation.objects.filter(pk=operation_id, ended_at=None, seen_at__lt=now - SILENT)
    return bool(silent.update(seen_at=now, stop_asked_at=None))


def ask_to_stop(operation_id: int, now: datetime) -> None:
    """It ends after the one that it is at. One that is silent ends at once: nobody would hear it."""
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
    for one in ids:
        if not _one(operation, one, clock()):
            return False
    if not ids:
        BulkOperation.objects.filter(pk=operation_id, ended_at=None).update(ended_at=clock())
    return bool(ids)


def _stored(
    subject: str, total: int, ids: list[int] | None, up_to: int, now: datetime, wish: dict[str, str]
) -> BulkOperation:
    if not total:
        raise NothingToDo(f"There is nothing to {wish['action']} any more; look at the list again.")
    BulkOperation.objects.filter(ended_at__lt=now - KEPT).delete()
    return BulkOperation.objects.create(
        subject=subject,
        ids=None if ids is None else sorted(set(ids)),
        up_to=up_to if ids is None else max(ids),
        total=total,
        created_at=now,
        seen_at=now,
        **wish,
    )


def _next_ids(operation: BulkOperation) -> list[int]:
    if operation.ids is not None:
        return [pk for pk in operation.ids if pk > operation.cursor][:PORTION]
    parts: list[QuerySet[Any]] = (
        [jobs_chosen(None, operation.query, operation.up_to)]
        if operation.subject == JOB
        else list(parts_matching(fitting(filter_in(operation.query), operation.action), operation.created_at))
    )
    found = [
        pk
        for rows in parts
        for pk in rows.filter(pk__gt=operation.cursor, pk__lte=operation.up_to)
        .order_by("pk")
        .values_list("pk", flat=True)[:PORTION]
    ]
    return sorted(found)[:PORTION]


def _one(operation: BulkOperation, one: int, now: datetime) -> bool:
    """The action and the note that it was done, both or none. False: somebody else works on this operation.

    What goes in portions of its own is noted after it was done: done once more it changes nothing.
    """
    if ACTS[operation.subject, operation.action].is_whole:
        with transaction.atomic():
            return _claimed(operation, one, now) and _noted(operation, *_act(operation, one, now))
    if not BulkOperation.objects.filter(pk=operation.pk, cursor=operation.cursor, ended_at=None).update(seen_at=now):
        return False
    answer = _act(operation, one, now)
    with transaction.atomic():
        return _claimed(operation, one, now) and _noted(operation, *answer)


def _claimed(operation: BulkOperation, one: int, now: datetime) -> bool:
    mine = BulkOperation.objects.filter(pk=operation.pk, cursor=operation.cursor, ended_at=None)
    if not mine.update(cursor=one, seen_at=now):
        return False
    operation.cursor = one
    return True


def _noted(operation: BulkOperation, refusal: str, is_done: bool) -> bool:
    count: dict[str, Any] = {"done": F("done") + 1} if is_done else {"unchanged": F("unchanged") + 1}
    if refusal:
        count["refusal"] = refusal
    BulkOperation.objects.filter(pk=operation.pk).update(**count)
    return True


def _act(operation: BulkOperation, one: int, now: datetime) -> tuple[str, bool]:
    """Why not, and whether anything was done."""
    try:
        wish = Wish(operation.detail, lambda: _chosen(operation))
        return "", ACTS[operation.subject, operation.action].one(one, operation.actor, now, wish)
    except ActionError as refused:
        return refused.sentence, False


def _chosen(operation: BulkOperation) -> Collection[int]:
    """All jobs of an operation on jobs, those that are done, too."""
    found = jobs_chosen(operation.ids, operation.query, operation.up_to)
    return set(found.values_list("pk", flat=True))


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
