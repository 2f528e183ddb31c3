"""The list of schedules: when each fires next, and what became of its last fire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Q, QuerySet

from dashboard.presentation import looks
from dashboard.presentation.listpage import GREATEST_FIRST, PER_PAGE, page_of
from dashboard.presentation.looks import Look
from dashboard.presentation.rows import Regions
from dashboard.presentation.runs import MANY_SKIPPED
from dashboard.presentation.schedules import words_of
from dashboard.presentation.skipping import why_skipped
from dashboard.qualifiers import words_of as words_in
from dashboard.schedulesearch import ScheduleQuery
from jobs import skips
from jobs.models import LARGE_OF_JOB, Instance, Schedule


@dataclass(frozen=True, slots=True)
class LastFire:
    """What the newest instance of that logical date is; `look` is None where it has been deleted, or was skipped.

    `skipped`: why it made none; empty where it did.
    """

    at: datetime
    look: Look | None
    instance_id: int | None
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """`zone` is empty where `words` say it. `in_a_row` are skips since it last ran, `skipped` and `missed` all."""

    job_id: int
    job_name: str
    words: str
    zone: str
    next_at: datetime | None
    last: LastFire | None
    runs: int
    skipped: int
    missed: int
    why_skipped: str
    in_a_row: int
    paused: bool
    being_deleted: bool
    fault: str


def read_schedules(query: ScheduleQuery, now: datetime) -> Regions:
    """Regions schedules and pages. Three queries, more where fires were skipped. A page beyond the last is the last."""
    found = matching(query)
    page = page_of(query, found.count())
    shown = list(
        in_order(found, query.sort)
        .select_related("job", "calendar")
        .defer(*LARGE_OF_JOB, "job__description")[page.start : page.start + PER_PAGE]
    )
    last = _last_fires(shown)
    why = why_skipped([one.job_id for one in shown if one.skipped_in_a_row >= MANY_SKIPPED], now)
    return {
        "schedules": [
            (f"s{schedule.pk}", _row(schedule, last.get(schedule.job_id), why.get(schedule.job_id, "")))
            for schedule in shown
        ],
        "pages": [("pages", page)],
    }


def matching(query: ScheduleQuery) -> QuerySet[Schedule]:
    """All that are what is asked; without those that were taken away, of which only the counts are kept."""
    found = Schedule.objects.exclude(type=Schedule.Type.ONCE, start_at=None)
    if query.problems:
        return found.none()
    for word in words_in(query.text):
        found = found.filter(Q(job__name__icontains=word) | Q(expression__icontains=word) | Q(zone__icontains=word))
    if query.type:
        found = found.filter(type=query.type)
    return found.filter(_STATES[query.state]) if query.state else found


def in_order(found: QuerySet[Schedule], sort: str) -> QuerySet[Schedule]:
    """Schedules without such a moment come last, whichever way round; names decide among equals."""
    back = sort.startswith("-")
    key = sort.removeprefix("-")
    if key == "name":
        return found.order_by("-job__name" if back else "job__name")
    by = F({"next": "next_at", "last": "last_logical_at", "skipped": "skipped_in_a_row"}[key])
    falling = (key in GREATEST_FIRST) != back
    rest = ("-skipped_count", "job__name") if key == "skipped" else ("job__name",)
    return found.order_by(by.desc(nulls_last=True) if falling else by.asc(nulls_last=True), *rest)


def _last_fires(schedules: Iterable[Schedule]) -> dict[int, LastFire]:
    """By job. One query, along the index that lets each logical date fire once."""
    wanted = Q(pk__in=[])
    found: dict[int, LastFire] = {}
    for schedule in schedules:
        if schedule.last_logical_at is not None:
            found[schedule.job_id] = LastFire(schedule.last_logical_at, None, None)
            wanted |= Q(job_id=schedule.job_id, logical_at=schedule.last_logical_at)
    rows = Instance.objects.filter(wanted).order_by("generation")
    # The last generation is the one that counts: a retry by hand mends a fire that failed.
    for job_id, pk, status, stop_at, at in rows.values_list(
        "job_id", "pk", "status", "cancel_requested_at", "logical_at"
    ):
        found[job_id] = LastFire(at, looks.of_instance(status, stopping=stop_at is not None), pk)
    return found | _skipped({job_id: fire.at for job_id, fire in found.items() if fire.look is None})


def _skipped(without: Mapping[int, datetime]) -> dict[int, LastFire]:
    """Of jobs whose last fire has no instance, those that skipped it. Two queries, or none."""
    latest = skips.latest(without) if without else {}
    return {
        job_id: LastFire(without[job_id], None, None, skip.reason)
        for job_id, skip in latest.items()
        if skip.logical_at == without[job_id] or (skip.count > 1 and skip.logical_at < without[job_id])
    }


def _row(schedule: Schedule, last: LastFire | None, why: str) -> ScheduleRow:
    in_a_row, words = schedule.skipped_in_a_row, words_of(schedule)
    return ScheduleRow(
        job_id=schedule.job_id,
        job_name=schedule.job.name,
        words=words,
        zone=_zone_unsaid(schedule, words),
        next_at=None if schedule.job.paused else schedule.next_at,
        last=last,
        runs=schedule.run_count,
        skipped=schedule.skipped_count,
        missed=schedule.missed_count,
        why_skipped=why,
        in_a_row=in_a_row if in_a_row >= MANY_SKIPPED else 0,
        paused=schedule.job.paused,
        being_deleted=schedule.job.being_deleted,
        fault=schedule.fault,
    )


def _zone_unsaid(schedule: Schedule, words: str) -> str:
    """Words of an interval say no zone, for it has nothing to do with one; those of a faulty schedule cannot."""
    return "" if schedule.type == Schedule.Type.INTERVAL or schedule.zone in words else schedule.zone


_STATES = {
    "active": Q(job__paused_at__isnull=True, next_at__isnull=False),
    "paused": Q(job__paused_at__isnull=False),
    "skipping": Q(skipped_in_a_row__gte=MANY_SKIPPED),
    "faulty": ~Q(fault=""),
    "over": Q(job__paused_at__isnull=True, next_at__isnull=True, fault=""),
}
