"""The growing log of an instance's latest attempt, read from the file where a socket is, never kept in memory."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jobs.execution import log, loglines
from jobs.execution.rundir import BrokenFileError

FRAME_BYTES = 48 * 1024
# A page that is further behind than this gets the end and a word about what it did not get: a flood must not pile up.
MOST_BEHIND = 192 * 1024
SOUGHT_EACH_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class LogCursor:
    """How far a page is: byte `offset` of attempt `attempt` (0: none yet), and whether it knows that this is all."""

    attempt: int = 0
    offset: int = 0
    complete: bool = False


@dataclass(frozen=True, slots=True)
class LogPlace:
    """Where the log of an attempt is kept."""

    attempt: int
    path: Path


class LogTail:
    """Frames of one topic `log:<instance>`. `place` is None while the instance has no attempt."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.place: LogPlace | None = None
        self._next: dict[LogCursor, tuple[str, LogCursor]] = {}

    def read(self, cursors: Iterable[LogCursor]) -> bool:
        """Look what each of these pages could get now; reads files. True while the log may still grow."""
        self._next.clear()
        if self.place is None:
            return False
        try:
            state = log.state(self.place.path)
        except BrokenFileError:  # a job wrote over its own result; it is put right when the attempt is settled
            return True
        for cursor in cursors:
            if found := self._read_one(self.place, cursor, state.end):
                self._next[cursor] = found
        return not state.complete

    def after(self, cursor: LogCursor) -> tuple[str, LogCursor] | None:
        """The next frame for a page at `cursor`, as far as the last `read` saw one."""
        return self._next.get(cursor)

    def _read_one(self, place: LogPlace, cursor: LogCursor, end: int) -> tuple[str, LogCursor] | None:
        new_attempt = cursor.attempt != place.attempt
        if cursor.complete and not new_attempt:
            return None
        asked = 0 if new_attempt else cursor.offset
        start = asked if end - asked <= MOST_BEHIND else end - FRAME_BYTES
        chunk = log.read_text(place.path, start, FRAME_BYTES)
        after = LogCursor(place.attempt, chunk.end, chunk.complete)
        if after == cursor:
            return None
        return self._frame(place, chunk, skipped=chunk.start - asked), after

    def _frame(self, place: LogPlace, chunk: log.TextChunk, skipped: int) -> str:
        return log_frame(self.topic, place, chunk, skipped)


def log_frame(topic: str, place: LogPlace, chunk: log.TextChunk, skipped: int) -> str:
    """The one form in which log text reaches a page, over the socket and over HTTP.

    `skipped` bytes before the text are not shown, and `dropped` of those are not kept either.
    """
    found = loglines.runs(place.path, chunk.start, chunk.end)
    return frame_of(topic, place, found, LogSpan(chunk.start, chunk.end, chunk.complete), skipped)


@dataclass(frozen=True, slots=True)
class LogSpan:
    """Which bytes a frame tells of; `complete`: nothing comes after them."""

    start: int
    end: int
    complete: bool


def frame_of(
    topic: str, place: LogPlace, found: list[loglines.Run], span: LogSpan, skipped: int, *, begins: bool = False
) -> str:
    """`begins`: nothing that is kept, of the stream that was asked for, is before it.

    `runs` tell of stretches of `text`: stream, milliseconds since the epoch, number of its first line, length in the
    units in which JavaScript counts.
    """
    texts = [run.text for run in found]
    runs = [[run.stream, round(run.at * 1000), run.line, _units(text)] for run, text in zip(found, texts, strict=True)]
    dropped = log.dropped_bytes(place.path, span.start - skipped, span.start) if skipped > 0 else 0
    return json.dumps(
        {
            "kind": "log",
            "topic": topic,
            "attempt": place.attempt,
            "start": span.start,
            "end": span.end,
            "skipped": max(0, skipped),
            "dropped": dropped,
            "text": "".join(texts),
            "runs": runs,
            "complete": span.complete,
            "begins": begins,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2
