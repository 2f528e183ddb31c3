"""Reads raw values, such as a JSON body has them, one by one, and gathers everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar

from jobs.actions.answers import InvalidInput, Problem
from jobs.core.texts import fault_of, printable, shown, texts_in

__all__ = ["Reader", "fault_of", "printable", "shown", "texts_in"]

Default = TypeVar("Default", bound=float | None)
Whole = TypeVar("Whole", bound=int | None)
MOST_FAULTS = 5  # of one list, told one by one
LONGEST_SECONDS = 366 * 24 * 3600


class Reader:
    """Each method reads one field: its value, or `default` where it is missing, null or refused.

    A refused field costs the caller nothing but the problem that is noted; `check` raises them all at once.
    """

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw
        self.problems: list[Problem] = []

    def has(self, field: str) -> bool:
        return self.raw.get(field) is not None

    def refuse(self, field: str, expected: str, sentence: str) -> None:
        self.problems.append(Problem(printable(field), shown(self.raw.get(field)), expected, sentence))

    def expected(self, field: str, expected: str) -> None:
        """The plain refusal: what was given is not what is expected."""
        self.refuse(field, expected, f"{field} is {shown(self.raw.get(field))}, expected {expected}.")

    def check(self) -> None:
        if self.problems:
            raise InvalidInput(self.problems)

    def text(self, field: str, default: str = "", *, longest: int, lines: bool = False, tabs: bool = False) -> str:
        """Text of at most `longest` characters: one line, trimmed; with `lines` as it is, line breaks and all.

        `tabs`: they count as blanks, as in what is pasted from a crontab.
        """
        value = self.raw.get(field)
        if value is None:
            return default
        if not isinstance(value, str):
            self.expected(field, "text")
            return default
        if len(value) > longest:
            self.refuse(field, f"at most {longest:,} characters", f"{field} is longer than {longest:,} characters.")
            return default
        if tabs:
            value = value.replace("\t", " ")
        if fault := fault_of(value, lines=lines):
            self.refuse(field, "printable text", f"{field} contains {fault}; remove it.")
            return default
        return value if lines else value.strip()

    def whole(self, field: str, default: Whole, *, lowest: int, highest: int) -> int | Whole:
        value = self.raw.get(field)
        if value is None:
            return default
        # true is an int to Python, and 1.0 is a float to JSON.
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
            self.expected(field, f"a whole number from {lowest:,} to {highest:,}")
            return default
        return value

    def seconds(self, field: str, default: Default, *, zero: bool = True) -> float | Default:
        """A duration in seconds up to a year, fractions allowed; `zero` says whether 0 is one."""
        value = self.raw.get(field)
        if value is None:
            return default
        number = isinstance(value, int | float) and not isinstance(value, bool)
        # Neither NaN nor infinity lies within the bounds.
        if not number or not 0 <= value <= LONGEST_SECONDS or (value == 0 and not zero):
            least = "0" if zero else "above 0"
            self.expected(field, f"a number of seconds, {least} to {LONGEST_SECONDS:,}")
            return default
        return float(value)

    def flag(self, field: str, default: Default) -> bool | Default:
        value = self.raw.get(field)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.expected(field, "true or false")
            return default
        return value

    def choice(self, field: str, default: str, choices: Collection[str]) -> str:
        value = self.raw.get(field)
        if value is None:
            return default
        if not isinstance(value, str) or value.strip() not in choices:
            self.expected(field, f"one of {', '.join(choices)}")
            return default
        return value.strip()

    def texts(self, field: str, *, most: int, longest: int) -> tuple[str, ...]:
        """A list of short texts, trimmed, each once, in the order given."""
        value = self.raw.get(field)
        if value is None:
            return ()
        whole = isinstance(value, Sequence) and not isinstance(value, str)
        if not whole or len(value) > most:
            given = f"has {len(value):,} texts" if whole else f"is {shown(value)}"
            self.refuse(
                field, f"a list of at most {most} texts", f"{field} {given}, expected at most {most} in a list."
            )
            return ()
        faults = [(one, fault) for one in value if (fault := _fault_in_list(one, longest))]
        for one, fault in faults[:MOST_FAULTS]:
            expected = f"texts of 1 to {longest} printable characters without a comma"
            self.refuse(field, expected, f"{field}: {shown(one)} {fault}; expected {expected}.")
        return () if faults else tuple(dict.fromkeys(one.strip() for one in value))


def _fault_in_list(one: object, longest: int) -> str:
    """What is wrong with one of a list of texts, in words; empty when nothing is."""
    if not isinstance(one, str):
        return "is no text"
    if not one.strip():
        return "is blank"
    if len(one.strip()) > longest:
        return f"has {len(one.strip())} characters"
    if "," in one:
        return "has a comma"
    fault = fault_of(one)
    return f"contains {fault}" if fault else ""
