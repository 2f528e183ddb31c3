"""Backfills: the dates of a window, run for the first time or again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from jobs.actions.answers import BeingDeleted, InvalidInput, NotFound, Problem, Refused
from jobs.actions.reading import shown
from jobs.core.states import LIVE
from jobs.core.triggers import Trigger, latest_between, missed_between
from jobs.models import Backfill, Instance, Job
from jobs.store import backfills, wishes, workflows
from jobs.store.locks import once_more
from jobs.store.wishes import CancelAnswer

MOST_DATES = 100_000
MOST_AT_ONCE = 100
TO_BEGIN = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class BackfillPlan:
    """`dates` in the window, from `first` to `last` of them; `existing` of these have all their instances already.

    `jobs`: names of those that get one each.
    """

    job_id: int
    jobs: tuple[str, ...]
    dates: int
    existing: int
    first: datetime | None
    last: datetime | None

    def would_make(self, *, only_missing: bool) -> int:
        return self.dates - self.existing if only_missing else self.dates

    def sentence(self, *, only_missing: bool) -> str:
        count = self.would_make(only_missing=only_missing)
        of = f"of {len(self.jobs)} jobs" if len(self.jobs) > 1 else f"of {self.jobs[0]}"
        there = f"; {self.existing:,} have theirs already" if self.existing else ""
        return f"The window holds {self.dates:,} dates{there}: {count:,} would be made, each with an instance {of}."


@dataclass(frozen=True, slots=True)
class BackfillCancelled:
    """`cancelled` waited and will not run, `stopping` run and are being ended. Not `changed`: it had ended already."""

    backfill_id: int
    changed: bool
    cancelled: int = 0
    stopping: int = 0


def plan_backfill(job_id: int, first: datetime, last: datetime, *, now: datetime) -> BackfillPlan:
    """What a backfill of the fires in [first, last] would make; stores nothing. Raises InvalidInput, Refused, NotFound.

    The dates are those of the schedule as it is now. A job of a workflow stands for all of it.
    """
    return _plan(job_id, first, last, now)[0]


def create_backfill(
    job_id: int,
    first: datetime,
    last: datetime,
    *,
    actor: str,
    now: datetime,
    concurrency: int = 1,
    only_missing: bool = True,
) -> Backfill:
    """Make the dates oldest first, `concurrency` of them under way at a time. Raises as `plan_backfill` does.

    `only_missing`: a job that has an instance of a date gets no other one for it.
    """
    if isinstance(concurrency, bool) or not isinstance(concurrency, int) or not 1 <= concurrency <= MOST_AT_ONCE:
        expected = f"a whole number from 1 to {MOST_AT_ONCE}"
        sentence = f"concurrency is {shown(concurrency)}, expected {expected}."
        raise InvalidInput([Problem("concurrency", shown(concurrency), expected, sentence)])
    plan, trigger = _plan(job_id, first, last, now)
    if not plan.would_make(only_missing=only_missing):
        raise Refused(plan.sentence(only_missing=only_missing))
    backfill = Backfill(
        job_id=job_id,
        first_at=first,
        last_at=last,
        next_at=trigger.next_after(first - TO_BEGIN),
        only_missing=only_missing,
        concurrency=concurrency,
        dates=plan.dates,
        created_by=actor,
        created_at=now,
    )
    backfills.insert(backfill, now)
    return backfill


@once_more
@transaction.atomic
def cancel_backfill(backfill_id: int, *, actor: str, now: datetime) -> BackfillCancelled:
    """Make no more of it, and cancel all of its instances that have not ended. Raises NotFound."""
    backfill = Backfill.objects.select_for_update(of=("self",)).filter(pk=backfill_id).first()
    if backfill is None:
        raise NotFound("backfill", backfill_id)
    if backfill.status != Backfill.Status.RUNNING:
        return BackfillCancelled(backfill_id, changed=False)
    # All rows before the first event: who holds the feed waits for no row.
    rows = Instance.objects.select_for_update(of=("self",)).filter(backfill=backfill, status__in=LIVE)
    live = [row.pk for row in rows.order_by("pk")]
    answers = [wishes.cancel(instance_id, actor=actor, now=now) for instance_id in live]
    backfills.end_now(backfill, now, actor)
    waited, stopping = answers.count(CancelAnswer.CANCELLED), answers.count(CancelAnswer.STOPPING)
    return BackfillCancelled(backfill_id, changed=True, cancelled=waited, stopping=stopping)


def _plan(job_id: int, first: datetime, last: datetime, now: datetime) -> tuple[BackfillPlan, Trigger]:
    job = Job.objects.filter(pk=job_id).only("name", "delete_requested_at").first()
    if job is None:
        raise NotFound("job", job_id)
    if job.being_deleted:
        raise BeingDeleted(job.name)
    if last < first:
        raise _refused("last", last, "not before the first", "The window ends before it begins; swap the two.")
    if last > now:
        sentence = "The window ends in the future, whose dates the schedule makes itself; end it by now."
        raise _refused("last", last, "a moment that has passed", sentence)
    dates = backfills.dates_of(job_id)
    if dates is None:
        raise Refused(
            "Only a schedule by the clock has dates to backfill, and this job, or what begins its workflow, has none; "
            "run it by hand for a logical date."
        )
    before = first - TO_BEGIN
    missed = missed_between(dates.trigger, before, last)
    if missed.capped or missed.count > MOST_DATES:
        most = missed.count if missed.capped else MOST_DATES
        sentence = f"The window holds more than {most:,} dates; choose a shorter one."
        raise _refused("first", first, f"a window of at most {most:,} dates", sentence)
    there = backfills.complete_dates(dates.members, first, last)
    existing = sum(dates.trigger.next_after(date - TO_BEGIN) == date for date in there)
    names = tuple(sorted(workflows.names_of(dates.members).values()))
    begins = dates.trigger.next_after(before) if missed.count else None
    ends = latest_between(dates.trigger, before, last) if missed.count else None
    return BackfillPlan(job_id, names, missed.count, existing, begins, ends), dates.trigger


def _refused(field: str, given: datetime, expected: str, sentence: str) -> InvalidInput:
    return InvalidInput([Problem(field, given.isoformat(), expected, sentence)])
