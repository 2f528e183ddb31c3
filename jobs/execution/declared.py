"""What a job says that it needs, read where and when it is to run."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass

from jobs.core.packages import PackagesNeeded
from jobs.packages import BLOCK_BEGINS, needed, script_block

MOST_BYTES = 4 << 20  # of a script that are looked through


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
        """Raises InvalidRequirements for a script that says something which cannot be. Reads a file."""
        text = text_of(self.path) if self.path else self.text
        block = script_block(text) if BLOCK_BEGINS in text else None
        return needed(self.version, self.requirements, block)


def text_of(path: str) -> str:
    """Nothing for what cannot be read: why it cannot be run, its runner says."""
    with suppress(OSError):
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                return file.read(MOST_BYTES).decode("utf-8", "replace")
    return ""
