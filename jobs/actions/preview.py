"""When a schedule would fire, before it is saved."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from jobs.actions.answers import Problem
from jobs.actions.dates import EXPECTED as EXPECTED_MOMENT
from jobs.actions.reading import Reader, shown
from jobs.actions.timing import HASHED_BEFORE_STORED, TIMING_FIELDS, Timing, check_fires, check_once, read_timing
from jobs.actions.unknown import refuse_unknown
from jobs.core.catchup import CatchUp, Due, due_between
from jobs.core.expressions import parse_moment
from jobs.core.invalid import InvalidSchedule
from jobs.core.jitter import jittered
from jobs.core.marks import LeftOut, coming
from jobs.core.moments import moment_marks
from jobs.core.timewords import elapsed
from jobs.core.triggers import Following, Trigger
from jobs.store.specs import ScheduleSpec

PREVIEW_FIELDS = (*TIMING_FIELDS, "after", "count", "anchor", "hash_id", "down_from")
MOST_FIRES = 500
HASHED = " (H stands for a value of each job's own: once it is saved it may be another than here)"


@dataclass(frozen=True, slots=True)
class Coming:
    """`at` is in the schedule's zone, so that its offset shows where clocks change. `starts_at`: with its jitter, where
    that can be told."""

    at: datetime
    marks: tuple[str, ...] = ()
    starts_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """What becomes of the fires that came due while nothing ran: these logical dates at once, the others are missed."""

    at_once: tuple[datetime, ...]
    missed: int


@dataclass(frozen=True, slots=True)
class Preview:
    """`left_out`: what does not happen before the last of the fires, and why. `follows`: that others follow from ends.

    `caught_up` is there if it was asked what becomes of a time in which nothing ran.
    """

    coming: tuple[Coming, ...]
    description: str
    left_out: tuple[LeftOut, ...] = ()
    follows: str = ""
    caught_up: CaughtUp | None = None

    @property
    def fires(self) -> tuple[datetime, ...]:
        return tuple(fire.at for fire in self.coming)


def preview(raw: Mapping[str, Any], *, now: datetime, hash_id: str | None = None, lenient: bool = False) -> Preview:
    """The next fires as if the schedule were saved at `after` (now, unless given). Raises InvalidInput.

    Fields: those of a schedule (its calendar by name, or spelled out), and

    after      when it is saved
    count      how many fires
    anchor     when it was made, which an interval without a start is counted from: `after`, unless given
    hash_id    what `H` is hashed from; the argument of this name, unless given. Without either, `H` is refused.
    down_from  as if nothing had run from then until `after`: what is made up for?

    `lenient`: as for `read_schedule`.
    """
    reader = Reader(raw)
    refuse_unknown(reader, PREVIEW_FIELDS)
    count = reader.whole("count", 10, lowest=1, highest=MOST_FIRES)
    key = reader.text("hash_id", hash_id or "", longest=100)
    timing = read_timing(reader, anchor=now, inline=True, hash_id=key)
    zone = ZoneInfo(timing.spec.zone) if timing else ZoneInfo("UTC")
    after = _read_moment(reader, "after", zone) or now
    anchor = _read_moment(reader, "anchor", zone) or after
    down_from = _read_moment(reader, "down_from", zone)
    if timing is not None and timing.once_at is not None and down_from is None:
        check_once(reader, timing, timing.once_at, after, lenient=lenient)
    elif timing is not None and down_from is None:
        check_fires(reader, timing, timing.trigger(anchor=anchor, hash_id=key, at_once=after), after)
    reader.check()
    if timing is None:
        return Preview((Coming(after.astimezone(UTC)),), "once, as soon as it is submitted")
    found = _preview(timing, after, anchor, count, key, down_from)
    if timing.spec.type != "once":
        return found
    meant = moment_marks(reader.text("start_date", longest=64), timing.spec.zone, fold=timing.spec.fold)
    return replace(found, coming=tuple(replace(fire, marks=meant or fire.marks) for fire in found.coming))


def is_hashed(spec: ScheduleSpec) -> bool:
    return spec.type == "cron" and re.search(r"\bH\b", spec.expression, re.IGNORECASE) is not None


def _preview(
    timing: Timing, after: datetime, anchor: datetime, count: int, key: str, down_from: datetime | None
) -> Preview:
    spec, zone = timing.spec, ZoneInfo(timing.spec.zone)
    at_once = after if down_from is None else None
    trigger = timing.trigger(anchor=anchor, hash_id=key, at_once=at_once)
    since = timing.since(after) if at_once else after
    if timing.once_at is not None and down_from is None:
        since = min(after, timing.once_at - datetime.resolution)  # what has just passed runs at once
    found = coming(trigger, since, count, zone.key)
    words = trigger.describe()
    if spec.jitter_seconds:
        words += f", each up to {elapsed(timedelta(seconds=spec.jitter_seconds))} later"
    known = key not in ("", HASHED_BEFORE_STORED)
    if is_hashed(spec) and not known:
        words += HASHED
    jitter = spec.jitter_seconds if known else 0
    fires = tuple(
        Coming(fire.astimezone(zone), marks, jittered(fire, jitter, key).astimezone(zone) if jitter else None)
        for fire, marks in found.fires
    )
    caught_up = None
    if down_from is not None and not isinstance(trigger, Following):
        due = _due(spec, trigger, down_from, after)
        caught_up = CaughtUp(tuple(fire.astimezone(zone) for fire in due.fires), due.missed)
    left_out = tuple(LeftOut(gone.at.astimezone(zone), gone.count, gone.code, gone.says) for gone in found.left_out)
    return Preview(fires, words, left_out, found.follows, caught_up)


def _due(spec: ScheduleSpec, trigger: Trigger, down_from: datetime, until: datetime) -> Due:
    grace = timedelta(seconds=spec.misfire_grace_seconds)
    return due_between(trigger, down_from, until, CatchUp(spec.catch_up), spec.catch_up_limit, grace)


def _read_moment(reader: Reader, field: str, zone: ZoneInfo) -> datetime | None:
    text = reader.text(field, longest=64)
    try:
        return parse_moment(text, zone.key, end_of_day=False) if text else None
    except InvalidSchedule as refusal:
        reader.problems.append(Problem(field, shown(text), EXPECTED_MOMENT, refusal.sentence))
        return None
