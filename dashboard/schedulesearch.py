"""What the list of schedules is asked: which, in which order, which page.

The same words stand in the page's address and in its topic, so that what goes live is what was asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

from dashboard.formfields import WHENS
from dashboard.jobsearch import LARGEST_PAGE, LONGEST
from dashboard.qualifiers import unknown_qualifiers
from jobs.models import Schedule

STATES = {
    "": "All",
    "active": "Will fire",
    "paused": "Paused",
    "skipping": "Skipping",
    "faulty": "Set aside",
    "over": "Over",
}
TYPES = {str(kind.value): WHENS["at" if kind == Schedule.Type.ONCE else kind] for kind in Schedule.Type}
SORTS = {"next": "Next fire", "name": "Name", "last": "Last fire", "skipped": "Skipped"}


@dataclass(frozen=True, slots=True)
class ScheduleQuery:
    """`state` and `type` are keys of STATES and TYPES or empty; `sort` one of SORTS, with a minus the other way round.

    `page` counts from 1.
    """

    text: str = ""
    state: str = ""
    type: str = ""
    sort: str = "next"
    page: int = 1

    @property
    def argument(self) -> str:
        """As it stands in an address and a topic: no blanks, always in the same order."""
        return urlencode({"page": self.page, "sort": self.sort, "state": self.state, "type": self.type, "q": self.text})

    @property
    def problems(self) -> list[str]:
        """What makes no sense, in sentences; while there is one, nothing matches."""
        return unknown_qualifiers(self.text, (), "state and type are chosen beside it")

    @property
    def is_active(self) -> bool:
        return bool(self.text or self.state or self.type)

    def turned(self, sort: str) -> ScheduleQuery:
        """In that order from its first page; the other way round if it is in that order now."""
        return replace(self, sort=f"-{sort}" if self.sort == sort else sort, page=1)


def query_of(given: Mapping[str, str]) -> ScheduleQuery:
    """From an address; what makes no sense is as if not given, but the text is kept as it was typed."""
    page = given.get("page", "")
    sort = given.get("sort", "")
    return ScheduleQuery(
        text=given.get("q", "").replace("\0", "")[:LONGEST].strip(),
        state=_known(given.get("state", ""), STATES),
        type=_known(given.get("type", ""), TYPES),
        sort=sort if sort.removeprefix("-") in SORTS else "next",
        page=min(max(1, int(page)), LARGEST_PAGE) if page.isascii() and page.isdecimal() and len(page) < 10 else 1,
    )


def query_in(argument: str) -> ScheduleQuery:
    """From a topic: what `ScheduleQuery.argument` made."""
    return query_of(dict(parse_qsl(argument)))


def _known(given: str, known: Mapping[str, str]) -> str:
    return given if given in known else ""
