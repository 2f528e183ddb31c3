"""Reading what a job printed, while it prints and afterwards. Offsets count bytes of both streams in order of reading.

`path` is always the run directory. A job may put anything into log/: what no runner writes there is passed over.
Standard library only.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jobs.execution.logwriter import (
    ENTRY,
    NOTICE,
    SEGMENT_ENTRIES,
    STDERR,
    STDOUT,
    SUFFIX_DATA,
    SUFFIX_INDEX,
    segment_name,
    unfinished_bytes,
)
from jobs.execution.rundir import LOG, RESULT, NotAFileError, RunDir

__all__ = ["NOTICE", "STDERR", "STDOUT", "Entry", "LogChunk", "LogState", "TextChunk", "dropped_bytes",
           "entries", "read", "read_text", "state", "tail", "tail_text"]  # fmt: skip

SEGMENT = re.compile(rf"([0-9]{{20}}){re.escape(SUFFIX_DATA)}")
MAX_ENTRY_BYTES = 16 << 20  # a segment is about a megabyte
LAST_MICROS = 4_102_444_800_000_000  # the year 2100: any later moment is none, and some have no date


@dataclass(frozen=True, slots=True)
class LogState:
    """`end`: offset after the last byte so far. `complete`: nothing will come any more."""

    end: int
    complete: bool
    lost_bytes: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class LogChunk:
    """Bytes from `start` up to `end`, all of them (or those of one stream). Read on from `end`.

    `start` is later than asked for if what was asked for is not kept: `dropped_ranges` tells which (start, end).
    """

    start: int
    end: int
    data: bytes
    dropped_ranges: tuple[tuple[int, int], ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A LogChunk as text: whole characters only. A character that is cut at `end` comes with the next chunk."""

    start: int
    end: int
    text: str
    dropped_ranges: tuple[tuple[int, int], ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """What came by one read of one stream; `at` is in seconds since the epoch."""

    offset: int
    at: float
    stream: int
    data: bytes


def state(path: Path | str) -> LogState:
    result = result_of(path)
    kept = segments(path)
    end = kept[-1][1] if kept else 0
    if result is None:
        return LogState(end, complete=False)
    said = result.get("log")
    facts = said if isinstance(said, dict) else {}
    error = facts.get("error")
    error = error if isinstance(error, str) else ""
    return LogState(max(end, whole(facts.get("bytes"))), True, whole(facts.get("lost_bytes")), error)


def whole(number: object) -> int:
    return max(0, number) if isinstance(number, int) else 0


def read(path: Path | str, start: int = 0, limit: int = 65536, stream: int | None = None) -> LogChunk:
    """At most `limit` bytes from `start` on, contiguous; with `stream`, those of them that it printed."""
    now = state(path)  # before the bytes: what is complete then cannot grow
    kept = segments(path)
    first = next((max(segment, start) for segment, end in kept if end > start), max(now.end, start))
    data, end = [], first
    for segment, segment_end in kept:
        if segment <= end < segment_end and end - first < limit:
            part = read_segment(path, segment, end - segment, limit - (end - first))
            data.append(part if stream is None else of_stream(path, segment, end, part, stream))
            end += len(part)
    if end == first < (kept[-1][1] if kept else 0):  # its segment was dropped while we looked
        return read(path, start, limit, stream)
    dropped = ((start, first),) if first > start else ()
    return LogChunk(first, end, b"".join(data), dropped, now.complete and end >= now.end)


def read_text(path: Path | str, start: int = 0, limit: int = 65536, stream: int | None = None) -> TextChunk:
    """`read`, decoded as UTF-8; only bytes that are none become U+FFFD. `limit` is at least 4."""
    chunk = read(path, start, max(limit, 4))
    cut = leading_rest(chunk.data) if chunk.start > 0 else 0
    waits = unfinished_bytes(chunk.data) if len(chunk.data) > 3 and not chunk.complete else 0
    first, end = chunk.start + cut, chunk.end - waits
    data = chunk.data[cut : len(chunk.data) - waits]
    if stream is not None and first < end:
        data = read(path, first, end - first, stream).data
    text = data.decode("utf-8", "replace")
    return TextChunk(first, end, text, chunk.dropped_ranges, chunk.complete)


def tail(path: Path | str, n_bytes: int) -> LogChunk:
    """The last `n_bytes`, or fewer if something was dropped between them."""
    start = max(0, state(path).end - n_bytes)
    while True:
        chunk = read(path, start, n_bytes)
        if chunk.end - chunk.start >= n_bytes or chunk.end >= state(path).end:
            return chunk
        start = chunk.end


def tail_text(path: Path | str, chars: int) -> str:
    """The last `chars` characters. A character that lies over the edge is left out, not broken."""
    chunk = tail(path, chars * 4)
    data = chunk.data[leading_rest(chunk.data) :] if chunk.start > 0 else chunk.data
    if not chunk.complete:
        data = data[: len(data) - unfinished_bytes(data)]
    text = data.decode("utf-8", "replace")
    return text[max(0, len(text) - chars) :]


def entries(path: Path | str, start: int = 0) -> Iterator[Entry]:
    """Everything that is kept from `start` on, read by read."""
    for segment, end in segments(path):
        if end <= start:
            continue
        data = read_segment(path, segment, 0, min(end - segment, MAX_ENTRY_BYTES))
        for offset, at, stream, part in split(path, segment, segment, data):
            skip = max(0, start - offset)
            if part[skip:]:
                yield Entry(offset + skip, at, stream, part[skip:])


# --- Files ---


def result_of(path: Path | str) -> dict[str, object] | None:
    try:
        with RunDir(str(path)) as rundir:
            return rundir.read_json(RESULT)
    except FileNotFoundError:
        return None


def segments(path: Path | str) -> list[tuple[int, int]]:
    """(offset, offset after its last byte) of each segment that is kept and not empty, in order."""
    try:
        with RunDir(f"{path}/{LOG}") as folder, os.scandir(folder.fd) as files:
            named = [(int(name[1]), readable_bytes(file)) for file in files if (name := SEGMENT.fullmatch(file.name))]
    except FileNotFoundError:  # it has printed nothing, or the whole directory was removed
        return []
    return sorted((offset, offset + size) for offset, size in named if size)


def readable_bytes(file: os.DirEntry[str]) -> int:
    """Nothing for what is no file, or one that its owner may not read."""
    try:
        found = file.stat(follow_symlinks=False)
    except FileNotFoundError:  # dropped while we looked
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) and found.st_mode & stat.S_IRUSR else 0


