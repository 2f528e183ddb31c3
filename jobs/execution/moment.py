"""Moments in a run directory: boot clock within one boot, wall clock otherwise. Standard library only.

The wall clock may be set back or forward while an attempt runs; the boot clock (it counts suspend too) cannot, but it
means nothing after a reboot. So a moment carries both and the id of the boot that it was taken in.
"""

from __future__ import annotations

import time
from functools import cache
from typing import NamedTuple

LONGEST_WAIT_SECONDS = 86_400.0  # at once: poll() refuses more than 2**31 ms, and a time limit may be a year


class Moment(NamedTuple):
    """`boot_seconds` since the boot `boot_id`; `wall_seconds` since the epoch."""

    boot_id: str
    boot_seconds: float
    wall_seconds: float

    def seconds_since(self, earlier: Moment) -> float:
        if self.boot_id == earlier.boot_id:
            return self.boot_seconds - earlier.boot_seconds
        return self.wall_seconds - earlier.wall_seconds

    def after_wall(self, wall_seconds: float) -> Moment:
        """The moment when the wall clock will show `wall_seconds`, if nobody sets it."""
        ahead = wall_seconds - self.wall_seconds
        return Moment(self.boot_id, self.boot_seconds + ahead, wall_seconds)


def now() -> Moment:
    return Moment(boot_id(), time.clock_gettime(time.CLOCK_BOOTTIME), time.time())


@cache
def boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:  # noqa: PTH123 pathlib is slow to import
        return file.read().strip()
