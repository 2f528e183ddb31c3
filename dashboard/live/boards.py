"""The boards of one web process: which are stale, and reading them again, once for all sockets.

Runs on the relay's own thread, with a database connection of its own. `at` is monotonic seconds, `now` the wall clock.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from dashboard.live.board import Board
from dashboard.presentation.rows import Drawn, Gone
from dashboard.topics import Part, parts_of
from jobs import feed
from jobs.feed import FeedEvent, Position

# A board that nobody watches is kept for this long, so that who comes back gets the rest instead of all of it.
KEPT_SECONDS = 120.0
MOST_KEPT = 200
MOST_EVENTS = 1000


@dataclass(slots=True)
class _PartState:
    part: Part
    touched: bool = True
    ages: bool = True
    read_at: float = float("-inf")

    def due_at(self) -> float | None:
        if self.touched:
            return self.read_at + self.part.pause_seconds
        if self.part.refresh_seconds is not None and self.ages:
            return self.read_at + self.part.refresh_seconds
        return None


@dataclass(slots=True)
class _Watched:
    board: Board
    parts: list[_PartState]
    drawn: Drawn = field(default_factory=Drawn)
    seen_at: float = 0.0


class Boards:
    def __init__(self) -> None:
        self._boards: dict[str, _Watched] = {}
        self._watched: set[str] = set()
        self._position: Position | None = None
        self._data_version: int | None = None

    def board(self, topic: str) -> Board | None:
        found = self._boards.get(topic)
        return found.board if found else None

    def watch(self, topics: Collection[str], at: float) -> None:
        """From now on these are kept up to date, and only these. Raises UnknownTopicError."""
        for topic in topics:
            found = self._boards.get(topic)
            if found is None:
                found = _Watched(Board(topic), [_PartState(part) for part in parts_of(topic)], seen_at=at)
                self._boards[topic] = found
            elif found.seen_at < at and topic not in self._watched:
                _touch(found.parts)  # nobody followed the feed for it
                _read_soon(found.parts)  # the page that comes back knows more than it says
            found.seen_at = at
        self._watched = set(topics)
        self._forget(at)

    def hasten(self, wanted: Mapping[str, Iterable[tuple[str, int]]]) -> bool:
        """What is touched of these watched topics is read without its pause where a cursor has nothing of the board.

        Its page was just drawn, and must not be put back to what the board knew before. Returns if there is such a one.
        """
        boards = {topic: self._boards[topic] for topic in wanted}
        new = [boards[topic] for topic, cursors in wanted.items() if not all(map(boards[topic].board.knows, cursors))]
        for watched in new:
            _read_soon(watched.parts)
        return bool(new)

    def follow(self, *, woken: bool) -> list[FeedEvent]:
        """Read on in the feed and touch what its events change. Without `woken` only if the database has changed.

        Returns the events read, for those who follow single attempts.
        """
        version = feed.data_version()
        if self._position is not None and not woken and version is not None and version == self._data_version:
            return []
        if self._position is None:
            self._position, self._data_version = feed.head(), version
            self._touch_all()
            return []
        stretch = feed.after(self._position, MOST_EVENTS)
        # Kept only now: had that read failed, the next look would find nothing new.
        self._position, self._data_version = stretch.position, version
        if not stretch.whole or len(stretch.events) == MOST_EVENTS:
            # Too far behind to go through it one by one: read everything afresh, from the end of the feed on.
            self._position = feed.head()
            self._touch_all()
        for watched in self._boards.values():
            for state in watched.parts:
                state.touched = state.touched or any(state.part.touched_by(event) for event in stretch.events)
        return list(stretch.events)

    def rest(self) -> None:
        """Nobody watches anything: what happens from now on is not followed."""
        self._position = None
        self._watched = set()

    def read(self, now: datetime, at: float) -> None:
        """Read again all watched parts that are due."""
        position = str(self._position) if self._position else ""
        for topic in self._watched:
            watched = self._boards[topic]
            for state in watched.parts:
                due_at = state.due_at()
                if due_at is not None and due_at <= at:
                    self._read_part(watched, state, now, at, position)

    def due_at(self) -> float | None:
        """When `read` will next have something to do."""
        moments = (state.due_at() for topic in self._watched for state in self._boards[topic].parts)
        return min((moment for moment in moments if moment is not None), default=None)

    def _read_part(self, watched: _Watched, state: _PartState, now: datetime, at: float, position: str) -> None:
        state.touched, state.read_at = False, at
        try:
            regions = state.part.read(now)
            state.ages = state.part.ages(regions)
        except Gone as gone:
            regions, state.ages = {"notice": [("gone", gone)]}, False
        watched.board.put(watched.drawn.draw(regions, now), position)

    def _touch_all(self) -> None:
        for watched in self._boards.values():
            _touch(watched.parts)

    def _forget(self, at: float) -> None:
        unwatched = sorted((w.seen_at, topic) for topic, w in self._boards.items() if topic not in self._watched)
        for place, (seen_at, topic) in enumerate(unwatched):
            if at - seen_at > KEPT_SECONDS or place < len(unwatched) - MOST_KEPT:
                del self._boards[topic]


def _read_soon(states: Iterable[_PartState]) -> None:
    for state in states:
        state.read_at = float("-inf")


def _touch(states: Iterable[_PartState]) -> None:
    for state in states:
        state.touched = True
