"""A nearly full disk stops admission before it stops the database."""

from __future__ import annotations

import shutil
from pathlib import Path

MEGABYTE = 1024 * 1024
# Starts go on only with this much more than the limit, so that it does not flap at its edge.
MARGIN = 1.1


class DiskGuard:
    """A limit of 0 never stops."""

    def __init__(self, folder: Path, limit_mb: int) -> None:
        self._folder = folder
        self._limit_mb = limit_mb

    def look(self, stopped: str) -> str:
        """Why nothing may start now, empty if it may. `stopped`: what was said before; it stays while it holds."""
        free_mb = shutil.disk_usage(self._folder).free // MEGABYTE
        if free_mb >= self._limit_mb * (MARGIN if stopped else 1.0):
            return ""
        return stopped or self._full(free_mb)

    def _full(self, free_mb: int) -> str:
        return (
            f"Nothing new starts: the disk of {self._folder} has {free_mb} MB free, and {self._limit_mb} MB must stay "
            "free (ROTA_MIN_FREE_DISK_MB). Free some space, or lower that limit."
        )
