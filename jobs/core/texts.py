"""Texts that people gave: what of them may be stored, and how a sentence repeats them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

LONGEST_SHOWN = 100

# What a database cannot store as text, and what a line shown to people must not hold: controls, line and paragraph
# separators, marks that turn the reading direction.
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
UNPRINTABLE = re.compile("[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def fault_of(text: str, *, lines: bool = False) -> str:
    """The first character of the text that may not be in it, in words; empty when there is none."""
    found = (UNSTORABLE if lines else UNPRINTABLE).search(text)
    if found is None:
        return ""
    surrogate = "\ud800" <= found[0] <= "\udfff"
    return f"{'half of a surrogate pair' if surrogate else 'the control character'} U+{ord(found[0]):04X}"


def texts_in(value: object) -> Iterator[str]:
    """All texts of a JSON value, names and values, however deep it goes."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            left += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            left += one


def shown(value: object) -> str:
    """A value as JSON, cut short, without what cannot be printed."""
    if isinstance(value, str):
        value = printable(value)
    elif isinstance(value, Sequence | Mapping) and len(value) > LONGEST_SHOWN:
        return f"a {'list' if isinstance(value, Sequence) else 'mapping'} of {len(value):,}"
    try:
        text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= LONGEST_SHOWN else f"{printable(text)[:LONGEST_SHOWN]}…"


def printable(text: str) -> str:
    """The beginning of the text, with a ? for each half of a surrogate pair: UTF-8 has no bytes for one."""
    return text[: LONGEST_SHOWN + 1].encode("utf-8", "replace").decode()
