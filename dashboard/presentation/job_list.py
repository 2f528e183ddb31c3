"""The list of jobs: a page of those that match, each with its last ten runs.

The queries are as many for one job as for fifty, and of a table of jobs only the page that is shown is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from dashboard.jobsearch import KINDS, NEVER, JobQuery, JobSearch, search_of
from dashboard.presentation.jobs import planned
from dashboard.presentation.listpage import PER_PAGE, page_of
from dashboard.presentation.looks import Look
from dashboard.presentation.rows import Regions
from dashboard.presentation.runs import MANY_FAILED, MANY_SKIPPED, RunMark, Strip, failed_in_a_row, mark_of, strip_of
from dashboard.presentation.schedules import words_of
from jobs.api.pages import tagged
from jobs.models import LARGE, Dependency, Instance, Job
from jobs.trials import is_trial

STRIP = 10


@dataclass(frozen=True, slots=True)
class JobRow:
    """`last` is None before the first instance; `next_at` None when nothing is planned."""

    job_id: int
    name: str
    tags: tuple[str, ...]
    owner: str
    words: str
    next_at: datetime | None
    paused: bool
    being_deleted: bool
    last: Look | None
    last_id: int | None
    last_at: datetime | None
    strip: Strip | None
    skipped: int
    failed: int
    fault: str


def read_jobs(query: JobQuery, now: datetime) -> Regions:  # noqa: ARG001 - one signature for all readers
    """Regions jobs and pages. Four queries. A page beyond the last is the last."""
    found = matching(search_of(query.text))
    page = page_of(query, found.count())
    ids = list(in_order(found, query.sort).values_list("pk", flat=True)[page.start : page.start + PER_PAGE])
    return {"jobs": [(f"j{row.job_id}", row) for row in _rows(ids)], "pages": [("pages", page)]}


def matching(search: JobSearch) -> QuerySet[Job]:
    """All jobs that are what is asked; none where that makes no sense."""
    if search.problems:
        return Job.objects.none()
    found = Job.objects.all()
    for word in search.words:
        found = found.filter(Q(name__icontains=word) | Q(description__icontains=word))
    for tag in search.tags:
        found = tagged(found, tag)
    for kind in search.kinds:
        found = found.filter(**KINDS[kind])
    for owner in search.owners:
        found = found.filter(created_by__username__iexact=owner)
    for state in search.states:
        found = found.filter(_STATES[state])
    if search.statuses:
        found = found.annotate(last_status=Coalesce(Subquery(_newest("pk").values("status")[:1]), NEVER_RUN))
    for words in search.statuses:
        found = found.filter(last_status__in=words)  # type: ignore[misc]  # annotated above
    return found


def in_order(found: QuerySet[Job], sort: str) -> QuerySet[Job]:
    """Jobs without such a run come last, whichever way round; names decide among equals."""
    back = sort.startswith("-")
    key = sort.removeprefix("-")
    if key == "name":
        return found.order_by("-name" if back else "name")
    if key == "last":
        found = found.annotate(last_run=Subquery(_newest("pk").values("pk")[:1]))
    by = F("last_run" if key == "last" else "schedule__next_at")
    # "Last run" begins with the newest, "next run" with the soonest.
    falling = (key == "last") != back
    return found.order_by(by.desc(nulls_last=True) if falling else by.asc(nulls_last=True), "name")


def _rows(ids: list[int]) -> list[JobRow]:
    """In the order of `ids`. Two queries."""
    jobs = (
        Job.objects.select_related("schedule__calendar", "created_by")
        .defer(*LARGE, "description")
        .filter(pk__in=ids)
        .annotate(
            oldest_shown=Subquery(_newest("pk").values("pk")[STRIP - 1 : STRIP]),
            waits=Exists(Dependency.objects.filter(job=OuterRef("pk"))),
        )
    )
    by_id = {job.pk: job for job in jobs}
    runs = _last_runs(by_id.values())
    return [_row(by_id[pk], runs.get(pk, [])) for pk in ids if pk in by_id]


def _last_runs(jobs: Iterable[Job]) -> dict[int, list[RunMark]]:
    """Job id -> its last STRIP runs, the newest first. One query, along the index of each job's instances."""
    wanted = Q(pk__in=[])
    for job in jobs:
        wanted |= Q(job_id=job.pk, pk__gte=job.oldest_shown or 0)  # type: ignore[attr-defined]  # annotated
    found: dict[int, list[RunMark]] = {}
    fields = ("job_id", "pk", "status", "cancel_requested_at", "started_at", "ended_at", "created_at")
    for job_id, *rest in Instance.objects.filter(wanted).order_by("-pk").values_list(*fields):
        found.setdefault(job_id, []).append(mark_of(*rest))
    # One more may have come between the two queries.
    return {job_id: runs[:STRIP] for job_id, runs in found.items()}


def _row(job: Job, runs: list[RunMark]) -> JobRow:
    schedule = planned(job)
    last = runs[0] if runs else None
    skipped = schedule.skipped_in_a_row if schedule else 0
    failed = failed_in_a_row(runs)
    return JobRow(
        job_id=job.pk,
        name=job.name,
        tags=tuple(job.tags),
        owner=job.created_by.get_username() if job.created_by else "",
        words=words_of(schedule) if schedule else "after other jobs" if job.waits else "by hand",  # type: ignore[attr-defined]  # annotated
        next_at=schedule.next_at if schedule and not job.paused else None,
        paused=job.paused,
        being_deleted=job.being_deleted,
        last=last.look if last else None,
        last_id=last.instance_id if last else None,
        last_at=last.at if last else None,
        strip=strip_of(runs, STRIP),
        skipped=skipped if skipped >= MANY_SKIPPED else 0,
        failed=failed if failed >= MANY_FAILED else 0,
        fault=schedule.fault if schedule else "",
    )


def _newest(job: str) -> QuerySet[Instance]:
    return Instance.objects.filter(job=OuterRef(job)).order_by("-id")


NEVER_RUN = Value(NEVER)
_STATES = {
    "paused": Q(paused_at__isnull=False),
    "active": Q(paused_at__isnull=True),
    "scheduled": Q(paused_at__isnull=True, schedule__next_at__isnull=False),
    "trouble": ~Q(schedule__fault="") & Q(schedule__isnull=False)
    | Q(schedule__skipped_in_a_row__gte=MANY_SKIPPED)
    | Q(failures_in_a_row__gte=MANY_FAILED) & ~is_trial(),
}
