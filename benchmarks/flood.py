"""What a job that prints without end does to the service and to the others.

    .venv/bin/python benchmarks/flood.py [--seconds 60]

Delayed jobs run beside a silent job that keeps a core busy, and then beside `yes`. Both have a core to themselves.
"""

from __future__ import annotations

import argparse
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
from _bench import fetch, percentile, remove, service, show, use_own_data_folder, wait_until

PORT = 8422
MEGABYTE = 1024 * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    seconds = parser.parse_args().seconds
    folder = use_own_data_folder()
    try:
        with service("--overcommit", "8", port=PORT) as process:
            beside = [
                measure(process.pid, folder, name, command, seconds)
                for name, command in (("a silent burner", "while :; do :; done"), ("yes", "exec yes"))
            ]
        show("delayed jobs beside a flood of output, ms", beside)
    finally:
        remove(folder)


def measure(pid: int, folder: Path, name: str, command: str, seconds: float) -> dict[str, Any]:
    from django.utils import timezone

    from jobs import models
    from jobs.store import wishes

    now = timezone.now()
    noisy = models.Job.objects.create(name=name, kind="command", body=command, timeout_seconds=seconds, created_at=now)
    probe = models.Job.objects.create(name=f"beside {name}", kind="command", body="true", created_at=now)
    before = psutil.Process(pid).memory_info().rss
    flood = wishes.submit(noisy, cause=models.Instance.Cause.MANUAL, actor="bench", now=now)
    for n in range(int(seconds * 2)):
        due = now + timedelta(seconds=1 + n / 2.2)
        wishes.submit(probe, cause=models.Instance.Cause.MANUAL, actor="bench", now=now, due_at=due)
    wait_until(lambda: models.Instance.objects.get(pk=flood.pk).status == "timeout", seconds + 60)
    answered = fetch(f"http://127.0.0.1:{PORT}/healthz")
    wait_until(lambda: not models.Instance.objects.filter(job=probe).exclude(status="success").exists(), 60)
    attempts = models.Attempt.objects.filter(instance__job=probe).select_related("instance")
    starts = [(a.created_at - a.instance.due_at).total_seconds() * 1000 for a in attempts]
    kept = sum(f.stat().st_size for f in (folder / "runs" / str(flood.pk)).rglob("*") if f.is_file())
    return {
        "beside": name,
        "start p50": percentile(starts, 0.5),
        "start p99": percentile(starts, 0.99),
        "service grew MB": (psutil.Process(pid).memory_info().rss - before) / MEGABYTE,
        "log on disk MB": kept / MEGABYTE,
        "healthz": answered,
    }


if __name__ == "__main__":
    main()
