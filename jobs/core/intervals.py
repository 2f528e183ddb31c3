"""Reads how long it is from one fire to the next."""

from __future__ import annotations

import re
from datetime import timedelta

from jobs.core.invalid import EXPRESSION, InvalidSchedule

SHORTEST = timedelta(seconds=1)  # of the service; the embedded library allows anything above 0
LONGEST = timedelta(days=36_500)

INTERVAL = re.compile(
    r"((?P<days>[0-9]{1,12})d)? ?((?P<hours>[0-9]{1,12})h)? ?((?P<minutes>[0-9]{1,12})m)? ?((?P<seconds>[0-9]{1,12})s)?"
)
FRACTION = re.compile(r"([0-9]{0,12}\.[0-9]{1,6})s?")


def parse_interval(text: str, shortest: timedelta = SHORTEST) -> timedelta:
    """Reads 30s, 5m, 2h, 1d, 1h30m or plain seconds; up to a hundred years. Raises InvalidSchedule.

    shortest: what is shorter is refused; if that is below one second, fractions such as 0.25s are read too
    """
    text = text.strip()
    fraction = FRACTION.fullmatch(text) if shortest < SHORTEST else None
    if fraction:
        return check_interval(timedelta(seconds=float(fraction[1])), shortest, text)
    match = INTERVAL.fullmatch(f"{text}s" if text.isdecimal() else text)
    if not text or not match:
        raise InvalidSchedule(
            EXPRESSION, f"{text!r} is no interval; expected such as 30s, 5m, 2h, 1d, 1h30m, or whole seconds."
        )
    try:
        every = timedelta(**{unit: int(number) for unit, number in match.groupdict().items() if number})
    except OverflowError:
        every = timedelta.max
    return check_interval(every, shortest, text)


def check_interval(every: timedelta, shortest: timedelta = SHORTEST, text: str = "") -> timedelta:
    """The interval itself. Raises InvalidSchedule if it is shorter than `shortest`, not above 0, or too long."""
    if not max(shortest, timedelta.resolution) <= every <= LONGEST:
        given = repr(text or str(every))
        if every < SHORTEST and shortest < SHORTEST:
            raise InvalidSchedule(EXPRESSION, f"{given} is not above 0 seconds.")
        raise InvalidSchedule(EXPRESSION, f"{given} is not between 1 second and {LONGEST.days:,} days.")
    return every
