"""Durations, sizes and signals in words. `static/dashboard/js/clock.js` says durations in the same way."""

from __future__ import annotations

import signal
from datetime import datetime

MINUTE, HOUR, DAY = 60, 3600, 86400


def duration(seconds: float) -> str:
    """Two units at most: "340 ms", "2.3 s", "1 min 12 s", "2 h 5 min", "3 d 4 h"."""
    seconds = max(0.0, seconds)
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 9.95 else ticking(round(seconds))


def ticking(seconds: float) -> str:
    """As `duration`, in whole seconds: for what is still going on."""
    whole = max(0, int(seconds))
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return _two(whole // MINUTE, "min", whole % MINUTE, "s")
    if whole < DAY:
        return _two(whole // HOUR, "h", whole % HOUR // MINUTE, "min")
    return _two(whole // DAY, "d", whole % DAY // HOUR, "h")


def ago(moment: datetime, now: datetime) -> str:
    """Such as "3 min ago", "in 12 s", "now"."""
    seconds = (now - moment).total_seconds()
    if abs(seconds) < 1:
        return "now"
    return f"{coarse(seconds)} ago" if seconds > 0 else f"in {coarse(-seconds)}"


def coarse(seconds: float) -> str:
    """One unit, two only where the second one matters: below an hour of seconds it does not."""
    whole = int(seconds)
    for size, unit in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if whole >= size:
            return f"{whole // size} {unit}"
    return f"{whole} s"


def size(count: int) -> str:
    """Bytes in binary units: "812 B", "64.0 kB", "1.5 GB"."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TB"


def signal_name(number: int) -> str:
    """Such as "SIGTERM (15)"."""
    try:
        return f"{signal.Signals(number).name} ({number})"
    except ValueError:
        return f"signal {number}"


def listed(numbers: list[int] | tuple[int, ...]) -> str:
    """Core ids as ranges: (0, 1, 2, 5) is "0-2, 5"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}\N{EN DASH}{b}" for a, b in runs)


def held(cores: list[int] | tuple[int, ...], virtual: int) -> str:
    """What an instance holds: "core 2", "cores 0-3", "core 3 + 1 virtual slot"; empty when nothing."""
    parts = []
    if cores:
        parts.append(f"core{'s' if len(cores) > 1 else ''} {listed(cores)}")
    if virtual:
        parts.append(f"{virtual} virtual slot{'s' if virtual > 1 else ''}")
    return " + ".join(parts)


def _two(first: int, first_unit: str, second: int, second_unit: str) -> str:
    return f"{first} {first_unit} {second} {second_unit}" if second else f"{first} {first_unit}"
