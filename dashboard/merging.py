"""Two people edit one thing at once: what the later one typed, with what the other changed meanwhile."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from jobs.actions.forms import lines_alike


@dataclass(frozen=True, slots=True)
class Clash:
    """A field that somebody else changed; `theirs` is stored. `both`: it was changed in the form, too."""

    name: str
    label: str
    theirs: str
    both: bool


def seen_of(texts: Mapping[str, str]) -> str:
    """What a form shows, each field by a digest: enough to tell later what was typed and what somebody else changed."""
    return " ".join(f"{name}:{_digest(text)}" for name, text in texts.items())


def merged(
    posted: Mapping[str, str], stored: Mapping[str, str], labels: Mapping[str, str]
) -> tuple[dict[str, str], list[Clash]]:
    """The texts that are stored now with those that were typed into a form that showed them as they were (`seen`).

    What both changed stays as it was typed.
    """
    seen = _digests(posted.get("seen", ""))
    texts, clashes = {}, []
    for name, theirs in stored.items():
        mine = posted.get(name, theirs)
        is_mine = seen.get(name) != _digest(mine)
        if lines_alike(mine) != lines_alike(theirs) and seen.get(name) != _digest(theirs):
            clashes.append(Clash(name, labels[name], theirs, both=is_mine))
        texts[name] = mine if is_mine else theirs
    return texts, clashes


def _digest(text: str) -> str:
    return hashlib.sha256(lines_alike(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _digests(seen: str) -> dict[str, str]:
    pairs = (part.partition(":") for part in seen.split())
    return {name: digest for name, _, digest in pairs}
