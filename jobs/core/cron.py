"""Reads cron expressions: five fields, or six with seconds first, or an alias such as @daily.

croniter reads the fields; `cronfields` says what may be written, and between them they read it by our rule:

- What croniter accepts and we do not is refused before it sees it: reversed ranges, seven fields, random `R`.
- What it reads otherwise is spelled so that there is no doubt: `5-5` is the value 5 (it reads the whole field),
  `a/s` becomes a range, `FRI-SUN` ends on day 7.
- What it refuses or cannot combine is read here: `5L`, `L-n`, `LW`, `nW` in a list, `1,3#1`.

The next fire is not asked of croniter but found by `walltimes` and `daylight`, which are shorter than what it would
take to correct it: in gaps and folds it differs from our rule, its day rule cannot say ours, it looks fifty years
ahead where there is nothing to find, and takes 25-100 us where we take 10. Tests hold both side by side where
both have the same rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from croniter import CroniterError, croniter

from jobs.core.cronfields import DATE, HOUR, MINUTE, MONTH, SECOND, WEEKDAY, Checked
from jobs.core.days import LAST, DayRule
from jobs.core.invalid import EXPRESSION, InvalidSchedule
from jobs.core.walltimes import WallTimes

LONGEST = 1000  # characters; every value of six fields written out takes 570

ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


def parse_cron(expression: str, hash_id: str = "") -> WallTimes:
    """The wall times of a cron expression. `hash_id`: what `H` is hashed from. Raises InvalidSchedule."""
    texts = _split(expression)
    checked = [
        field.check(text) for field, text in zip((SECOND, MINUTE, HOUR, DATE, MONTH, WEEKDAY), texts, strict=True)
    ]
    _, minute, hour, date, month, weekday = checked
    if any(field.hashed for field in checked) and not hash_id:
        sentence = f"{expression!r} has an H, a value made from the schedule's id; there is none yet, give hash_id."
        raise InvalidSchedule(EXPRESSION, sentence)
    seconds, minutes, hours, dates, months, weekdays = _read(checked, hash_id)
    days = DayRule(
        months=months,
        dates=frozenset(dates),
        before_last=frozenset(int(item["back"] or 0) for item in date.special if item[0] == "l" or item["back"]),
        nearest=frozenset(int(item["near"]) for item in date.special if item["near"]),
        last_workday=any(item[0] == "lw" for item in date.special),
        weekdays=frozenset(weekdays),
        nth=frozenset(_nth(item) for item in weekday.special),
        both=date.starred or weekday.starred,
    )
    if not all(rule.ever() for rule in _whatever_hash(days, date, month)):
        some = " by some of the values that H may stand for" if date.hashed or month.hashed else ""
        raise InvalidSchedule(
            EXPRESSION, f"{expression!r} never fires{some}: no year has a day that its day and month fields allow."
        )
    return WallTimes(hours, minutes, seconds, days, wildcard=minute.text.startswith("*") or hour.text.startswith("*"))


def _whatever_hash(days: DayRule, date: Checked, month: Checked) -> Iterator[DayRule]:
    """The rules that the line may mean: it is saved before there is an id to hash, and must not depend on luck.

    Of dates the ones that begin last decide, for a month that lacks others lacks these too.
    """
    if date.hashed:
        days = replace(days, dates=frozenset({28} if date.text == "h" else DATE.hashes(date)[-1]))
    for months in MONTH.hashes(month) if month.hashed else [days.months]:
        yield replace(days, months=months)


def _split(expression: str) -> list[str]:
    if len(expression) > LONGEST:
        raise InvalidSchedule(
            EXPRESSION, f"The cron expression has {len(expression):,} characters; at most {LONGEST:,} are read."
        )
    text = expression.strip(" \t\r\n")
    if text.startswith("@"):
        if text.lower() not in ALIASES:
            raise InvalidSchedule(
                EXPRESSION, f"{expression!r} is no time that can be scheduled; expected one of {', '.join(ALIASES)}."
            )
        text = ALIASES[text.lower()]
    texts = re.split(r"[ \t]+", text) if text else []
    if len(texts) not in (5, 6):
        raise InvalidSchedule(
            EXPRESSION,
            "A cron expression has five fields (minute, hour, day of month, month, day of week), "
            f"or six with seconds first; {expression!r} has {len(texts)}.",
        )
    return texts if len(texts) == 6 else ["0", *texts]


def _read(checked: list[Checked], hash_id: str) -> list[tuple[int, ...]]:
    """The values of the plain items of each field, by croniter."""
    spelled = [",".join(field.plain) or "*" for field in checked]
    values = _expand(spelled, hash_id)
    if spelled[3] == "h" and values[3] > (28,):
        spelled[3] = "h(1-28)"  # else the job would have no day in a short month, without anyone having said so
        values = _expand(spelled, hash_id)
    return [read if field.plain else () for field, read in zip(checked, values, strict=True)]


def _expand(spelled: list[str], hash_id: str) -> list[tuple[int, ...]]:
    expression = " ".join(spelled)
    try:
        expanded, _ = croniter.expand(expression, hash_id=hash_id.encode() or None, second_at_beginning=True)
    except CroniterError as error:
        raise InvalidSchedule(EXPRESSION, f"{expression!r} is refused by croniter: {error}") from error
    minutes, hours, dates, months, weekdays, seconds = expanded
    fields = zip((SECOND, MINUTE, HOUR, DATE, MONTH), (seconds, minutes, hours, dates, months), strict=True)
    ranges = [(read, range(field.low, field.high + 1)) for field, read in fields]
    ranges.append((weekdays, range(7)))
    return [tuple(n for n in whole if read == ["*"] or n in read) for read, whole in ranges]


def _nth(item: re.Match[str]) -> tuple[int, int]:
    weekday = WEEKDAY.value(item["nth"] or item["last"], item[0]) % 7
    return weekday, int(item["n"]) if item["nth"] else LAST
