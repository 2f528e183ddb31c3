"""The name that was probably meant, for sentences that refuse one that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LONGEST_LIKELY = 200  # characters: what is longer is no slip of the pen, and costs to compare


def near(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Of the known names those that are written nearly like `name`, the nearest first."""
    return difflib.get_close_matches(name, known, n=most) if len(name) <= LONGEST_LIKELY else []


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """The end of such a sentence: a question where there is one, else `otherwise`."""
    likely = near(name, known)
    return f"did you mean {likely[0]}?" if likely else otherwise
