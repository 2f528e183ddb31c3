"""What may be written in one field of a cron expression, and the refusal that names the field and the reason.

*   n   a-b   */s   a-b/s   a/s (to the end of the field)   lists of these   names of months and weekdays
H   H(a-b)   H/s   H(a-b)/s    a value hashed from the schedule's id; alone in its field
?                              day of month or day of week: as *
L   L-n   LW   nW              day of month: last, n before the last, last workday, workday nearest to n
d#n   dL                       day of week: the nth, the last such weekday of the month
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from jobs.core.invalid import EXPRESSION, InvalidSchedule

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
MONTHS = {name: number for number, name in enumerate(_MONTHS, 1)}
WEEKDAYS = {name: number for number, name in enumerate(_WEEKDAYS)}

PLAIN = re.compile(r"(?P<low>\*|[0-9]+|[a-z]{3})(?:-(?P<high>[0-9]+|[a-z]{3}))?(?:/(?P<step>[0-9]+))?")
HASHED = re.compile(r"h(?:\((?P<low>[0-9]+)-(?P<high>[0-9]+)\))?(?:/(?P<step>[0-9]+))?")
SPECIAL_DATE = re.compile(r"l|lw|l-(?P<back>[0-9]+)|(?P<near>[0-9]+)w")
SPECIAL_WEEKDAY = re.compile(r"(?P<nth>[0-9]+|[a-z]{3})#(?P<n>[0-9]+)|(?P<last>[0-9]+|[a-z]{3})l")


class Checked(NamedTuple):
    """A field that may be read. `plain` is spelled in numbers, for croniter; `special` are the L, W and # items."""

    text: str
    plain: tuple[str, ...]
    special: tuple[re.Match[str], ...] = ()

    @property
    def starred(self) -> bool:
        return self.text.startswith(("*", "?"))

    @property
    def hashed(self) -> bool:
        return self.text.startswith("h")


@dataclass(frozen=True)
class Field:
    name: str
    low: int
    high: int
    expected: str
    names: Mapping[str, int] = field(default_factory=dict)
    special: re.Pattern[str] | None = None

    def check(self, text: str) -> Checked:
        """Raises InvalidSchedule."""
        text = text.lower()
        if text == "?" and self.special is not None:
            return Checked(text, ("*",))
        hashed = HASHED.fullmatch(text)
        if hashed:
            return Checked(text, (self._hashed(hashed),))
        plain, special = [], []
        for item in text.split(","):
            match = self.special.fullmatch(item) if self.special else None
            if match:
                special.append(self._special(match))
            else:
                plain.append(self._plain(item, text))
        return Checked(text, tuple(plain), tuple(special))

    def hashes(self, given: Checked) -> list[tuple[int, ...]]:
        """All that an H may stand for, by the first value."""
        match = HASHED.fullmatch(given.text)
        assert match is not None, "asked only of an H"  # noqa: S101 - for mypy
        low, high = int(match["low"] or self.low), int(match["high"] or self.high)
        step = int(match["step"] or high)
        return [tuple(range(first, high + 1, step)) for first in range(low, min(high, low + step - 1) + 1)]

    def value(self, text: str, item: str) -> int:
        """The number of a name or a number, within the field. Sunday may be 0 or 7."""
        number = int(text) if text.isdigit() else self.names.get(text)
        if number is None:
            raise self.refusal(item, f"is not understood; {self.expected}")
        if not self.low <= number <= self.high:
            raise self.refusal(item, f"is out of range; {self.expected}")
        return number

    def refusal(self, item: str, reason: str) -> InvalidSchedule:
        return InvalidSchedule(EXPRESSION, f"Cron field {self.name}: {item!r} {reason}.")

    def _plain(self, item: str, text: str) -> str:
        match = PLAIN.fullmatch(item)
        if not item:
            raise self.refusal(text, "has an empty item; take the comma away or write a value beside it")
        if match is None or (match["low"] == "*" and match["high"]):
            raise self.refusal(item, f"is not understood; {self.expected}")
        step = self._step(match, item)
        if match["low"] == "*":
            return f"*/{step}"  # spelled so even for a bare star, which croniter forgets beside others in a list
        low, high = self._ends(match, item)
        if high < low:
            raise self.refusal(item, "runs backwards; write the smaller value first, or two ranges")
        return f"{low}-{high}/{step}" if high > low else str(low)

    def _ends(self, match: re.Match[str], item: str) -> tuple[int, int]:
        low = self.value(match["low"], item)
        if not match["high"]:
            if self.names is WEEKDAYS:
                low %= 7
            last = 6 if self.names is WEEKDAYS else self.high
            return low, last if match["step"] else low
        high = self.value(match["high"], item)
        if match["high"] == "sun" and low > 0:
            high = 7  # FRI-SUN is Friday to Sunday, though SUN alone is 0
        return low, high

    def _step(self, match: re.Match[str], item: str) -> int:
        step = int(match["step"] or 1)
        if step == 0:
            raise self.refusal(item, "has a step of 0; the least is 1")
        return step

    def _hashed(self, match: re.Match[str]) -> str:
        self._step(match, match[0])
        if not match["low"]:
            return match[0]
        low, high = self.value(match["low"], match[0]), self.value(match["high"], match[0])
        if high < low:
            raise self.refusal(match[0], "runs backwards; write the smaller value first")
        return match[0] if high > low else str(low)

    def _special(self, match: re.Match[str]) -> re.Match[str]:
        groups = match.groupdict()
        for name in ("near", "nth", "last"):
            if groups.get(name):
                self.value(groups[name], match[0])
        if groups.get("back") and int(groups["back"]) > 30:
            raise self.refusal(match[0], "goes back beyond a month; L-1 to L-30")
        if groups.get("n") and not 1 <= int(groups["n"]) <= 5:
            raise self.refusal(match[0], "asks for a weekday that no month has; #1 to #5")
        return match


SECOND = Field("second", 0, 59, "expected 0 to 59, *, a-b, */n, H or a list")
MINUTE = Field("minute", 0, 59, "expected 0 to 59, *, a-b, */n, H or a list")
HOUR = Field("hour", 0, 23, "expected 0 to 23, *, a-b, */n, H or a list")
DATE = Field(
    "day of month", 1, 31, "expected 1 to 31, *, a-b, */n, L, L-n, LW, nW, H, ? or a list", special=SPECIAL_DATE
)
MONTH = Field("month", 1, 12, "expected 1 to 12, JAN to DEC, *, a-b, */n, H or a list", MONTHS)
WEEKDAY = Field(
    "day of week",
    0,
    7,
    "expected 0 to 7 (0 and 7 are Sunday), SUN to SAT, *, a-b, */n, d#n, dL, H, ? or a list",
    WEEKDAYS,
    SPECIAL_WEEKDAY,
)
