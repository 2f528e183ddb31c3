"""How much memory of this machine is in use now."""

from __future__ import annotations

from typing import NamedTuple

import psutil

MEGABYTE = 1024 * 1024


class MemoryUse(NamedTuple):
    """Megabytes in use by everything on the machine, of how many there are."""

    used_mb: int
    total_mb: int


def memory_use() -> MemoryUse:
    memory = psutil.virtual_memory()
    return MemoryUse((memory.total - memory.available) // MEGABYTE, memory.total // MEGABYTE)
