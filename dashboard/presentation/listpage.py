"""Which page of a list is shown, in which order, and the addresses of the other pages and orders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from dashboard.jobsearch import JobQuery
from dashboard.schedulesearch import ScheduleQuery

Query = TypeVar("Query", JobQuery, ScheduleQuery)

PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class ListPage:
    """Page `query.page` of `pages`, of `total` rows; `first` and `last` count rows from 1 and are 0 where none is."""

    query: JobQuery | ScheduleQuery
    pages: int
    total: int

    @property
    def start(self) -> int:
        """How many rows come before it."""
        return (self.query.page - 1) * PER_PAGE

    @property
    def first(self) -> int:
        return min(self.total, self.start + 1)

    @property
    def last(self) -> int:
        return min(self.total, self.start + PER_PAGE)

    @property
    def before(self) -> str:
        """The address of the page before this one; empty on the first."""
        return self._address(self.query.page - 1) if self.query.page > 1 else ""

    @property
    def after(self) -> str:
        return self._address(self.query.page + 1) if self.query.page < self.pages else ""

    def _address(self, page: int) -> str:
        return replace(self.query, page=page).argument


GREATEST_FIRST = ("last", "skipped")  # of these the usual order begins with the newest, or the most


def page_of(query: Query, total: int) -> ListPage:
    """The page that is asked for; the last where that is beyond it."""
    pages = max(1, -(-total // PER_PAGE))
    return ListPage(replace(query, page=min(query.page, pages)), pages, total)


def sort_links(query: JobQuery | ScheduleQuery, sorts: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Address, word, and "up" or "down" if it is the order that is shown; then the link turns it round.

    Up is from A to Z, from early to late, from few to many.
    """
    first = {key: ("down", "up") if key in GREATEST_FIRST else ("up", "down") for key in sorts}
    shown = {key: dict(zip((key, f"-{key}"), first[key], strict=True)).get(query.sort, "") for key in sorts}
    return [(query.turned(key).argument, word, shown[key]) for key, word in sorts.items()]