def dropped_bytes(path: Path | str, start: int, end: int) -> int:
    """How many of the bytes from `start` to `end` are kept no more: what went over the cap."""
    kept = sum(max(0, min(b, end) - max(a, start)) for a, b in segments(path))
    return max(0, end - start - kept)


def read_segment(path: Path | str, segment: int, skip: int, limit: int) -> bytes:
    """Nothing if the segment was dropped meanwhile."""
    return read_file(path, segment_name(segment, SUFFIX_DATA), skip, limit)


def read_file(path: Path | str, name: str, skip: int, limit: int) -> bytes:
    try:
        with RunDir(f"{path}/{LOG}") as folder, os.fdopen(folder.open(name, os.O_RDONLY), "rb") as file:
            file.seek(skip)
            return file.read(limit)
    except (FileNotFoundError, NotAFileError):
        return b""


def split(path: Path | str, segment: int, first: int, data: bytes) -> Iterator[tuple[int, float, int, bytes]]:
    """(offset, at, stream, bytes) of each read in `data`, which lies at offset `first` in the segment. What the index
    does not tell of is left out.
    """
    raw = read_file(path, segment_name(segment, SUFFIX_INDEX), 0, 2 * SEGMENT_ENTRIES * ENTRY.size)
    index = list(ENTRY.iter_unpack(raw[: len(raw) - len(raw) % ENTRY.size]))
    ends = [offset for offset, _, _ in index[1:]] + [first + len(data)]
    for (offset, micros, stream), end in zip(index, ends, strict=False):  # no entries have one end
        if part := data[max(0, offset - first) : max(0, end - first)]:
            yield max(first, offset), min(micros, LAST_MICROS) / 1e6, stream, part


def of_stream(path: Path | str, segment: int, first: int, part: bytes, stream: int) -> bytes:
    """Those of the bytes `part`, which lie at offset `first`, that `stream` printed."""
    return b"".join(data for _, _, came_by, data in split(path, segment, first, part) if came_by == stream)


def leading_rest(data: bytes) -> int:
    """How many bytes at the start are the rest of a character that began before them (0 to 3)."""
    for count, byte in enumerate(data[:4]):
        if byte & 0xC0 != 0x80:
            return count
    return min(len(data), 3)
