"""A nearly full disk stops admission before it stops the database."""

from __future__ import annotations

import shutil
from pathlib import Path

MEGABYTE = 1024 * 1024
# Starts go on only with this much more than the limit, so that it does not flap at its edge.
MARGIN = 1.1


class DiskGuard:
    """`sentence` says why nothing may start, and is empty while there is room. A limit of 0 never stops."""

    def __init__(self, folder: Path, limit_mb: int) -> None:
        self._folder = folder
        self._limit_mb = limit_mb
        self.sentence = ""

    def look(self) -> str | None:
        """The sentence if it changed since the last look, else None."""
        free_mb = shutil.disk_usage(self._folder).free // MEGABYTE
        enough = self._limit_mb * (MARGIN if self.sentence else 1.0)
        was_full, is_full = bool(self.sentence), free_mb < enough
        if was_full == is_full:
            return None
        self.sentence = self._full(free_mb) if is_full else ""
        return self.sentence

    def _full(self, free_mb: int) -> str:
        return (
            f"Nothing new starts: the disk of {self._folder} has {free_mb} MB free, and {self._limit_mb} MB must stay "
            "free (ROTA_MIN_FREE_DISK_MB). Free some space, or lower that limit."
        )
