"""A log by its lines: their numbers, who printed them and when. Lines are counted from 1, in both streams together.

Nothing reads more of a log than its cap lets it have. Standard library only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from jobs.execution import log
from jobs.execution.logwriter import ENTRY, LINES, SUFFIX_INDEX, segment_name, unfinished_bytes

UNKNOWN = 0  # the stream of what the index does not tell of
ALIGN_BYTES = 4096  # a window begins with a line if one begins within this


class Run(NamedTuple):
    """What one stream printed in a row: from byte `offset` on, which lies in line `line`. `at`: when it was read, in
    seconds since the epoch, 0 if that is not known.
    """

    offset: int
    line: int
    at: float
    stream: int
    data: bytes

    @property
    def end(self) -> int:
        return self.offset + len(self.data)

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")


def offset_of(path: Path | str, line: int) -> int:
    """Where the line begins; what is kept next to it if it is not kept, the start of the last one if there is none."""
    kept = log.segments(path)
    if line <= 1 or not kept:
        return kept[0][0] if kept else 0
    counts = [lines_before(path, kept[: place + 1]) for place in range(len(kept))]
    place = max(0, bisect_left(counts, line - 1) - 1)  # the last segment before which fewer line ends came than needed
    segment, end = kept[place]
    data = log.read_segment(path, segment, 0, end - segment)
    wanted = line - 1 - counts[place]
    if data.count(b"\n") < wanted:
        return kept[place + 1][0] if place + 1 < len(kept) else segment + data.rstrip(b"\n").rfind(b"\n") + 1
    return segment + len(data) - len(data.split(b"\n", wanted)[wanted])


def lines_before(path: Path | str, kept: list[tuple[int, int]]) -> int:
    """Line ends before the last of the segments `kept`, dropped ones among them."""
    segment, _ = kept[-1]
    raw = log.read_file(path, segment_name(segment, SUFFIX_INDEX), 0, ENTRY.size)
    if len(raw) == ENTRY.size:
        offset, lines, stream = ENTRY.unpack(raw)
        if stream == LINES and offset == segment:
            return int(min(lines, offset))  # no more than bytes: a job may have written there
    return sum(_lines_in(str(path), a, b) for a, b in kept[:-1])


@lru_cache(maxsize=1024)
def _lines_in(path: str, segment: int, end: int) -> int:
    """Of a segment that is written no more, or as much of it as there was."""
    return log.read_segment(path, segment, 0, end - segment).count(b"\n")


def runs(path: Path | str, start: int, end: int) -> list[Run]:
    """All that is kept from byte `start` up to `end`, in order."""
    kept = [(segment, after) for segment, after in log.segments(path) if segment < end]
    found: list[Run] = []
    for place, (_, after) in enumerate(kept):
        if after > start:
            found += (_without(run, start - run.offset) for run in segment_runs(path, kept, place, end))
    return [run for run in found if run.data]


class Window(NamedTuple):
    """Runs in order; `ends`: nothing is after the last, `begins`: nothing that is kept is before the first."""

    earlier: list[Run]
    later: list[Run]
    ends: bool
    begins: bool


def window(
    path: Path | str, offset: int, before: Extent, after: Extent, stream: int | None = None, until: int = 1 << 62
) -> Window:
    """What lies before and after byte `offset`, about that much of each, beginning and ending with a line if one does
    nearby; with `stream`, of what that printed. As if the log had ended at byte `until`.
    """
    kept = [(segment, min(end, until)) for segment, end in log.segments(path) if segment < until]
    earlier: list[Run] = []
    later: list[Run] = []
    begins = True
    for place in range(len(kept) - 1, -1, -1):
        # Beyond what is shown as far as the next one of its stream, which tells that there is more.
        if kept[place][0] < offset and begins:
            found = [run for run in segment_runs(path, kept, place, offset) if stream in (None, run.stream)]
            if before.is_more_than(earlier):
                earlier[:0] = found
            else:
                begins = not found
    ends = True
    for place, (_, end) in enumerate(kept):
        if end > offset and (ends := after.is_more_than(later)):
            runs_after = (_without(run, offset - run.offset) for run in segment_runs(path, kept, place, end))
            later += (run for run in runs_after if run.data and stream in (None, run.stream))
    shown, shown_before = after.first_of(later), before.last_of(earlier)
    is_whole = _size(shown_before) == _size(earlier)
    return Window(shown_before, shown, ends and _size(shown) == _size(later), begins and is_whole)


class Extent(NamedTuple):
    """How much of a log at most."""

    byte_count: int
    line_count: int = 1 << 31

    def is_more_than(self, found: list[Run]) -> bool:
        return _size(found) < self.byte_count and _ends(found) < self.line_count

    def last_of(self, found: list[Run]) -> list[Run]:
        kept: list[Run] = []
        room, lines = self
        for run in reversed(found):
            if room <= 0:
                break
            cut = max(_start_of_last(run.data, lines), len(run.data) - room)
            if 0 < cut == len(run.data) - room:
                cut += _to_whole(run.data[cut:])
            kept.append(_without(run, cut))
            if cut:
                break
            room, lines = room - len(run.data), lines - run.data.count(b"\n")
        return [run for run in reversed(kept) if run.data]

    def first_of(self, found: list[Run]) -> list[Run]:
        kept: list[Run] = []
        room, lines = self
        for run in found:
            data = run.data[:room]
            if data.count(b"\n") >= lines:
                data = data[: len(data) - len(data.split(b"\n", lines)[lines])]
            elif len(data) < len(run.data):
                data = data[: data.rfind(b"\n") + 1] or data[: len(data) - unfinished_bytes(data)]
            kept.append(run._replace(data=data))
            if len(data) < len(run.data):
                break
            room, lines = room - len(data), lines - data.count(b"\n")
            if room <= 0 or lines <= 0:
                break
        return [run for run in kept if run.data]


def _start_of_last(data: bytes, lines: int) -> int:
    """Where the last `lines` lines of it begin, the unended one after them not counted."""
    pieces = data.rsplit(b"\n", lines + 1)
    return len(pieces[0]) + 1 if len(pieces) == lines + 2 else 0


def _to_whole(data: bytes) -> int:
    """How many bytes to leave out at the start, so that it begins with a line; with a character, if no line is near."""
    end = data.find(b"\n", 0, ALIGN_BYTES)
    return end + 1 if end >= 0 else log.leading_rest(data)


def _size(found: list[Run]) -> int:
    return sum(len(run.data) for run in found)


def _ends(found: list[Run]) -> int:
    return sum(run.data.count(b"\n") for run in found)


def _without(run: Run, count: int) -> Run:
    """The run without its first `count` bytes."""
    if count <= 0:
        return run
    gone, data = run.data[:count], run.data[count:]
    return run._replace(offset=run.offset + len(gone), line=run.line + gone.count(b"\n"), data=data)


def segment_runs(path: Path | str, kept: list[tuple[int, int]], place: int, until: int) -> Iterator[Run]:
    """The runs of one of the segments `kept`, up to byte `until`; neighbours of one stream and one moment are one."""
    segment, end = kept[place]
    data = log.read_segment(path, segment, 0, min(end, until) - segment)
    line, at = 1 + lines_before(path, kept[: place + 1]), segment
    for offset, moment, stream, part in log.split(path, segment, segment, data):
        if offset > at:  # what the index does not tell of
            yield Run(at, line, 0.0, UNKNOWN, data[at - segment : offset - segment])
            line += data.count(b"\n", at - segment, offset - segment)
        if offset + len(part) > at:
            yield Run(offset, line, moment, stream, part)
            line += part.count(b"\n")
            at = offset + len(part)
    if at < segment + len(data):
        yield Run(at, line, 0.0, UNKNOWN, data[at - segment :])
