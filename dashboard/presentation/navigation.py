"""The pages that the header of each page leads to."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.urls import reverse


@dataclass(frozen=True, slots=True)
class Page:
    name: str  # of its address in dashboard/urls.py
    word: str
    key: str  # "g" and then this letter goes there
    icon: str
    address: str = ""
    current: str = ""  # "page" on it, "true" on a page below it; for aria-current


PAGES = (
    Page("overview", "Overview", "o", "grid"),
    Page("jobs", "Jobs", "j", "list"),
    Page("instances", "Instances", "i", "runs"),
    Page("schedules", "Schedules", "s", "calendar"),
    Page("forecast", "Forecast", "f", "pulse"),
    Page("nodes", "Nodes", "n", "chip"),
    Page("new-job", "New job", "c", "plus"),
)


def pages_seen_from(path: str, part_of: str = "") -> list[Page]:
    """All of PAGES with their addresses; the current one is `part_of` if named, else what `path` is or lies below."""
    pages = [replace(page, address=reverse(page.name)) for page in PAGES]
    around = [page for page in pages if (page.name == part_of if part_of else _holds(page, path))]
    here = max(around, key=lambda page: len(page.address), default=None)
    current = "page" if here and here.address == path else "true"
    return [replace(page, current=current) if page is here else page for page in pages]


def _holds(page: Page, path: str) -> bool:
    """Every address begins as the overview's does, and none is a part of the overview."""
    return path == page.address or (page.name != "overview" and path.startswith(page.address))
