"""How often an idle service wakes, thread by thread, and how much memory it holds.

    .venv/bin/python benchmarks/idle.py [--seconds 60]

Expected: the engine once a second (its look whether anybody committed, and the sample of core load) and once in ten
(its heartbeat), the web's loop once a second. `strace -f -c -p PID` tells the same by system call.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import psutil
from _bench import remove, service, show, use_own_data_folder

PORT = 8424
SETTLE_SECONDS = 15.0
MEGABYTE = 1024 * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    seconds = parser.parse_args().seconds
    folder = use_own_data_folder()
    try:
        with service(port=PORT) as process:
            time.sleep(SETTLE_SECONDS)
            before = wake_ups(process.pid)
            time.sleep(seconds)
            after = wake_ups(process.pid)
            memory = psutil.Process(process.pid).memory_info().rss / MEGABYTE
        rows = [
            {"thread": name, "wake-ups a minute": (after[key] - before.get(key, 0)) * 60 / seconds}
            for key in sorted(after)
            for _, name in [key]
        ]
        show(f"an idle service, {memory:.0f} MB", rows)
    finally:
        remove(folder)


def wake_ups(pid: int) -> dict[tuple[int, str], int]:
    """Times that each thread of the process gave the core up by itself, which it does to wait."""
    counts = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        lines = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines() if ":" in line)
        counts[(int(task.name), lines["Name"].strip())] = int(lines["voluntary_ctxt_switches"])
    return counts


if __name__ == "__main__":
    main()
