"""The jobs that a first start finds: each shows one thing worth watching."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.utils import timezone

from jobs import actions

SCRIPTS = Path(__file__).parent / "scripts"
AUTHOR = "examples"

# The fields of each as the API has them; `file` is one of SCRIPTS. Those that run at once, and the others.
AT_ONCE: list[dict[str, Any]] = [
    {
        "name": "Example: prime sieve",
        "description": "Counts primes for half a minute on all the cores that it reserves.",
        "file": "sieve.py",
        "schedule_type": "once",
        "cpu_cores_required": min(2, len(os.sched_getaffinity(0))),
        "timeout_seconds": 120,
    },
    {
        "name": "Example: coloured progress",
        "description": "A minute of coloured output, to watch live.",
        "file": "progress.py",
        "schedule_type": "once",
        "timeout_seconds": 120,
    },
    {
        "name": "Example: flaky",
        "description": "Fails twice and succeeds at the third attempt.",
        "file": "flaky.py",
        "schedule_type": "once",
        "max_retries": 3,
        "retry_delay_seconds": 10,
    },
]
LATER: list[dict[str, Any]] = [
    {
        "name": "Example: disk report",
        "description": "How full the disks are, every five minutes.",
        "file": "disk_report.py",
        "schedule_type": "interval",
        "schedule_expression": "5m",
        "timeout_seconds": 60,
    },
    {
        "name": "Example: ignores TERM",
        "description": "Run it, cancel it, and see it killed after its grace of five seconds.",
        "file": "stubborn.py",
        "schedule_type": "once",
        "max_retries": 0,
        "kill_grace_seconds": 5,
    },
    {
        "name": "Example: is the web up",
        "description": "A function of jobs/examples/jobs.py, on an event loop: it takes no core to wait.",
        "callable": "jobs.examples.jobs.port_answers",
        "schedule_type": "interval",
        "schedule_expression": "10m",
        "timeout_seconds": 60,
    },
]


def load() -> None:
    """Store the examples; those with nothing to wait for run as soon as the scheduler does."""
    now = timezone.now()
    for example in AT_ONCE + LATER:
        fields = dict(example)
        runs = {"script_content": (SCRIPTS / fields.pop("file")).read_text()} if "file" in fields else {}
        raw = {"tags": ["example"], **runs, **fields}
        actions.create_job(raw, actor=AUTHOR, now=now, start=example in AT_ONCE)
