"""Reads a schedule's type and expression into a trigger, or refuses it with a sentence."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from jobs.core.cron import parse_cron
from jobs.core.cronfields import WEEKDAYS
from jobs.core.daylight import Fold, Gap, ZoneRules
from jobs.core.days import DayRule
from jobs.core.invalid import END, EXPRESSION, TYPE, InvalidSchedule
from jobs.core.moments import parse_moment
from jobs.core.triggers import FixedRate, Once, Trigger
from jobs.core.wallclock import WallClock
from jobs.core.walltimes import WallTimes
from jobs.core.zones import zone_named

__all__ = ["InvalidSchedule", "parse_interval", "parse_moment", "parse_trigger"]

SCHEDULE_TYPES = ("once", "interval", "cron", "daily", "weekly")
SHORTEST = timedelta(seconds=1)
LONGEST = timedelta(days=36_500)

INTERVAL = re.compile(
    r"((?P<days>[0-9]{1,12})d)? ?((?P<hours>[0-9]{1,12})h)? ?((?P<minutes>[0-9]{1,12})m)? ?((?P<seconds>[0-9]{1,12})s)?"
)
CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
FULL_NAMES = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")


def parse_trigger(
    schedule_type: str,
    expression: str | None,
    *,
    zone: str,
    anchor: datetime,
    start: datetime | None,
    end: datetime | None,
    hash_id: str = "",
    gap: Gap = "default",
    fold: Fold = "default",
) -> Trigger:
    """The trigger that a schedule's fields describe.

    anchor      when the schedule was made: what an interval is counted from, and when `once` is, without a start
    start, end  inclusive bounds
    hash_id     what cron's `H` is hashed from: the schedule's id

    Moments are aware. Raises InvalidSchedule.
    """
    rules = ZoneRules(zone_named(zone), gap, fold)
    if start is not None and end is not None and end < start:
        raise InvalidSchedule(END, f"The end ({end.isoformat()}) lies before the start ({start.isoformat()}).")
    text = (expression or "").strip()
    if schedule_type == "once":
        if text:
            raise InvalidSchedule(
                EXPRESSION,
                f"A schedule of type once has no expression, but {text!r} was given; say when in start_date.",
            )
        return Once(start or anchor, end, zone)
    if schedule_type == "interval":
        return FixedRate(start or anchor, parse_interval(text), end)
    if schedule_type == "cron":
        trigger = WallClock(parse_cron(text, hash_id), rules, start, end)
        _refuse_if_always_skipped(trigger, text, anchor)
        return trigger
    if schedule_type == "daily":
        return WallClock(_clock(text), rules, start, end)
    if schedule_type == "weekly":
        return WallClock(_weekly(text), rules, start, end)
    raise InvalidSchedule(
        TYPE, f"{schedule_type!r} is no type of schedule; expected one of {', '.join(SCHEDULE_TYPES)}."
    )


def parse_interval(text: str) -> timedelta:
    """Reads 30s, 5m, 2h, 1d, 1h30m or plain seconds; from one second to a hundred years. Raises InvalidSchedule."""
    text = text.strip()
    match = INTERVAL.fullmatch(f"{text}s" if text.isdecimal() else text)
    if not text or not match:
        raise InvalidSchedule(
            EXPRESSION, f"{text!r} is no interval; expected such as 30s, 5m, 2h, 1d, 1h30m, or whole seconds."
        )
    try:
        every = timedelta(**{unit: int(number) for unit, number in match.groupdict().items() if number})
    except OverflowError:
        every = timedelta.max
    if not SHORTEST <= every <= LONGEST:
        raise InvalidSchedule(EXPRESSION, f"{text!r} is not between 1 second and {LONGEST.days:,} days.")
    return every


def _clock(text: str, days: DayRule | None = None) -> WallTimes:
    match = CLOCK.fullmatch(text)
    if not match:
        raise InvalidSchedule(
            EXPRESSION, f"{text!r} is no time of day; expected HH:MM or HH:MM:SS, from 00:00 to 23:59:59."
        )
    hour, minute, second = (int(part or 0) for part in match.groups())
    return WallTimes((hour,), (minute,), (second,), days or DayRule())


def _weekly(text: str) -> WallTimes:
    *days, clock = text.split() or [""]
    weekdays: set[int] = set()
    for item in "".join(days).lower().split(","):
        weekdays |= _weekdays(item, text)
    return _clock(clock, DayRule(weekdays=frozenset(weekdays)))


def _weekdays(item: str, text: str) -> set[int]:
    """One name, or a range of two. The week may begin on Monday or Sunday: both mon-sun and sun-sat are ranges."""
    names = WEEKDAYS | {name: number for number, name in enumerate(FULL_NAMES)}
    low, dash, high = item.partition("-")
    if low not in names or (dash and high not in names):
        raise InvalidSchedule(
            EXPRESSION, f"{text!r}: {item!r} is no weekday; expected such as 'mon,wed,fri 09:30' or 'mon-fri 09:30'."
        )
    first, last = names[low], names[high if dash else low]
    if last == 0 and first > 0:
        last = 7
    if last < first:
        raise InvalidSchedule(
            EXPRESSION, f"{text!r}: {item!r} runs backwards; write two ranges, such as 'sat-sun,mon-tue 09:30'."
        )
    return {day % 7 for day in range(first, last + 1)}


def _refuse_if_always_skipped(trigger: WallClock, text: str, anchor: datetime) -> None:
    """A time that exists in the calendar may fall into the zone's gap each time that it is due."""
    if WallClock(trigger.times, trigger.rules, trigger.start).next_after(anchor) is None:
        raise InvalidSchedule(
            EXPRESSION, f"{text!r} never fires in {trigger.rules.zone.key}: clocks there skip that time each time."
        )
