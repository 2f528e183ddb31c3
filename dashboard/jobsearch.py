"""What the list of jobs is asked: `tag:etl status:failed report`, in which order, which page.

    tag:etl  tag:"two words"    has the tag; several: has all of them
    status:failed  status:failed,timeout  status:never    how its newest instance is
    owner:ann                   who made it
    kind:script  kind:async     what runs, or where its callable runs: a key of KINDS
    is:paused  is:active  is:scheduled  is:trouble        as JOB_STATES says
    anything else               is part of its name or description, whatever the case; "x:y" in quotes, too

The same text stands in the page's address and in its topic, so that what goes live is what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from dashboard.qualifiers import unknown_qualifiers
from jobs.core.states import Status

QUALIFIERS = ("tag", "status", "owner", "kind", "is")
NEVER = "never"
KINDS: dict[str, dict[str, Any]] = {
    "script": {"kind__in": ("script", "script_path")},
    "command": {"kind": "command"},
    "callable": {"kind": "callable"},
    "process": {"kind": "callable", "execution_model": "process"},
    "thread": {"execution_model": "thread"},
    "async": {"execution_model": "async"},
}
STATUS_WORDS = (*(status.value for status in Status), NEVER)
JOB_STATES = {
    "paused": "paused by somebody",
    "active": "not paused",
    "scheduled": "will fire by itself",
    "trouble": "its schedule is set aside, or fires were skipped in a row",
}
SORTS = {"name": "Name", "last": "Last run", "next": "Next run"}
LONGEST = 200
MOST_WORDS = 12
LARGEST_PAGE = 10**6

_WORD = re.compile(r'(?:(\w+):)?(?:"([^"]*)"|(\S+))')


@dataclass(frozen=True, slots=True)
class JobSearch:
    """`problems` are sentences about what makes no sense; while there is one, nothing matches."""

    words: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    statuses: tuple[tuple[str, ...], ...] = ()
    owners: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JobQuery:
    """`sort` is a key of SORTS, with a minus for the other way round; `page` counts from 1."""

    text: str = ""
    sort: str = "name"
    page: int = 1

    @property
    def argument(self) -> str:
        """As it stands in an address and a topic: no blanks, always in the same order."""
        return urlencode({"page": self.page, "sort": self.sort, "q": self.text})

    def turned(self, sort: str) -> JobQuery:
        """In that order from its first page; the other way round if it is in that order now."""
        return replace(self, sort=f"-{sort}" if self.sort == sort else sort, page=1)

    @property
    def is_costly(self) -> bool:
        """Whether every job must be looked at to answer it: not to be asked again with each event."""
        return bool(self.text) or self.sort.lstrip("-") != "name"


def query_of(given: Mapping[str, str]) -> JobQuery:
    """From an address; what makes no sense is as if not given, but the text is kept as it was typed."""
    sort, page = given.get("sort", ""), given.get("page", "")
    return JobQuery(
        text=given.get("q", "").replace("\0", "")[:LONGEST].strip(),
        sort=sort if sort.removeprefix("-") in SORTS else "name",
        page=min(max(1, int(page)), LARGEST_PAGE) if page.isascii() and page.isdecimal() and len(page) < 10 else 1,
    )


def query_in(argument: str) -> JobQuery:
    """From a topic: a page's number, or what `JobQuery.argument` made."""
    return query_of({"page": argument} if argument.isdecimal() else dict(parse_qsl(argument)))


def search_of(text: str) -> JobSearch:
    """What the text asks. An unknown qualifier is a problem; in quotes it is a plain word: names have colons too."""
    found: dict[str, list[str]] = {name: [] for name in ("", *QUALIFIERS)}
    for match in list(_WORD.finditer(text))[:MOST_WORDS]:
        qualifier, value = match[1] or "", match[3] if match[2] is None else match[2]
        if qualifier.lower() in QUALIFIERS:
            found[qualifier.lower()].append(value)
        elif value or qualifier:
            found[""].append(f"{qualifier}:{value}" if qualifier else value)
    statuses = [tuple(value.lower().split(",")) for value in found["status"]]
    states = [value.lower() for value in found["is"]]
    problems = _unknown("status", [word for words in statuses for word in words], STATUS_WORDS)
    problems += _unknown("is", states, tuple(JOB_STATES))
    kinds = [value.lower() for value in found["kind"]]
    problems += _unknown("kind", kinds, tuple(KINDS))
    problems += unknown_qualifiers(text, QUALIFIERS, f"known are {', '.join(f'{name}:' for name in QUALIFIERS)}")
    return JobSearch(
        words=tuple(found[""]),
        tags=tuple(found["tag"]),
        statuses=tuple(statuses),
        owners=tuple(found["owner"]),
        kinds=tuple(kinds),
        states=tuple(states),
        problems=tuple(problems),
    )


def _unknown(qualifier: str, given: list[str], known: tuple[str, ...]) -> list[str]:
    listed = ", ".join(known)
    return [f"{qualifier}:{word} says nothing; known are {listed}." for word in given if word not in known]
