"""The end of a log as plain text, for the first sight of a page before its script has coloured it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dashboard.live.logs import LogPlace
from jobs.execution import log
from jobs.execution.rundir import BrokenFileError

FIRST_BYTES = 64 * 1024

# Colours and other commands to a terminal: CSI sequences, titles and links, single escapes, and what else is not text.
# As static/dashboard/js/sequences.js has it, a line's end ends what was not finished in it.
_COMMANDS = re.compile(
    r"\x1b\[[0-?]*[ -/]*(?:[@-~]|(?=\n|\Z))|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\|(?=\n|\Z))"
    r"|\x1b(?:[ -/]+[0-~]|[0-Z\\^-~])?|[\x00-\x07\x0b\x0c\x0e-\x1f]"
)
_LINE_BEGINS_ANEW = re.compile(r"\x1b\[[01]?G")


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
    """Without commands to a terminal; of what was written over, the last writing."""
    text = _COMMANDS.sub("", _LINE_BEGINS_ANEW.sub("\r", text))
    # Not by an expression: one that looks for the last writing goes through a long line as often as it has characters.
    return "\n".join(_stepped_back(line.rstrip("\r\b").rpartition("\r")[2]) for line in text.split("\n"))


def _stepped_back(line: str) -> str:
    """What was written after backspaces stands in place of as many characters before. Those at the end do nothing."""
    first, *others = line.split("\b")
    kept, steps = list(first), 0
    for part in others:
        steps += 1
        if part:
            del kept[max(0, len(kept) - steps) :]
            kept += part
            steps = 0
    return "".join(kept)
