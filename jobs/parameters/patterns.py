"""Patterns that texts must match, kept from taking hours.

Python's matcher tries one way to match after the other, and their number may double with each character. So it is
reckoned beforehand, no long text is matched, and what can have any number of ways is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from re import _constants, _parser  # type: ignore[attr-defined]  # the standard library has no public parser
from typing import Any

LONGEST_PATTERN = 200
LONGEST_MATCHED = 128  # with 256, what is taken at most took sixteen seconds, in which no other thread got on
# A repeat matches from so many lengths on, on average, if several share the text; four of them are still quick.
WAYS_OF_REPEAT = 64
MOST_WAYS = WAYS_OF_REPEAT**4
_ESCAPED_OR_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\$", re.DOTALL)
_REPEATS = {_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT}
_REFERENCES = {_constants.GROUPREF, _constants.GROUPREF_EXISTS}


class _TooSlowError(ValueError):
    """The message follows "has the pattern ... "."""


def matches(pattern: str, text: str) -> bool:
    """As JSON Schema has it: anywhere in the text, and `$` is its very end, not before a last line break."""
    return len(text) <= LONGEST_MATCHED and _compiled(pattern).search(text) is not None


def fault_of_pattern(pattern: str) -> str:
    """Why it is not taken, to follow "has the pattern ... "; empty if it is."""
    if len(pattern) > LONGEST_PATTERN:
        return f"of {len(pattern):,} characters, expected at most {LONGEST_PATTERN}"
    try:
        parsed = _parser.parse(_strict_end(pattern))
        ways = _ways_of_all(parsed)
    except (re.error, OverflowError, RecursionError) as error:
        return f"that cannot be read ({error})"
    except _TooSlowError as error:
        return str(error)
    if ways * (1 if _is_bound(parsed) else WAYS_OF_REPEAT) > MOST_WAYS:
        return (
            "which can match in too many ways and may take hours; "
            "begin it with ^, and write fewer repeats and alternatives"
        )
    return ""


def shortest_match(pattern: str) -> int:
    """How many characters a text has at least that it matches. Give one without a fault."""
    shortest: int = _parser.parse(_strict_end(pattern)).getwidth()[0]
    return shortest


def _is_bound(parsed: Any) -> bool:
    """To the beginning, in all of its alternatives; else it is tried from each character on."""
    begins = bool(parsed) and parsed[0] == (_constants.AT, _constants.AT_BEGINNING)
    return begins and not parsed.state.flags & re.MULTILINE


def _ways_of_all(parsed: Any) -> int:
    """In how many ways it may match, roughly, up to MOST_WAYS + 1."""
    ways = 1
    for operation, argument in parsed:
        ways = min(ways * _ways(operation, argument), MOST_WAYS + 1)
    return ways


def _ways(operation: Any, argument: Any) -> int:
    if operation in _REFERENCES:
        raise _TooSlowError("with a reference back to a group, which may take hours to match; write it without")
    if operation in _REPEATS:
        low, high, inner = argument
        return _ways_of_repeat(low, high, _ways_of_all(inner))
    within = [_ways_of_all(part) for part in _parts(argument)]
    if operation is _constants.BRANCH:
        return sum(within)
    return within[0] if within else 1


def _ways_of_repeat(low: int, high: int, inner: int) -> int:
    if inner == 1:
        return min(high - low + 1, WAYS_OF_REPEAT)
    if high > WAYS_OF_REPEAT:
        raise _TooSlowError("with a repeat inside a repeat, which may take hours to match; write it without")
    ways: int = sum(inner**times for times in range(low, high + 1))
    return min(ways, MOST_WAYS + 1)


def _parts(argument: Any) -> Iterator[Any]:
    """The patterns in what an operation is done to."""
    if isinstance(argument, _parser.SubPattern):
        yield argument
    elif isinstance(argument, list | tuple):
        for one in argument:
            yield from _parts(one)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_strict_end(pattern))


def _strict_end(pattern: str) -> str:
    return _ESCAPED_OR_CLASS.sub(lambda found: r"\Z" if found[0] == "$" else found[0], pattern)
