"""Schedules in words, and what they will do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from dashboard.presentation.rows import Regions, Row
from jobs.actions.definition import zone_to_show
from jobs.core.catchup import CatchUp
from jobs.core.invalid import InvalidSchedule
from jobs.core.jitter import jittered
from jobs.core.marks import Coming, LeftOut, coming
from jobs.core.policies import DEFAULT_POLICY, Overlap
from jobs.core.timewords import elapsed
from jobs.core.triggers import Following, Trigger
from jobs.models import LARGE_OF_JOB, Instance, Schedule
from jobs.skips import SkippedFire
from jobs.store.schedules import trigger_of

FOLLOWS = "The others follow, each counted from the end of the one before."

MOST_SHOWN = 8
FIRES_SHOWN = 10
SKIPS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class FireRow:
    job_id: int
    job_name: str
    at: datetime
    words: str


class NextFire(NamedTuple):
    """`at` is its logical date, and `starts_at`, if it is spread, when its instance is due; in the schedule's zone."""

    at: datetime
    marks: tuple[str, ...]
    starts_at: datetime | None


@dataclass(frozen=True, slots=True)
class ScheduleCard:
    """`fires` are in the order in which they come; empty when there is none, or `fault` says what is wrong.

    `left_out`: what does not happen before the last of them. `follows`: that others come after ends.
    `choices` says in words what differs from what is usual; `skips` are the latest fires that made no run.
    """

    words: str
    fires: tuple[NextFire, ...]
    fault: str
    paused: bool
    run_count: int
    missed_count: int
    skipped_count: int
    left_out: tuple[LeftOut, ...] = ()
    follows: str = ""
    choices: tuple[str, ...] = ()
    skips: tuple[SkippedFire, ...] = ()


def read_fires(now: datetime) -> Regions:
    """Region fires: the next ones of all schedules, and of what was submitted for later."""
    schedules = (
        Schedule.objects.filter(next_at__isnull=False, job__paused_at__isnull=True)
        .select_related("job", "calendar")
        .defer(*LARGE_OF_JOB)
        .order_by("next_at", "id")[:MOST_SHOWN]
    )
    rows = [(f"s{schedule.pk}", _fire_row(schedule)) for schedule in schedules]
    later = _submitted_for_later(now)
    return {"fires": sorted([*rows, *later], key=lambda row: (row[1].at, row[0]))[:MOST_SHOWN]}


def words_of(schedule: Schedule) -> str:
    """Such as "every 5 minutes"; of one that cannot be read, what is written there."""
    try:
        return trigger_of(schedule).describe()
    except InvalidSchedule:
        return str(schedule)


def schedule_card(
    schedule: Schedule | None, now: datetime, *, paused: bool, skips: Sequence[SkippedFire] = ()
) -> ScheduleCard | None:
    """None for a job that only runs by hand."""
    if schedule is None:
        return None
    try:
        trigger = trigger_of(schedule)
        words, found, fault = trigger.describe(), next_fires(schedule, trigger, now), schedule.fault
    except InvalidSchedule as refusal:
        words, found, fault = str(schedule), Coming((), ()), refusal.sentence
    silent = paused or bool(fault)
    return ScheduleCard(
        words=words,
        fires=() if silent else _spread(schedule, found),
        left_out=() if silent else found.left_out,
        follows="" if silent else found.follows,
        choices=choices_of(schedule),
        skips=tuple(replace(skip, logical_at=in_zone(skip.logical_at, schedule.zone)) for skip in skips),
        fault=fault,
        paused=paused,
        run_count=schedule.run_count,
        missed_count=schedule.missed_count,
        skipped_count=schedule.skipped_count,
    )


def next_fires(schedule: Schedule, trigger: Trigger, now: datetime) -> Coming:
    """In the schedule's own zone, so that their offsets show where clocks change. What follows from an end is known
    only when that has come."""
    if isinstance(trigger, Following):
        known = () if schedule.next_at is None else ((in_zone(schedule.next_at, schedule.zone), ()),)
        return Coming(
            known, (), FOLLOWS if known else "The next follows from the end of the instance that is under way."
        )
    found = coming(trigger, now, FIRES_SHOWN, schedule.zone)
    fires = tuple((in_zone(at, schedule.zone), marks) for at, marks in found.fires)
    gone = tuple(LeftOut(in_zone(one.at, schedule.zone), one.count, one.code, one.says) for one in found.left_out)
    return Coming(fires, gone)


def _spread(schedule: Schedule, found: Coming) -> tuple[NextFire, ...]:
    def starts_at(at: datetime) -> datetime | None:
        seconds = schedule.jitter_seconds  # added in UTC: across a change of clocks, local time is no sum
        return in_zone(jittered(at.astimezone(UTC), seconds, str(schedule.pk)), schedule.zone) if seconds else None

    return tuple(NextFire(at, marks, starts_at(at)) for at, marks in found.fires)


def choices_of(schedule: Schedule) -> tuple[str, ...]:
    """What was chosen that is not usual, each in a few words."""
    overlap = {
        Overlap.QUEUE: f"while one has not ended, up to {schedule.queue_bound} wait behind it",
        Overlap.ALLOW: "instances may overlap",
        Overlap.REPLACE: "a new fire cancels the instance before it",
    }
    catch_up = {
        CatchUp.SKIP: "missed fires are not made up for",
        CatchUp.ALL: f"of missed fires the latest {schedule.catch_up_limit} are made up for",
    }
    usual = schedule.misfire_grace_seconds == DEFAULT_POLICY.misfire_grace_seconds
    said = (
        overlap.get(Overlap(schedule.overlap)),
        catch_up.get(CatchUp(schedule.catch_up)),
        None if usual else f"missed when more than {_seconds(schedule.misfire_grace_seconds)} late",
        f"each up to {_seconds(schedule.jitter_seconds)} later" if schedule.jitter_seconds else None,
        None if schedule.gap == "default" else f"in an hour that clocks skip: {schedule.get_gap_display()}",
        None if schedule.fold == "default" else f"in an hour that comes twice: {schedule.get_fold_display()}",
    )
    return tuple(sentence for sentence in said if sentence)


def in_zone(at: datetime, zone: str) -> datetime:
    return at.astimezone(zone_to_show(zone))


def _seconds(seconds: float) -> str:
    return elapsed(timedelta(seconds=seconds))


def _fire_row(schedule: Schedule) -> FireRow:
    assert schedule.next_at is not None  # filtered by the query  # noqa: S101
    return FireRow(schedule.job_id, schedule.job.name, schedule.next_at, words_of(schedule))


def _submitted_for_later(now: datetime) -> list[Row]:
    rows = (
        Instance.objects.filter(status="pending", due_at__gt=now)
        .order_by("due_at", "id")
        .values_list("id", "job_id", "due_at", "job__name")[:MOST_SHOWN]
    )
    return [(f"i{pk}", FireRow(job_id, name, due_at, "once")) for pk, job_id, due_at, name in rows]
