"""The filter of the list of instances: what its address says, read strictly, and said again the same way.

What cannot be read is never left out silently: "all that match" must not mean more than the reader sees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from urllib.parse import urlencode

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.http import QueryDict

from dashboard.qualifiers import unknown_qualifiers
from jobs.core.states import Status

T = TypeVar("T")

WITHIN = {
    "1h": ("Last hour", timedelta(hours=1)),
    "24h": ("Last 24 hours", timedelta(days=1)),
    "7d": ("Last 7 days", timedelta(days=7)),
    "30d": ("Last 30 days", timedelta(days=30)),
}
LONGEST = 200
LONGEST_QUERY = 2500  # it is part of the name of a topic
LARGEST_CODE = 2**31 - 1
LARGEST_ID = 2**63 - 1
TEXTS = ("q", "job", "tag", "node")
FIELDS = (*TEXTS, "within", "from", "to", "exit")


@dataclass(frozen=True, slots=True)
class InstanceFilter:
    """`typed` is what was typed, by field; `problems` are sentences by field, and with any of them nothing matches.

    `unknown` are statuses that there are not: its query says them again, so that it is never read as one without them.
    `since` and `until` are aware moments in UTC; `within` is a key of WITHIN or empty.
    """

    statuses: tuple[Status, ...] = ()
    typed: dict[str, str] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    exit_code: int | None = None
    problems: dict[str, str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    def text(self, name: str) -> str:
        """What was typed there; empty when nothing was."""
        return self.typed.get(name, "")

    @property
    def phrase(self) -> str:
        """The text to find, without the quotes around it."""
        text = self.text("q")
        return text[1:-1] if len(text) > 2 and text[0] == text[-1] == '"' else text

    @property
    def is_active(self) -> bool:
        return bool(self.statuses or self.typed or self.problems)

    @property
    def query(self) -> str:
        """As it stands in an address and in a topic: no blanks, always in the same order."""
        given = [(name, self.typed[name]) for name in FIELDS if name in self.typed]
        statuses = (*(status.value for status in self.statuses), *self.unknown)
        return urlencode([*(("status", status) for status in statuses), *given])

    def beginning(self, now: datetime) -> datetime | None:
        """The moment before which what has ended does not match."""
        return now - WITHIN[self.text("within")][1] if self.text("within") else self.since


@dataclass(frozen=True, slots=True)
class Cursor:
    """A page below the id `before`, or one above the id `after` (0: the oldest of all), or else the newest."""

    before: int | None = None
    after: int | None = None


def read_filter(given: QueryDict) -> InstanceFilter:
    """Never raises: what is wrong is in `problems`."""
    typed = {name: value for name in FIELDS if (value := given.get(name, "").strip())}
    problems = {name: _TOO_LONG.format(name) for name, value in typed.items() if _unreadable(value)}
    reader = _Reader(typed, problems)
    names = set(given.getlist("status"))
    unknown = tuple(sorted(names - set(_STATUSES)))
    if unknown:
        problems["status"] = f"There is no such status; known are {', '.join(_STATUSES)}."
    if "q" not in problems and (odd := unknown_qualifiers(typed.get("q", ""), (), _FIELDS_BELOW)):
        problems["q"] = " ".join(odd)
    since, until = reader.field("from", _moment), reader.field("to", _moment)
    exit_code = reader.field("exit", _exit_code)
    if typed.get("within", "24h") not in WITHIN:
        problems["within"] = f"The time is one of {', '.join(WITHIN)}; choose one of the list."
    if since and until and since > until:
        problems["to"] = "The end lies before the beginning; swap them."
    statuses = tuple(status for status in Status if status.value in names)
    read = InstanceFilter(statuses, typed, since, until, exit_code, problems, unknown)
    return read if len(read.query) <= LONGEST_QUERY else _too_much()


def filter_in(query: str) -> InstanceFilter:
    """The filter that a query says; one that says far too much has a problem, too."""
    try:
        return read_filter(QueryDict(query))
    except (RequestDataTooBig, TooManyFieldsSent):
        return _too_much()


def cursor_in(query: str) -> Cursor:
    try:
        return read_cursor(QueryDict(query))
    except (RequestDataTooBig, TooManyFieldsSent):
        return Cursor()


def read_cursor(given: QueryDict) -> Cursor:
    """An address that makes no sense is that of the newest page."""
    before, after = whole_number(given.get("before", "")), whole_number(given.get("after", ""))
    return Cursor(before=before) if before is not None else Cursor(after=after)


def with_cursor(query: str, cursor: Cursor) -> str:
    """The query of a filter with that of a page of it."""
    given = [(name, value) for name, value in (("before", cursor.before), ("after", cursor.after)) if value is not None]
    return "&".join(part for part in (query, urlencode(given)) if part)


def whole_number(text: str) -> int | None:
    """What an id may be, or None."""
    fine = text.isdecimal() and text.isascii() and len(text) < 20 and int(text) <= LARGEST_ID
    return int(text) if fine else None


def _too_much() -> InstanceFilter:
    return InstanceFilter(problems={"status": "The filter says too much; clear it and begin anew."}, unknown=("?",))


_TOO_LONG = f"This ({{}}) has over {LONGEST} characters or one that cannot be printed; shorten it."
_FIELDS_BELOW = "status, job, tag, node, time and exit code are chosen in the filter"
_STATUSES = [status.value for status in Status]


@dataclass(frozen=True, slots=True)
class _Reader:
    typed: dict[str, str]
    problems: dict[str, str]

    def field(self, name: str, read: Callable[[str], T]) -> T | None:
        """What `read` makes of it; a ValueError of it is the sentence that says what is wrong."""
        if name not in self.typed or name in self.problems:
            return None
        try:
            return read(self.typed[name])
        except ValueError as error:
            self.problems[name] = str(error)
            return None


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("This is no moment; give one such as 2026-11-30T14:05, in UTC.") from None


def _exit_code(text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isdecimal() and digits.isascii() and len(digits) <= 10 and abs(int(text)) <= LARGEST_CODE):
        raise ValueError("An exit code is a whole number such as 0 or 137.")
    return int(text)


def _unreadable(value: str) -> bool:
    # PostgreSQL refuses NUL in a text, and no encoding has halves of surrogate pairs.
    return len(value) > LONGEST or "\0" in value or any("\ud800" <= char <= "\udfff" for char in value)
