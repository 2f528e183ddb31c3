"""What a job says that it needs, read where and when it is to run."""

from __future__ import annotations

import os
import stat
import threading
from contextlib import suppress
from dataclasses import dataclass

from jobs.core.packages import PackagesNeeded
from jobs.packages import BLOCK_BEGINS, needed, script_block

MOST_BYTES = 4 << 20  # of a script that are looked through
READ_SECONDS = 20.0  # what mounts itself when it is asked for takes some
GATE = threading.Lock()
hanging: set[str] = set()  # paths that a thread still waits for


@dataclass(frozen=True, slots=True)
class Declared:
    """By its fields and, as they are when it is read, by its script: `text`, or the file at `path`.

    `name`: by which its environment is asked for; see `jobs.core.packages`.
    """

    name: str
    version: str = ""
    requirements: tuple[str, ...] = ()
    text: str = ""
    path: str = ""

    def read(self) -> PackagesNeeded:
        """Raises InvalidRequirements for a script that says something which cannot be. `path`: reads a file, which may
        take long, and raises NoAnswerError.
        """
        text = text_of(self.path) if self.path else self.text
        block = script_block(text) if BLOCK_BEGINS in text else None
        return needed(self.version, self.requirements, block)


def text_of(path: str) -> str:
    """Nothing for what cannot be read: why it cannot be run, its runner says. NoAnswerError if it takes too long, and
    as long as somebody still waits for the same file.
    """
    with GATE:
        if path in hanging:
            raise NoAnswerError(path)
    reading = Reading(path)
    threading.Thread(target=reading.run, name=f"reading of {path}", daemon=True).start()
    return reading.text()


class NoAnswerError(OSError):
    """The file system with the script does not answer, as NFS whose server is gone."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} could not be read within {READ_SECONDS:g} s: its file system does not answer")


class Reading:
    """Of a file, by a thread that nobody has to wait for: a file system may hold it for ever."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._text = ""
        self._done = threading.Event()

    def run(self) -> None:
        try:
            self._text = content_of(self._path)
        finally:
            with GATE:
                self._done.set()
                hanging.discard(self._path)

    def text(self) -> str:
        self._done.wait(READ_SECONDS)
        with GATE:
            if self._done.is_set():
                return self._text
            hanging.add(self._path)
        raise NoAnswerError(self._path)


def content_of(path: str) -> str:
    with suppress(OSError):
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                return file.read(MOST_BYTES).decode("utf-8", "replace")
    return ""
