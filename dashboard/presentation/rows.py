"""Rows of regions: what a reader gives, and the HTML that is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.template.loader import get_template
from django.utils.safestring import SafeString, mark_safe

Row = tuple[str, Any]  # key, unique in its region; a frozen value
Regions = Mapping[str, Sequence[Row]]


@dataclass(frozen=True, slots=True)
class More:
    """How many rows a list does not show, and the query of the list that has them all."""

    count: str
    words: str
    query: str = ""


class Gone(Exception):  # an answer, not an accident
    """What a topic is about does not exist (any more). `sentence` is for the reader of the page."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def html_of(region: str, row: Row, now: datetime, inner: Regions | None = None) -> SafeString:
    """One row by the template templates/rows/<region>.html; `cores:3` is drawn as `cores`.

    `inner`: the page's regions, for a row that has regions in it; in a frame those stay empty and come by themselves.
    The only way to a row's HTML, so that no page and no frame can draw it differently.
    """
    key, value = row
    template = get_template(f"rows/{region.partition(':')[0]}.html")
    # Templates escape what they are given; this only says so for what they made.
    return mark_safe(template.render({"key": key, "row": value, "now": now, "regions": inner or {}}).strip())  # noqa: S308


class Drawn:
    """Draws the rows of one board, and those that have not changed only once."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, tuple[Any, str]]] = {}

    def draw(self, regions: Regions, now: datetime) -> dict[str, list[tuple[str, str]]]:
        return {name: self._region(name, rows, now) for name, rows in regions.items()}

    def _region(self, name: str, rows: Sequence[Row], now: datetime) -> list[tuple[str, str]]:
        before, after = self._known.get(name, {}), {}
        for key, value in rows:
            known = before.get(key)
            after[key] = known if known and known[0] == value else (value, str(html_of(name, (key, value), now)))
        self._known[name] = after
        return [(key, html) for key, (_, html) in after.items()]
