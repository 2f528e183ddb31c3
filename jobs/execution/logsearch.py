"""Finds words in what a job printed: the whole of what is kept, with its line numbers. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from jobs.execution import log
from jobs.execution.loglines import lines_before, segment_runs

MOST_LINES = 10_000  # found at most: who gets more searches for something longer
LONGEST_WORDS = 200
SHOWN_BYTES = 400  # of a line, around what was found
# Colours, titles, links: they may stand amid a word.
COMMAND = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)")


class EmptySearchError(ValueError):
    """Words that nothing can be searched by."""

    def __init__(self, given: str) -> None:
        super().__init__(f"{given[:40]!r} is nothing to search for; expected 1 to {LONGEST_WORDS} characters in a line")


class Match(NamedTuple):
    """A line in which the words are; `text`: it, or what is around them if it is long."""

    line: int
    text: str


class Found(NamedTuple):
    """`more`: there are others after the last."""

    matches: list[Match]
    more: bool


def search(path: Path | str, words: str, stream: int | None = None, most: int = MOST_LINES) -> Found:
    """The lines that have `words`, in capitals or not (of the letters A to Z), at most `most`; with `stream` only what
    that printed. Reads what is kept once, a segment at a time. EmptySearchError.
    """
    if not 0 < len(words) <= LONGEST_WORDS or "\n" in words:
        raise EmptySearchError(words)
    needle = words.encode("utf-8", "replace").lower()
    found: list[Match] = []
    last = 0
    for line, data in pieces(path, stream, len(needle) - 1):
        for match in islice(matches(data, needle, line, last), most + 1 - len(found)):
            found.append(match)
            last = match.line
        if len(found) > most:
            return Found(found[:most], more=True)
    return Found(found, more=False)


def pieces(path: Path | str, stream: int | None, carried: int) -> Iterator[tuple[int, bytes]]:
    """(number of its first line, bytes) of each segment, and before them the end of the one before, since words may lie
    over the edge; without commands to a terminal.
    """
    kept = log.segments(path)
    rest, after = b"", -1
    for place, (segment, end) in enumerate(kept):
        if stream is None:
            data = log.read_segment(path, segment, 0, end - segment)
        else:
            found = segment_runs(path, kept, place, end)
            data = b"".join(run.data if run.stream == stream else b"\n" * run.data.count(b"\n") for run in found)
        if b"\x1b" in data:
            data = b"".join(COMMAND.split(data))
        rest = rest if segment == after else b""
        yield 1 + lines_before(path, kept[: place + 1]) - rest.count(b"\n"), rest + data
        rest, after = data[max(0, len(data) - carried) :] if carried else b"", end


def matches(data: bytes, needle: bytes, line: int, last: int) -> Iterator[Match]:
    """`line`: the number of the first line in `data`; up to line `last` all are told already."""
    lowered = data.lower()
    counted, at = 0, lowered.find(needle)
    while at >= 0:
        line += data.count(b"\n", counted, at)
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if line > last:
            yield Match(line, shown(data, at, end))
        counted = at
        at = lowered.find(needle, end)


def shown(data: bytes, at: int, end: int) -> str:
    start = max(data.rfind(b"\n", 0, at) + 1, at - SHOWN_BYTES // 2)
    return data[start : min(end, start + SHOWN_BYTES)].decode("utf-8", "replace").rstrip("\r")
