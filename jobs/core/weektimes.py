"""Reads times of day and days of the week, as schedules and calendars write them."""

from __future__ import annotations

import re
from datetime import time

from jobs.core.cronfields import WEEKDAYS
from jobs.core.invalid import EXPRESSION, InvalidSchedule

CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
FULL_NAMES = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
NAMES = WEEKDAYS | {name: number for number, name in enumerate(FULL_NAMES)}


def parse_clock(text: str, field: str = EXPRESSION) -> time:
    """Reads HH:MM or HH:MM:SS. Raises InvalidSchedule, for `field`."""
    match = CLOCK.fullmatch(text)
    if not match:
        raise InvalidSchedule(field, f"{text!r} is no time of day; expected HH:MM or HH:MM:SS, from 00:00 to 23:59:59.")
    hour, minute, second = (int(part or 0) for part in match.groups())
    return time(hour, minute, second)


def parse_weekdays(text: str, field: str = EXPRESSION, example: str = "{} 09:30") -> frozenset[int]:
    """Reads such as mon,wed,fri or mon-fri: 0 (Sunday) to 6. Raises InvalidSchedule, for `field`.

    example: how days are written there, for the sentence
    """
    return frozenset(day for item in text.lower().split(",") for day in _range(item, text, field, example))


def _range(item: str, text: str, field: str, example: str) -> set[int]:
    """One name, or a range of two. The week may begin on Monday or Sunday: both mon-sun and sun-sat are ranges."""
    low, dash, high = item.partition("-")
    said = repr(item) if item == text.lower() else f"{text!r}: {item!r}"
    if low not in NAMES or (dash and high not in NAMES):
        listed, ranged = (repr(example.format(days)) for days in ("mon,wed,fri", "mon-fri"))
        raise InvalidSchedule(field, f"{said} is no weekday; expected such as {listed} or {ranged}.")
    first, last = NAMES[low], NAMES[high if dash else low]
    if last == 0 and first > 0:
        last = 7
    if last < first:
        two = repr(example.format("sat-sun,mon-tue"))
        raise InvalidSchedule(field, f"{said} runs backwards; write two ranges, such as {two}.")
    return {day % 7 for day in range(first, last + 1)}
