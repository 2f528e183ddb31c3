"""How late delayed jobs start, on an idle service and again with pages being loaded beside it.

    .venv/bin/python benchmarks/lateness.py [--jobs 1000] [--seconds 20] [--readers 4]

A thousand `true` commands are due at random moments over twenty seconds. `start` is the committed start of the
attempt, `process` the moment at which its process existed; both in ms after the due moment.
"""

from __future__ import annotations

import argparse
import random
import threading
from datetime import timedelta
from typing import Any, Self

from _bench import fetch, percentile, remove, service, session_key, show, use_own_data_folder, wait_until

PORT = 8421


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--readers", type=int, default=4)
    options = parser.parse_args()
    folder = use_own_data_folder()
    try:
        with service("--cores", "64", port=PORT):
            idle = measure("idle", options.jobs, options.seconds)
            with Readers(options.readers) as loaded:
                beside = measure("beside page load", options.jobs, options.seconds)
            beside["pages"] = loaded.pages
        idle["pages"] = 0
        show("lateness of delayed jobs, ms", [idle, beside])
    finally:
        remove(folder)


def measure(title: str, count: int, seconds: float) -> dict[str, Any]:
    from django.utils import timezone

    from jobs import models
    from jobs.store import wishes

    now = timezone.now()
    job = models.Job.objects.create(name=title, kind="command", body="true", created_at=now)
    ids = []
    for _ in range(count):
        due = now + timedelta(seconds=8 + random.uniform(0, seconds))
        ids.append(wishes.submit(job, cause=models.Instance.Cause.MANUAL, actor="bench", now=now, due_at=due).pk)
    mine = models.Instance.objects.filter(job=job)
    wait_until(lambda: mine.filter(status="success").count() == count, seconds + 120)
    attempts = models.Attempt.objects.filter(instance__job=job).select_related("instance")
    starts = [(a.created_at - a.instance.due_at).total_seconds() * 1000 for a in attempts]
    processes = [(a.started_at - a.instance.due_at).total_seconds() * 1000 for a in attempts]
    return {
        "service": title,
        "jobs": count,
        "early": sum(late < 0 for late in starts + processes),
        "start p50": percentile(starts, 0.5),
        "start p99": percentile(starts, 0.99),
        "process p50": percentile(processes, 0.5),
        "process p99": percentile(processes, 0.99),
    }


class Readers:
    """Threads that load pages one after the other while the block runs."""

    def __init__(self, count: int) -> None:
        self.pages = 0
        self._stop = threading.Event()
        self._session = {"Cookie": f"sessionid={session_key()}"}
        self._threads = [threading.Thread(target=self._read) for _ in range(count)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _read(self) -> None:
        while not self._stop.is_set():
            assert fetch(f"http://127.0.0.1:{PORT}/", self._session) == 200
            self.pages += 1


if __name__ == "__main__":
    main()
