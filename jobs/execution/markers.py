"""What a job says of itself in what it prints: lines of standard output that begin with `::rota `.

    ::rota progress=0.4 text=of the files
    ::rota result={"rows": 12}

The same may stand in files, without the mark and the name: see `ROTA_PROGRESS_FILE` and `ROTA_RESULT_FILE`. Such lines
stay in the log. Standard library only.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from jobs.execution.mask import Mask
from jobs.execution.rundir import PROGRESS, PROGRESS_FILE, RESULT_FILE, WORK, BrokenFileError, NotAFileError, RunDir

MARK = b"::rota "
LINE = b"\n" + MARK
LONGEST_RESULT = 65_536  # bytes of JSON
MOST_LEVELS = 100
LONGEST_LINE = LONGEST_RESULT + 64
LONGEST_TEXT = 200
WRITE_SECONDS = 0.25  # between two writes of the progress: a loop may tell it a thousand times a second
MOST_COMPLAINTS = 5  # of results, and as many of all else


class Progress(NamedTuple):
    """`done`: 0 to 1."""

    done: float
    text: str = ""


class Unclear(Exception):
    """The message is a sentence for the log."""


class Markers:
    """Fed with standard output as it comes, however it is cut, masked. `mask` is for the files."""

    def __init__(self, rundir: RunDir, complain: Callable[[str], None], mask: Mask | None = None) -> None:
        self.result = ""
        self._progress: Progress | None = None
        self._rundir = rundir
        self._complain = complain
        self._mask = mask or Mask(())
        self._complaints = Counter[str]()  # by what they are about
        self._open: bytes | None = b""  # the line that has begun, if it may be one of these
        self._written: Progress | None = None
        self._write_at = 0.0
        self._seen: dict[str, bytes] = {}

    def feed(self, data: bytes) -> None:
        """A flood costs one search of each read."""
        data = data if self._open is None else b"\n" + self._open + data
        if b"\n" not in data:
            return
        at = data.find(LINE)
        while at >= 0 and (end := data.find(b"\n", at + 1)) >= 0:
            self.take(data[at + len(LINE) : end])
            at = data.find(LINE, end)
        last = data[data.rfind(b"\n") + 1 :]
        self._open = last if self._may_be(last) else None

    def end(self) -> None:
        """The output is over: a last line needs no line break."""
        if self._open and self._open.startswith(MARK):
            self.take(self._open[len(MARK) :])
        self._open = b""
        self._write_at = 0.0
        self.look()

    def take(self, line: bytes) -> None:
        """What follows the mark."""
        name, _, value = line.strip().partition(b"=")
        if name == b"progress":
            self.take_progress(value)
        elif name == b"result":
            self.take_result(value)
        else:
            self._not_understood(f"{shown(line)} says neither progress= nor result=")

    def take_progress(self, value: bytes) -> None:
        try:
            self._progress = progress_of(value)
        except Unclear as unclear:
            self._not_understood(str(unclear))
        self.write()

    def take_result(self, value: bytes) -> None:
        try:
            self.result = result_of(value)
        except Unclear as unclear:
            self._not_understood(str(unclear), "results")

    def _not_understood(self, what: str, about: str = "lines") -> None:
        self._complaints[about] += 1
        if self._complaints[about] <= MOST_COMPLAINTS:
            last = self._complaints[about] == MOST_COMPLAINTS
            self._complain(f"not understood: {what}" + (f"; further such {about} are not told" if last else ""))

    def tell(self, progress: Progress) -> None:
        """As if it had been printed."""
        self._progress = progress._replace(text=progress.text[:LONGEST_TEXT])
        self.write()

    @property
    def has_more(self) -> bool:
        """Whether progress was told that is not written yet."""
        return self._progress != self._written

    def look(self) -> None:
        """At the files in which the job may say the same; the latest of either counts."""
        for name, take in ((PROGRESS_FILE, self.take_progress), (RESULT_FILE, self.take_result)):
            content = self._read(name)
            if content is not None and content.strip() and content != self._seen.get(name):
                self._seen[name] = content
                take(content)
        self.write()

    def _read(self, name: str) -> bytes | None:
        try:
            with os.fdopen(self._rundir.open(f"{WORK}/{name}", os.O_RDONLY), "rb") as file:
                return self._mask.whole(file.read(LONGEST_RESULT + 1))
        except (OSError, NotAFileError):  # not there, or something that nobody can read
            return None

    def write(self) -> None:
        """The latest progress, for those that watch; later if the last time was just now."""
        now = time.monotonic()
        if self._progress is None or self._progress == self._written or now < self._write_at:
            return
        self._write_at = now + WRITE_SECONDS
        try:
            self._rundir.write_json(PROGRESS, self._progress._asdict())
        except (OSError, NotAFileError):  # the disk costs a look at the progress, never the job
            return
        self._written = self._progress

    @staticmethod
    def _may_be(line: bytes) -> bool:
        return len(line) <= LONGEST_LINE and (line.startswith(MARK) or MARK.startswith(line))


def progress_of(value: bytes) -> Progress:
    """`0.4` or `0.4 text=words to the end of the line`."""
    number, _, rest = value.decode("utf-8", "replace").strip().partition(" ")
    try:
        done = float(number)
    except ValueError:
        done = math.nan
    if not 0 <= done <= 1:
        raise Unclear(f"progress is {shown(value)}, expected a number from 0 to 1, and text=... after it if you like")
    return Progress(done, rest.strip().removeprefix("text=").strip()[:LONGEST_TEXT])


def result_of(value: bytes) -> str:
    """The JSON as it was given, but for blanks around it."""
    if len(value) > LONGEST_RESULT:
        raise Unclear(f"result has {len(value):,} bytes, expected at most {LONGEST_RESULT:,}: put more into a file")
    try:
        text = value.decode().strip()
        read = json.loads(text, parse_constant=refuse_constant)
        json.dumps(read, ensure_ascii=False, allow_nan=False).encode()  # 1e999 and half a surrogate pair are read, too
    except (ValueError, RecursionError) as error:
        raise Unclear(f"result is {shown(value)}, expected JSON ({error})") from error
    if levels(read) > MOST_LEVELS:
        raise Unclear(f"result has more than {MOST_LEVELS} levels: whoever reads it deep in a call would fail at them")
    if "\\u0000" in text:
        raise Unclear("result has the character U+0000 in it, which no database stores as text")
    return text


def levels(value: object) -> int:
    """How deep its lists and objects go: 1 for one that has none inside."""
    count, here = 0, [value]
    while here := [one for one in here if isinstance(one, dict | list)]:
        count += 1
        here = [inner for one in here for inner in (one.values() if isinstance(one, dict) else one)]
    return count


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def shown(value: bytes) -> str:
    text = value.decode("utf-8", "replace").strip()
    return json.dumps(text if len(text) <= 60 else f"{text[:60]}…", ensure_ascii=False)


def read_progress(path: str | os.PathLike[str]) -> Progress | None:
    """What the attempt in the run directory `path` said last; None if it said nothing, or wrote nonsense there."""
    try:
        with RunDir(os.fspath(path)) as rundir:
            said = rundir.read_json(PROGRESS) or {}
        found = Progress(float(said["done"]), str(said["text"])[:LONGEST_TEXT].encode("utf-8", "replace").decode())
    except (FileNotFoundError, BrokenFileError, KeyError, TypeError, ValueError):
        return None
    return found if 0 <= found.done <= 1 else None
