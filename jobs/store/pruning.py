"""Removing what is kept no longer, a portion per transaction, so that no start waits for it.

Each portion is looked for outside of a transaction and judged again within it: what lives, what somebody still waits
for and what a backfill counts stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from jobs.core.retention import FOR_EVER, MOST_FAILURES, SUCCEEDED, Ended, Keep, Place, goes
from jobs.core.states import LIVE, TERMINAL, AttemptStatus
from jobs.models import Attempt, Backfill, Dependency, Event, Instance, Job, Node
from jobs.store.events import NewEvent, record
from jobs.store.locks import once_more
from jobs.store.removal import PORTION, remove_ended

LOOKED_AT = 2000  # in one query


def keeps(site: Keep) -> Iterator[tuple[int, Keep]]:
    """For each job by its id what is kept of it. Not for those that are being deleted, with all that they have."""
    own = ("keep_days", "keep_failed_days", "keep_instances")
    rows = Job.objects.filter(delete_requested_at=None).order_by("pk").values_list("pk", *own)
    return ((job_id, site.but(*given)) for job_id, *given in list(rows))


def place(job_id: int, keep: Keep) -> Place:
    runs = Instance.objects.filter(job_id=job_id).order_by("-pk").values_list("pk", flat=True)
    newest = runs.filter(ended_at__isnull=False).first() or 0
    beyond = _beyond(runs, keep.instances) if keep.instances != FOR_EVER else 0
    failures = runs.exclude(status__in=SUCCEEDED).filter(status__in=TERMINAL)
    return Place(newest, beyond, _beyond(failures, MOST_FAILURES) if beyond else 0)


def _beyond(newest_first: QuerySet[Instance, int], count: int) -> int:
    return next(iter(newest_first[count : count + 1]), 0)


def gone_portions(job_id: int, keep: Keep, now: datetime) -> Iterator[list[int]]:
    """The ids of the job's runs that are kept no longer, oldest first, at most PORTION at a time."""
    its_place, youngest, after = place(job_id, keep), keep.youngest_too_old(now), 0
    while rows := _ended_after(job_id, after):
        found = [run.id for run, _ in rows if goes(run, its_place, keep, now)]
        yield from (found[start : start + PORTION] for start in range(0, len(found), PORTION))
        (last, made_at), after = rows[-1], rows[-1][0].id
        if last.id > its_place.beyond and (youngest is None or made_at > youngest):
            return


def _ended_after(job_id: int, after: int) -> list[tuple[Ended, datetime]]:
    """With the moments at which they were made."""
    rows = Instance.objects.filter(job_id=job_id, pk__gt=after, ended_at__isnull=False).order_by("pk")
    values = rows.values_list("pk", "status", "ended_at", "created_at")[:LOOKED_AT]
    return [(Ended(pk, status, ended_at), made_at) for pk, status, ended_at, made_at in values if ended_at]


@once_more
@transaction.atomic
def remove_some(job_id: int, ids: Collection[int]) -> list[int]:
    """Delete of these what nobody needs any more, with its attempts; the ids of what went. Its events stay."""
    # One node after the other: two that delete the same rows at once would wait for each other.
    list(Job.objects.select_for_update(no_key=True).filter(pk=job_id).values_list("pk"))
    free = list(_free(Instance.objects.filter(pk__in=ids, job_id=job_id)).values_list("pk", flat=True))
    remove_ended(free)
    return free


def free_of(ids: Collection[int]) -> set[int]:
    """Those of them that have ended with all their attempts, and that nobody needs any more."""
    return set(_free(Instance.objects.filter(pk__in=ids)).values_list("pk", flat=True))


def _free(rows: QuerySet[Instance]) -> QuerySet[Instance]:
    # An attempt in flight has a process or may get one, whatever its instance says.
    in_flight = Attempt.objects.filter(instance=OuterRef("pk")).exclude(status=AttemptStatus.ENDED)
    # What an abandoned thread holds is written in its attempt alone.
    tokens = [token for abandoned in Node.objects.values_list("abandoned", flat=True) for token in abandoned]
    threads = Attempt.objects.filter(token__in=tokens)
    # Whether it ran is asked, and what it gave, by what waits for it on the same date.
    waiting = Dependency.objects.filter(
        upstream=OuterRef("job_id"), job__instances__logical_at=OuterRef("logical_at"), job__instances__status__in=LIVE
    )
    # Which of its dates have runs already is asked by a backfill until its end.
    filling = Backfill.objects.filter(
        status=Backfill.Status.RUNNING, first_at__lte=OuterRef("logical_at"), last_at__gte=OuterRef("logical_at")
    )
    ended = rows.filter(status__in=TERMINAL).exclude(pk__in=threads.values("instance"))
    return ended.exclude(Exists(in_flight)).exclude(Exists(waiting)).exclude(Exists(filling))


@once_more
@transaction.atomic
def remove_some_events(until: datetime) -> int:
    """Delete the first events of the feed if they are older than `until`, at most PORTION, and never the last of all.

    From the beginning on and without gaps: a reader that is still behind there finds its place gone, and begins afresh.
    """
    rows = list(Event.objects.order_by("pk").values_list("pk", "at")[: PORTION + 1])
    last = 0
    for pk, at in rows[:-1]:
        if at >= until:
            break
        last = pk
    return Event.objects.filter(pk__lte=last)._raw_delete(Event.objects.db) if last else 0


@transaction.atomic
def record_sweep(actor: str, now: datetime, counts: Mapping[str, int]) -> None:
    record([NewEvent(now, "history.pruned", actor=actor, data=dict(counts))])


# --- For the run directories ---


def ends_of(ids: Collection[int]) -> dict[int, datetime | None]:
    """When they ended, None for what has not; without those that do not exist."""
    return dict(Instance.objects.filter(pk__in=ids).values_list("pk", "ended_at"))


def newest_id() -> int:
    """0 if there is no instance."""
    return Instance.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def ended_since(since: datetime, until: datetime, succeeded: bool | None = None) -> Iterator[list[Ended]]:
    """Those that ended after `since` and up to `until`, in that order; `succeeded`: only what did, or did not."""
    rows = Instance.objects.filter(ended_at__lte=until).order_by("ended_at", "pk")
    if succeeded is not None:
        rows = rows.filter(status__in=SUCCEEDED if succeeded else TERMINAL - SUCCEEDED)
    at, after_id = since, 2**63 - 1
    while True:
        after = rows.filter(ended_at__gte=at).filter(Q(ended_at__gt=at) | Q(pk__gt=after_id))
        values = after.values_list("pk", "status", "ended_at")[:LOOKED_AT]
        found = [Ended(pk, status, ended_at) for pk, status, ended_at in values if ended_at]
        if not found:
            return
        yield found
        at, after_id = found[-1].ended_at, found[-1].id
