"""Reads a schedule's type and expression into a trigger, or refuses it with a sentence."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time, timedelta

from jobs.core.calendared import CalendarAction, in_calendar
from jobs.core.calendars import Calendar
from jobs.core.cron import parse_cron
from jobs.core.daylight import Fold, Gap, ZoneRules
from jobs.core.days import DayRule
from jobs.core.fixeddelay import FixedDelay
from jobs.core.intervals import SHORTEST, parse_interval
from jobs.core.invalid import END, EXPRESSION, TYPE, InvalidSchedule
from jobs.core.moments import parse_moment
from jobs.core.triggers import AtOnce, FixedRate, Once, Trigger
from jobs.core.wallclock import WallClock
from jobs.core.walltimes import WallTimes
from jobs.core.weektimes import parse_clock, parse_weekdays
from jobs.core.zones import zone_named

__all__ = ["InvalidSchedule", "parse_interval", "parse_moment", "parse_trigger"]

SCHEDULE_TYPES = ("once", "interval", "cron", "daily", "weekly", "fixed_delay")


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
    at_once: datetime | None = None,
    shortest: timedelta = SHORTEST,
    calendar: Calendar | None = None,
    calendar_action: CalendarAction = "skip",
) -> Trigger:
    """The trigger that a schedule's fields describe.

    anchor      when the schedule was made: what an interval is counted from, and when `once` is, without a start
    start, end  inclusive bounds
    hash_id     what cron's `H` is hashed from: the schedule's id
    gap, fold   what becomes of fires where clocks change: see `daylight`
    at_once     interval, fixed_delay: first at this moment, unless the start is still to come; else a period later
    shortest    the shortest interval that is taken
    calendar    what keeps fires from happening, and whether they are skipped or moved: see `calendared`

    Moments are aware. Raises InvalidSchedule.
    """
    rules = ZoneRules(zone_named(zone), gap, fold)
    if start is not None and end is not None and end < start:
        raise InvalidSchedule(END, f"The end ({end.isoformat()}) lies before the start ({start.isoformat()}).")
    text = (expression or "").strip()
    if schedule_type == "once":
        trigger: Trigger = _once(text, start or anchor, end, zone)
    elif schedule_type in ("interval", "fixed_delay"):
        every = parse_interval(text, shortest)
        elapsed = _rate if schedule_type == "interval" else _delay
        trigger = elapsed(every, anchor, start, end, at_once)
    elif schedule_type in WALL_CLOCK:
        trigger = WallClock(WALL_CLOCK[schedule_type](text, hash_id), rules, start, end)
        _refuse_if_always_skipped(trigger, text, anchor)
    else:
        expected = ", ".join(SCHEDULE_TYPES)
        raise InvalidSchedule(TYPE, f"{schedule_type!r} is no type of schedule; expected one of {expected}.")
    return trigger if calendar is None else in_calendar(trigger, calendar, calendar_action)


def _once(text: str, at: datetime, end: datetime | None, zone: str) -> Trigger:
    if text:
        sentence = f"A schedule of type once has no expression, but {text!r} was given; say when in start_date."
        raise InvalidSchedule(EXPRESSION, sentence)
    return Once(at, end, zone)


def _rate(
    every: timedelta, anchor: datetime, start: datetime | None, end: datetime | None, at_once: datetime | None
) -> Trigger:
    rate = FixedRate(start or anchor, every, end)
    if at_once is None or rate.anchor > at_once or (end is not None and at_once > end):
        return rate
    return AtOnce(rate, at_once)


def _delay(
    every: timedelta, anchor: datetime, start: datetime | None, end: datetime | None, at_once: datetime | None
) -> Trigger:
    if at_once is not None:
        return FixedDelay(every, max(start or at_once, at_once), end)
    return FixedDelay(every, start or anchor + every, end)


def _at(clock: time, days: DayRule | None = None) -> WallTimes:
    return WallTimes((clock.hour,), (clock.minute,), (clock.second,), days or DayRule())


def _daily(text: str, _hash_id: str) -> WallTimes:
    return _at(parse_clock(text))


def _weekly(text: str, _hash_id: str) -> WallTimes:
    *days, clock = text.split() or [""]
    return _at(parse_clock(clock), DayRule(weekdays=parse_weekdays("".join(days))))


WALL_CLOCK: dict[str, Callable[[str, str], WallTimes]] = {"cron": parse_cron, "daily": _daily, "weekly": _weekly}


def _refuse_if_always_skipped(trigger: WallClock, text: str, anchor: datetime) -> None:
    """A time that exists in the calendar may fall into the zone's gap each time that it is due."""
    if WallClock(trigger.times, trigger.rules, trigger.start).next_after(anchor) is None:
        raise InvalidSchedule(
            EXPRESSION, f"{text!r} never fires in {trigger.rules.zone.key}: clocks there skip that time each time."
        )
