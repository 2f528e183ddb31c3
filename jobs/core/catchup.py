"""What is made of fires that came due while nothing looked: by arithmetic, never by a list of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from jobs.core.triggers import Counting, Trigger, count_between, latest_between
from jobs.core.values import made_often

MISFIRE_GRACE = timedelta(seconds=60)
MOST_CAUGHT_UP = 3  # of policy `all`, unless set


class CatchUp(StrEnum):
    """What becomes of missed fires: none of them, the latest as one, or the latest N."""

    SKIP = "skip"
    ONE = "one"
    ALL = "all"


@made_often
@dataclass(frozen=True, slots=True)
class Due:
    """`fires` become instances, oldest first; `missed` more were due and do not."""

    fires: tuple[datetime, ...]
    missed: int


def due_between(
    trigger: Trigger,
    after: datetime,
    now: datetime,
    policy: CatchUp = CatchUp.ONE,
    most: int = MOST_CAUGHT_UP,
    grace: timedelta = MISFIRE_GRACE,
) -> Due:
    """What is to be made of the fires in (after, now].

    A fire is missed if it is later than the grace. With `skip` those within it still happen, the latest standing for
    all of them; with `one` the latest of all stands for all; with `all` the latest `most` happen.
    """
    since = max(after, now - grace - datetime.resolution) if policy is CatchUp.SKIP else after
    chosen = latest_of(trigger, since, now, most if policy is CatchUp.ALL else 1)
    return Due(chosen, count_between(trigger, after, now) - len(chosen))


def latest_of(trigger: Trigger, after: datetime, until: datetime, most: int) -> tuple[datetime, ...]:
    """The latest `most` fires in (after, until], oldest first, in work that grows with `most`, not with all of them."""
    if most <= 0 or after >= until:
        return ()
    if not isinstance(trigger, Counting):
        return _one_by_one(trigger, after, until, most)
    since = _few_before(trigger, after, until, most)
    found: list[datetime] = []
    fire = trigger.next_after(since)
    while fire is not None and fire <= until:
        found.append(fire)
        fire = trigger.next_after(fire)
    return tuple(found[-most:])


def _few_before(trigger: Counting, after: datetime, until: datetime, most: int) -> datetime:
    """A moment, not before `after`, with `most` to twice as many fires in (moment, until]; `after` if there are fewer.

    Looks near `until` first: counting through ten years to find the latest three costs seconds in a calendar.
    """
    reach = timedelta(minutes=1)
    while reach < until - after and trigger.count_between(until - reach, until) < most:
        reach *= 2
    low, high = max(after, until - reach), until
    while high - low > datetime.resolution and trigger.count_between(low, until) > 2 * most:
        middle = low + (high - low) / 2
        low, high = (middle, high) if trigger.count_between(middle, until) >= most else (low, middle)
    return low


def _one_by_one(trigger: Trigger, after: datetime, until: datetime, most: int) -> tuple[datetime, ...]:
    found: list[datetime] = []
    while len(found) < most and (latest := latest_between(trigger, after, until)) is not None:
        found.append(latest)
        until = latest - datetime.resolution
    return tuple(reversed(found))
