"""The name that was probably meant, for sentences that refuse one that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LONGEST_LIKELY = 200  # characters: what is longer is no slip of the pen, and costs to compare


def near(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Of the known names those that have all words of `name`, the shortest first, else those that are written nearly
    like it, the nearest first.
    """
    if len(name) > LONGEST_LIKELY:
        return []
    known, words = list(known), _words(name)
    longer = sorted((one for one in known if words <= _words(one)), key=len)
    return longer[:most] or difflib.get_close_matches(name, known, n=most)


def _words(name: str) -> set[str]:
    return set(name.lower().split("_"))


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """The end of such a sentence: a question where there is one, else `otherwise`."""
    likely = near(name, known)
    return f"did you mean {likely[0]}?" if likely else otherwise
