"""What is worth a word beside a previewed fire, and which fires there are not, with the reason.

Both ask the same windows and closures that decide the real fire.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

from jobs.core.calendared import DelayInCalendar, Moved, Skipped, count_in
from jobs.core.calendars import Calendar, Closure
from jobs.core.daylight import LONGEST_MADE_UP_GAP, wall_at
from jobs.core.moments import pass_of
from jobs.core.timewords import clock
from jobs.core.triggers import AtOnce, Following, Once, Trigger, fires
from jobs.core.wallclock import WallClock
from jobs.core.zones import CYCLE_YEARS, Change, changes, offset_at, zone_named

DST_GAP, BLACKOUT = "dst_gap", "blackout"
MOST_LEFT_OUT = 50
ZERO = timedelta(0)


@dataclass(frozen=True)
class LeftOut:
    """`count` fires that do not exist, the first of them at `at` (UTC). code: dst_gap or blackout."""

    at: datetime
    count: int
    code: str
    says: str


@dataclass(frozen=True)
class Coming:
    """The next fires, each with its marks; what is left out before the last; a word, if others follow from ends."""

    fires: tuple[tuple[datetime, tuple[str, ...]], ...]
    left_out: tuple[LeftOut, ...]
    follows: str = ""


def coming(trigger: Trigger, after: datetime, count: int, zone: str = "") -> Coming:
    """What a preview shows of a trigger that is watched from a moment on.

    `zone`: the one in which it is shown. Where its clocks have changed since the fire before, that is said too.
    """
    found = fires(trigger, after, count)
    gone = left_out(trigger, after, found[-1]) if found else ()
    follows = "the others follow, each counted from the end of the one before" if isinstance(trigger, Following) else ""
    said = [marks(trigger, fire) for fire in found]
    for before, here in pairwise(range(len(found) if zone else 0)):
        if not said[before] and not said[here]:
            said[here] = _changed(zone, found[before], found[here])
    return Coming(tuple(zip(found, said, strict=True)), gone, follows)


def marks(trigger: Trigger, fire: datetime) -> tuple[str, ...]:
    """Such as "clocks go forward: 02:30 does not exist, runs at 03:00", "clocks go back: second pass of 01:30",
    "moved out of closed time 'release freeze' of calendar 'ops'"."""
    match trigger:
        case WallClock():
            return (*_after_gap(trigger, fire), *_in_fold(trigger.rules.zone.key, fire))
        case Once(zone=zone):
            return tuple(_in_fold(zone, fire))
        case Skipped() | AtOnce():
            return marks(trigger.trigger, fire)
        case Moved():
            own = marks(trigger.trigger, fire) if trigger.fires_by_itself_at(fire) else ()
            return (*own, *_moved(trigger.trigger, trigger.calendar, fire))
        case DelayInCalendar():
            return tuple(_moved(trigger.trigger, trigger.calendar, fire))
    return ()


def left_out(trigger: Trigger, after: datetime, until: datetime, most: int = MOST_LEFT_OUT) -> tuple[LeftOut, ...]:
    """What is left out in (after, until], in order; at most so many entries of each kind."""
    gaps = in_gaps(trigger, after, until, most)
    if not isinstance(trigger, Skipped):
        return gaps
    return tuple(sorted([*islice(_blocked(trigger, after, until), most), *gaps], key=lambda found: found.at))


def in_gaps(trigger: Trigger, after: datetime, until: datetime, most: int = MOST_LEFT_OUT) -> tuple[LeftOut, ...]:
    """What does not exist in (after, until] because clocks go forward, in order; at most so many entries."""
    match trigger:
        case WallClock():
            return tuple(islice(_gaps(trigger, after, until), most))
        case Skipped():
            inner = in_gaps(trigger.trigger, after, until, most)
            return tuple(gap for gap in inner if not trigger.calendar.blocks(gap.at))
        case Moved() | AtOnce():
            return in_gaps(trigger.trigger, after, until, most)
    return ()


def no_gap_before(trigger: Trigger, after: datetime) -> datetime:
    """From `after` up to this moment no clock goes forward for it: nothing is to be looked for."""
    match trigger:
        case WallClock():
            year = after.astimezone(UTC).year
            found = [
                change.at for y in (year, year + 1) for change in changes(trigger.rules.zone, y) if change.gap > ZERO
            ]
            return min((at for at in found if at > after), default=datetime(year + 2, 1, 1, tzinfo=UTC))
        case Skipped() | Moved() | AtOnce():
            return no_gap_before(trigger.trigger, after)
    return datetime.max.replace(tzinfo=UTC)


def _changed(zone: str, before: datetime, fire: datetime) -> tuple[str, ...]:
    place = zone_named(zone)
    difference = offset_at(place, fire) - offset_at(place, before)
    way = "forward" if difference > timedelta(0) else "back"
    return (f"clocks have gone {way} since the one before",) if difference else ()


def _after_gap(trigger: WallClock, fire: datetime) -> Iterator[str]:
    window = next(trigger.rules.windows(fire, wildcard=trigger.times.wildcard), None)
    if window is None or window.opens != fire or window.made_up is None:
        return
    count, first = trigger.times.count(*window.made_up), trigger.times.at_or_after(window.made_up[0])
    if count and first is not None:
        skipped = (
            f"{clock(first)} does not exist, runs" if count == 1 else f"{count} fires from {clock(first)} on run once"
        )
        yield f"clocks go forward: {skipped} at {clock(wall_at(fire, window.offset))}"


def _in_fold(zone: str, fire: datetime) -> Iterator[str]:
    number = pass_of(zone_named(zone), fire)
    if number:
        yield f"clocks go back: {number} pass of {clock(fire.astimezone(zone_named(zone)))}"


def _moved(trigger: Trigger, calendar: Calendar, fire: datetime) -> Iterator[str]:
    closure = calendar.around(fire - datetime.resolution)
    if closure is not None and closure.ends == fire and count_in(trigger, closure):
        yield f"moved out of {closure.says}"


def _gaps(trigger: WallClock, after: datetime, until: datetime) -> Iterator[LeftOut]:
    makes_up = trigger.rules.makes_up(wildcard=trigger.times.wildcard)
    for change in _forward(trigger, after, until):
        skipped_from, skipped_to = wall_at(change.at, change.before), wall_at(change.at, change.after)
        count, first = trigger.times.count(skipped_from, skipped_to), trigger.times.at_or_after(skipped_from)
        if count and first is not None and not (makes_up and change.gap <= LONGEST_MADE_UP_GAP):
            what = f"{clock(first)} does" if count == 1 else f"{count} fires from {clock(first)} on do"
            yield LeftOut(change.at, count, DST_GAP, f"clocks go forward: {what} not exist")


def _forward(trigger: WallClock, after: datetime, until: datetime) -> Iterator[Change]:
    """The changes that skip wall times, in (after, until] and within the schedule's bounds.

    Of the first cycle of the calendar only: where it holds none that skips a fire, none ever does.
    """
    since = after if trigger.start is None else max(after, trigger.start - datetime.resolution)
    last = until if trigger.end is None else min(until, trigger.end)
    first_year = since.astimezone(UTC).year
    for year in range(first_year, min(last.astimezone(UTC).year, first_year + CYCLE_YEARS) + 1):
        for change in changes(trigger.rules.zone, year):
            if change.gap > timedelta(0) and since < change.at <= last:
                yield change


def _blocked(trigger: Skipped, after: datetime, until: datetime) -> Iterator[LeftOut]:
    for closure in trigger.calendar.closures(after, until):
        count = count_in(trigger.trigger, closure, after, until)
        first = trigger.trigger.next_after(max(after, closure.begins - datetime.resolution))
        if count and first is not None:
            yield LeftOut(first, count, BLACKOUT, _said(trigger.calendar.blocks(first) or closure, closure, count))


def _said(closed: Closure, stretch: Closure, count: int) -> str:
    """Several closures may make one stretch: `closed` is what the first fire falls into."""
    if count == 1:
        return f"in {closed.says}"
    return f"{count:,} fires{', the first' if closed[:2] != stretch[:2] else ''} in {closed.says}"
