"""What one topic shows now, as rows with the version in which each last changed.

A frame for a socket is what changed since the version that it has: a slow one gets fewer frames, never a backlog, and
all sockets at the same version get the same string. A socket that was cut says its version and gets the rest.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Rows = Sequence[tuple[str, str]]  # (key, HTML) in the order in which they are shown


@dataclass(slots=True)
class _Region:
    order_version: int
    order: list[str] = field(default_factory=list)
    html: dict[str, str] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)


class Board:
    """`id` tells the life of this board: versions count from 1 in each, so one of another life says nothing here."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.id = secrets.token_hex(6)
        self.version = 0
        self._position = ""
        self._regions: dict[str, _Region] = {}
        self._frames: dict[int, str] = {}

    def put(self, regions: Mapping[str, Rows], position: str) -> bool:
        """Take the rows of some regions as they were at this position of the feed. True if anything has changed."""
        version = self.version + 1
        changes = [self._put_region(name, rows, version) for name, rows in regions.items()]
        self._position = position
        if any(changes):
            self.version = version
            self._frames.clear()
        return self.version == version

    def knows(self, cursor: tuple[str, int]) -> bool:
        """Whether this cursor (id, version) is of something that this board has sent."""
        return cursor[0] == self.id and cursor[1] > 0

    def since(self, board_id: str, version: int) -> str | None:
        """The frame, as JSON text, for a page that has `version` of board `board_id`; None if it is up to date."""
        known = version if board_id == self.id else 0
        if known >= self.version:
            return None
        if known not in self._frames:
            self._frames[known] = self._frame(known)
        return self._frames[known]

    def _put_region(self, name: str, rows: Rows, version: int) -> bool:
        region = self._regions.setdefault(name, _Region(version))
        html = dict(rows)
        order = list(html)
        fresh = [key for key in order if region.html.get(key) != html[key]]
        if order != region.order:
            region.order, region.order_version = order, version
        region.changed = {key: region.changed.get(key, version) for key in order} | dict.fromkeys(fresh, version)
        region.html = html
        return bool(fresh) or region.order_version == version

    def _frame(self, version: int) -> str:
        regions = {name: part for name, region in self._regions.items() if (part := _part(region, version))}
        return rows_frame(self.topic, regions, position=self._position, board=self.id, version=self.version)


def rows_frame(
    topic: str, regions: Mapping[str, Mapping[str, object]], *, position: str, board: str = "", version: int = 0
) -> str:
    """The one form in which rows reach a page, over the socket and over HTTP; docs/live-updates.md tells each field."""
    frame = {
        "kind": "rows",
        "topic": topic,
        "board": board,
        "version": version,
        "position": position,
        "regions": regions,
    }
    return json.dumps(frame, ensure_ascii=False, separators=(",", ":"))


def whole(rows: Rows) -> dict[str, object]:
    """All rows of a region, as a frame has them."""
    return {"order": [key for key, _ in rows], "rows": dict(rows)}


def _part(region: _Region, version: int) -> dict[str, object]:
    part: dict[str, object] = {}
    if region.order_version > version:
        part["order"] = region.order
    rows = {key: region.html[key] for key in region.order if region.changed[key] > version}
    return part | {"rows": rows} if rows else part
