"""Schedules in words. Said from what was read, never from what was typed, so the words cannot promise other times.

(The cron-descriptor package words the typed text: it joins the days of `0 0 */2 * MON` with "or", where both must
match, and knows nothing of H. And nothing but croniter may come into this folder.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from jobs.core.days import ALL_DATES, ALL_MONTHS, ALL_WEEKDAYS, LAST, DayRule
from jobs.core.walltimes import WallTimes
from jobs.core.zones import zone_named

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NTH = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", LAST: "last"}
MOST_CLOCK_TIMES = 6  # above that, hours and minutes are told apart


def once(at: datetime, zone: str) -> str:
    """Such as "once, at Thu 24 Dec 2026, 18:00:00 UTC", with offset and zone where it is another one."""
    local = at.astimezone(zone_named(zone))
    day = f"{WEEKDAYS[local.weekday()][:3]} {local:%d} {MONTHS[local.month - 1][:3]} {local.year}"
    where = "UTC" if zone == "UTC" else f"{local:%z} ({zone})"
    return f"once, at {day}, {local:%H:%M:%S} {where}"


def every(interval: timedelta) -> str:
    """Such as "every 5 minutes", "every day", "every 1 hour 30 minutes"."""
    said = elapsed(interval)
    number, _, unit = said.partition(" ")
    return f"every {unit}" if number == "1" and " " not in unit else f"every {said}"


def after_end(interval: timedelta) -> str:
    """Such as "5 minutes after the last one ended"."""
    return f"{elapsed(interval)} after the last one ended"


def elapsed(interval: timedelta) -> str:
    """Such as "5 minutes", "1 day", "1 hour 30 minutes", "0.25 seconds"."""
    minutes, seconds = divmod(interval.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if interval.microseconds:
        return f"{interval.total_seconds()} seconds"
    counted = (("day", interval.days), ("hour", hours), ("minute", minutes), ("second", seconds))
    return " ".join(f"{count} {unit}{'s' if count > 1 else ''}" for unit, count in counted if count)


def clock(wall: datetime) -> str:
    """Such as "02:30", or "02:30:15"."""
    return f"{wall:%H:%M:%S}" if wall.second else f"{wall:%H:%M}"


def wall_times(times: WallTimes) -> str:
    """Such as "at 02:30 on Monday and Friday in May" or "every 5 minutes of hours 9 to 17"."""
    days, months = _days(times.days), ""
    if times.days.months != ALL_MONTHS:
        months = f"in {_listed([month - 1 for month in times.days.months], MONTHS)}"
    if len(times.hours) * len(times.minutes) * len(times.seconds) <= MOST_CLOCK_TIMES:
        at, days = f"at {_clock_times(times)}", days or "every day"
    else:
        at = _clock(times)
    return " ".join(part for part in (at, days, months) if part)


def _clock_times(times: WallTimes) -> str:
    seconds = [""] if times.seconds == (0,) else [f":{second:02}" for second in times.seconds]
    return joined([f"{h:02}:{m:02}{s}" for h in times.hours for m in times.minutes for s in seconds])


def _clock(times: WallTimes) -> str:
    """From the finest unit to the coarsest: "at minute 7 and 37 of every 2nd hour", "every 10 seconds of hour 5"."""
    units = [("second", times.seconds, 60), ("minute", times.minutes, 60), ("hour", times.hours, 24)]
    if times.seconds == (0,):
        del units[0]
        if times.minutes == (0,) and _step(times.hours, 24):
            del units[0]
    unit, values, size = units.pop(0)
    step = _step(values, size)
    said = [_pace(step, unit) if step else f"at {_named(unit, values)}"]
    for unit, values, size in units:
        coarser = _step(values, size)
        if coarser == 1 and step:
            continue
        said.append(_named(unit, values) if not coarser else _nth_pace(coarser, unit))
        step = coarser
    return " of ".join(said)


def _step(values: Sequence[int], size: int) -> int:
    """The n for which these are all multiples of n below the size, evenly over its end; 0 if there is none."""
    step = size // len(values)
    return step if list(values) == list(range(0, size, step)) and size % step == 0 and len(values) > 1 else 0


def _pace(step: int, unit: str) -> str:
    return f"every {unit}" if step == 1 else f"every {step} {unit}s"


def _nth_pace(step: int, unit: str) -> str:
    return f"every {unit}" if step == 1 else f"every {_ordinal(step)} {unit} from 0"


def _named(unit: str, values: Sequence[int]) -> str:
    return f"{unit}{'s' if len(values) > 1 else ''} {_listed(values)}"


def _days(rule: DayRule) -> str:
    """Nothing if that is every day."""
    dates = "" if rule.dates == ALL_DATES else joined(_dates(rule))
    weekdays = [] if rule.weekdays == ALL_WEEKDAYS else _weekdays(rule)
    if dates and weekdays:
        if rule.both:
            return f"on {dates}, but only if that is {joined(weekdays, 'or')}"
        return f"on {dates} or on {joined(weekdays)}"
    if not rule.both or not (dates or weekdays):
        return ""
    return f"on {dates or joined(weekdays)}"


def _dates(rule: DayRule) -> list[str]:
    said = [f"{_named('day', sorted(rule.dates))} of the month"] if rule.dates else []
    said += [f"the {_ordinal(back)} day before the last of the month" for back in sorted(rule.before_last) if back]
    said += ["the last day of the month"] if 0 in rule.before_last else []
    said += [f"the weekday (Monday to Friday) nearest to day {day} of the month" for day in sorted(rule.nearest)]
    if rule.last_workday:
        said.append("the last weekday (Monday to Friday) of the month")
    return said


def weekdays(numbers: Iterable[int]) -> str:
    """Such as "Monday to Friday and Sunday", of 0 (Sunday) to 6."""
    return _listed(sorted((number - 1) % 7 for number in numbers), WEEKDAYS)


def _weekdays(rule: DayRule) -> list[str]:
    said = [weekdays(rule.weekdays)] if rule.weekdays else []
    return said + [f"the {NTH[n]} {WEEKDAYS[(weekday - 1) % 7]} of the month" for weekday, n in sorted(rule.nth)]


def _listed(values: Sequence[int], names: Sequence[str] | None = None) -> str:
    """Names or numbers in a row, with three or more neighbours as "a to b"."""
    runs: list[list[int]] = []
    for value in values:
        if runs and runs[-1][-1] == value - 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    said: list[str] = []
    for run in runs:
        named = [names[value] if names else str(value) for value in run]
        said += [f"{named[0]} to {named[-1]}"] if len(run) > 2 else named
    return joined(said)


def joined(parts: Sequence[str], word: str = "and") -> str:
    """Such as "a, b and c"."""
    return f" {word} ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)


def _ordinal(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
