"""The end of a log as plain text, for the first sight of a page before its script has coloured it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dashboard.live.logs import LogPlace
from jobs.execution import log
from jobs.execution.rundir import BrokenFileError

FIRST_BYTES = 64 * 1024

# Colours and other commands to a terminal: CSI and OSC sequences, single escapes, and what else is not text.
_COMMANDS = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]?|[\x00-\x08\x0b\x0c\x0e-\x1f]"
)
_OVERWRITTEN = re.compile(r"[^\n]*\r(?!\n|$)")


@dataclass(frozen=True, slots=True)
class FirstText:
    """`end`: the offset after it; `skipped`: how many bytes before it are not shown; `complete`: no more comes."""

    text: str = ""
    end: int = 0
    skipped: int = 0
    complete: bool = False


def first_text(place: LogPlace | None) -> FirstText:
    if place is None:
        return FirstText()
    try:
        start = max(0, log.state(place.path).end - FIRST_BYTES)
    except BrokenFileError:  # a job wrote over its own result; it is put right when the attempt is settled
        return FirstText()
    chunk = log.read_text(place.path, start, FIRST_BYTES)
    return FirstText(plain(chunk.text), chunk.end, chunk.start, chunk.complete)


def plain(text: str) -> str:
    """Without commands to a terminal; of a line that was written over, the last writing."""
    return _OVERWRITTEN.sub("", _COMMANDS.sub("", text)).replace("\r", "")
