"""How long an engine's commit takes beside page writers of the same process, with the write lock and without.

    .venv/bin/python benchmarks/write_lock.py [--seconds 5] [--writers 4]

Prints a table and a line of JSON: milliseconds from asking for a transaction to its commit, one row each, SQLite at
synchronous=FULL. "without" is Django's own backend with the same settings. The runs are interleaved, three of each.
"""

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import django
from django.conf import settings

BACKENDS = {"with": "jobs.sqlite", "without": "django.db.backends.sqlite3"}
SAME_SETTINGS = {
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=10000",
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
}
ENGINE_PAUSE_SECONDS = 0.005


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--writers", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        configure(Path(folder))
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in BACKENDS}
        for _ in range(3):
            for name, found in runs.items():
                found.append(measure(name, options.seconds, options.writers))
    result = {name: {key: median(run[key] for run in found) for key in found[0]} for name, found in runs.items()}
    print(f"{'lock':<10}{'commits':>9}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}{'page writes':>13}")
    for name, row in result.items():
        print(
            f"{name:<10}{row['commits']:>9.0f}{row['p50']:>9.1f}{row['p99']:>9.1f}{row['max']:>9.1f}{row['pages']:>13.0f}"
        )
    print(json.dumps({"write_lock": result}))


def configure(folder: Path) -> None:
    databases: dict[str, dict[str, Any]] = {
        name: {"ENGINE": engine, "NAME": str(folder / f"{name}.sqlite3")} for name, engine in BACKENDS.items()
    }
    databases["without"]["OPTIONS"] = SAME_SETTINGS
    settings.configure(DATABASES=databases | {"default": databases["with"]}, USE_TZ=True)
    django.setup()
    from django.db import connections

    for name in BACKENDS:
        with connections[name].cursor() as cursor:
            cursor.execute("CREATE TABLE row (id INTEGER PRIMARY KEY, text TEXT)")


def measure(alias: str, seconds: float, writers: int) -> dict[str, float]:
    stop, pages = threading.Event(), [0] * writers
    threads = [threading.Thread(target=write_pages, args=(alias, stop, pages, number)) for number in range(writers)]
    for thread in threads:
        thread.start()
    waits: list[float] = []
    engine = threading.Thread(target=commit_as_engine, args=(alias, seconds, waits))
    engine.start()
    engine.join()
    stop.set()
    for thread in threads:
        thread.join()
    waits.sort()
    return {
        "commits": len(waits),
        "p50": waits[len(waits) // 2] * 1000,
        "p99": waits[len(waits) * 99 // 100] * 1000,
        "max": waits[-1] * 1000,
        "pages": sum(pages),
    }


def write_pages(alias: str, stop: threading.Event, pages: list[int], number: int) -> None:
    while not stop.is_set():
        insert(alias)
        pages[number] += 1
    close(alias)


def commit_as_engine(alias: str, seconds: float, waits: list[float]) -> None:
    from jobs.sqlite import lock

    lock.mark_engine_thread()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.perf_counter()
        insert(alias)
        waits.append(time.perf_counter() - began)
        time.sleep(ENGINE_PAUSE_SECONDS)
    close(alias)


def insert(alias: str) -> None:
    from django.db import connections, transaction

    with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
        cursor.execute("INSERT INTO row (text) VALUES (%s)", ["x" * 200])


def close(alias: str) -> None:
    from django.db import connections

    connections[alias].close()


if __name__ == "__main__":
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)
    main()
