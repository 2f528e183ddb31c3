"""The logs of launchers and hosts, which live long, and into which a thread that a callable started may print for ever.

Whoever writes there appends, and so goes on at the beginning of one that was emptied.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

LAUNCHERS, HOSTS = "launcher.log", "callables.log"
MOST_BYTES = 10 * 1024 * 1024


def bound(folder: Path) -> None:
    """Empty what has grown too large; what it held is beside it, until the next time, as <name>.1."""
    for log in (folder / LAUNCHERS, folder / HOSTS):
        if log.exists() and log.stat().st_size > MOST_BYTES:
            with suppress(OSError):  # a full disk needs the room more than the lines
                shutil.copyfile(log, f"{log}.1")
            os.truncate(log, 0)
