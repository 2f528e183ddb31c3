"""What eight jobs that print 50,000 lines a second each do to the service and to the others.

    .venv/bin/python benchmarks/flood.py [--seconds 60]

Delayed jobs run beside eight silent jobs that keep the cores busy, and then beside the eight that print, each with less
than a core. The last row is the second as a multiple of the first.
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
AT_ONCE = 8
KINDS = {
    "silent burners": "while True: pass",
    "printing jobs": """
import os, time
lines = b"2026-01-01 12:00:00 INFO worker: a line\\n" * 500
at = time.monotonic()
while True:
    os.write(1, lines)
    at += 0.01
    time.sleep(max(0.0, at - time.monotonic()))
""",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    seconds = parser.parse_args().seconds
    folder = use_own_data_folder()
    try:
        with service("--overcommit", str(AT_ONCE), port=PORT) as process:
            rows = [measure(process.pid, folder, name, text, seconds) for name, text in KINDS.items()]
        silent, printing = rows
        ratios = {name: printing[name] / silent[name] for name in ("start p50 ms", "start p99 ms")}
        rows.append({**dict.fromkeys(silent, ""), "beside": "ratio", **ratios})
        show("delayed jobs beside a flood of output", rows)
    finally:
        remove(folder)


def measure(pid: int, folder: Path, name: str, text: str, seconds: float) -> dict[str, Any]:
    from django.utils import timezone

    from jobs import models
    from jobs.store import wishes

    now = timezone.now()
    noisy = models.Job.objects.create(
        name=name, kind="script", body=text, timeout_seconds=seconds, max_running=AT_ONCE, created_at=now
    )
    probe = models.Job.objects.create(name=f"beside {name}", kind="command", body="true", created_at=now)
    before = psutil.Process(pid).memory_info().rss
    floods = [wishes.submit(noisy, cause=models.Instance.Cause.MANUAL, actor="bench", now=now) for _ in range(AT_ONCE)]
    for n in range(int(seconds * 2)):
        due = now + timedelta(seconds=2 + n / 2.2)
        wishes.submit(probe, cause=models.Instance.Cause.MANUAL, actor="bench", now=now, due_at=due)
    going = models.Instance.objects.filter(pk__in=[flood.pk for flood in floods])
    wait_until(lambda: going.filter(status="running").count() == AT_ONCE, 30)
    wait_until(lambda: going.filter(status="timeout").count() == AT_ONCE, seconds + 60)
    answered = fetch(f"http://127.0.0.1:{PORT}/healthz")
    wait_until(lambda: not models.Instance.objects.filter(job=probe).exclude(status="success").exists(), 60)
    attempts = models.Attempt.objects.filter(instance__job=probe).select_related("instance")
    starts = [(a.created_at - a.instance.due_at).total_seconds() * 1000 for a in attempts]
    printed = models.Attempt.objects.filter(instance__in=going).values_list("instance_id", flat=True)
    kept = sum(f.stat().st_size for pk in printed for f in (folder / "runs" / str(pk)).rglob("*") if f.is_file())
    return {
        "beside": name,
        "start p50 ms": percentile(starts, 0.5),
        "start p99 ms": percentile(starts, 0.99),
        "service grew MB": (psutil.Process(pid).memory_info().rss - before) / MEGABYTE,
        "log on disk MB": kept / MEGABYTE,
        "healthz": answered,
    }


if __name__ == "__main__":
    main()
