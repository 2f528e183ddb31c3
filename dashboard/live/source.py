"""All that the relay's thread reads: boards, logs and samples, for the topics that are watched now."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.utils import timezone

from dashboard.live.boards import Boards
from dashboard.live.hub import Cursor
from dashboard.live.loads import Loads
from dashboard.live.logs import SOUGHT_EACH_SECONDS, LogCursor, LogTail
from dashboard.live.places import latest_place
from dashboard.live.sampler import SAMPLED_EACH_SECONDS, Sampler
from dashboard.topics import LOAD, has_rows, is_log, number_in
from jobs.feed import FeedEvent

LOOK_SECONDS = 1.0  # for what another process has committed


@dataclass(slots=True)
class _WatchedLog:
    tail: LogTail
    instance_id: int
    grows: bool = True
    moved: bool = True
    wanted: bool = True
    read_at: float = float("-inf")

    def want(self, cursors: Collection[LogCursor]) -> None:
        """A log that has ended is still read for those who have not got all of it."""
        place = self.tail.place
        self.wanted = place is not None and any(not c.complete or c.attempt != place.attempt for c in cursors)

    def due_at(self) -> float | None:
        return self.read_at + SOUGHT_EACH_SECONDS if self.grows or self.wanted else None


class Source:
    """`read` on the relay's thread, `next_frame` on the loop, never both at once."""

    def __init__(self) -> None:
        self.boards = Boards()
        self._loads = Loads()
        self._sampler: Sampler | None = None
        self._sampled_at = float("-inf")
        self._looked_at = float("-inf")
        self._logs: dict[str, _WatchedLog] = {}

    def read(self, wanted: Mapping[str, Collection[Cursor]], *, woken: bool, at: float) -> float:
        """Read what is due for these topics; the cursors are those of sockets that may be sent something.

        Returns when there will be something to read again, if nothing is committed before.
        """
        self.boards.watch(list(filter(has_rows, wanted)), at)
        someone_came = self.boards.hasten({topic: wanted[topic] for topic in filter(has_rows, wanted)})
        if woken or someone_came or at >= self._looked_at + LOOK_SECONDS:
            self._looked_at = at
            self._follow(woken=woken)
        self.boards.read(timezone.now(), at)
        self._read_logs({topic: cursors for topic, cursors in wanted.items() if is_log(topic)}, at)
        moments = [self._looked_at + LOOK_SECONDS, self.boards.due_at(), *map(_WatchedLog.due_at, self._logs.values())]
        if LOAD in wanted:
            moments.append(self._sample(at))
        return min(moment for moment in moments if moment is not None)

    def next_frame(self, topic: str, cursor: Cursor) -> tuple[str, Cursor] | None:
        """What the hub asks for each socket: a look into what was read, nothing more."""
        if topic == LOAD:
            return self._loads.after(cursor)
        if is_log(topic):
            return self._logs[topic].tail.after(cursor) if topic in self._logs else None
        board = self.boards.board(topic)
        text = board.since(*cursor) if board else None
        return (text, (board.id, board.version)) if board and text else None

    def rest(self) -> None:
        """Nobody watches."""
        self.boards.rest()
        self._logs.clear()
        self._sampler = None
        self._looked_at = self._sampled_at = float("-inf")

    def _follow(self, *, woken: bool) -> None:
        events = self.boards.follow(woken=woken)
        for log in self._logs.values():
            log.moved = log.moved or any(_moves(event, log.instance_id) for event in events)

    def _read_logs(self, wanted: Mapping[str, Collection[Cursor]], at: float) -> None:
        for topic in self._logs.keys() - wanted.keys():
            del self._logs[topic]
        for topic, cursors in wanted.items():
            log = self._logs.get(topic) or _WatchedLog(LogTail(topic), number_in(topic, topic.partition(":")[2]))
            self._logs[topic] = log
            if log.moved:
                log.tail.place, log.moved = latest_place(log.instance_id), False
                log.grows, log.read_at = True, float("-inf")
            log.want(cursors)
            due_at = log.due_at()
            if due_at is not None and due_at <= at:
                log.grows, log.read_at = log.tail.read(cursors), at

    def _sample(self, at: float) -> float:
        """Returns when the next sample is due."""
        if at >= self._sampled_at + SAMPLED_EACH_SECONDS:
            self._sampler = self._sampler or Sampler()
            self._sampled_at = at
            self._sampler.sample_into(self._loads)
        return self._sampled_at + SAMPLED_EACH_SECONDS


def _moves(event: FeedEvent, instance_id: int) -> bool:
    return event.instance_id == instance_id
