"""What `screenshots.py --all` shows: one data folder in each state, with real jobs on a real service.

To be imported when Django is set up.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from _bench import wait_until
from django.conf import settings
from django.utils import timezone
from scenes_execution import execution, submit

from dashboard import operations
from dashboard.models import BulkOperation
from jobs import actions, models
from jobs.execution import abilities
from jobs.execution.cgroup_search import Found

__all__ = ["empty", "execution", "failing", "few", "many"]

SLEEPS = "import time\nprint('\\x1b[32mready\\x1b[0m, waiting for work')\nfor n in range(600):\n    print(f'step {n}', flush=True)\n    time.sleep(1)\n"  # noqa: E501 - one script
FAILS = "import sys\nprint('reading /srv/in/orders.csv')\nprint('\\x1b[31mKeyError: customer_id\\x1b[0m', file=sys.stderr)\nsys.exit(3)\n"  # noqa: E501 - one script
STUBBORN = "import time\ntime.sleep(600)"
ETL = {"schedule_type": "daily", "schedule_expression": "02:30", "timezone": "Europe/Berlin"}


def empty() -> dict[str, int]:
    return {}


def few() -> dict[str, int]:
    """Ids by name: an instance in each status, and a job, a workflow, a backfill, a limit, a node, an operation."""
    ids = {
        "running": submit("train model", SLEEPS, tags=["ml", "slow"], timeout_seconds=900),
        "success": submit("hello", "print('hello')\nprint('\\x1b[36mdone\\x1b[0m')"),
        "failed": submit("import orders", FAILS, tags=["etl", "customer"]),
        "timeout": submit("slow report", STUBBORN, timeout_seconds=1),
        "retrying": submit("flaky upload", FAILS, max_retries=5, retry_delay_seconds=900, tags=["etl"]),
        "cancelled": submit("stuck sync", STUBBORN),
    }
    wait_for(ids["cancelled"], "running")
    actions.cancel_instance(ids["cancelled"], actor="ann", now=timezone.now())
    for name in ("success", "failed", "timeout", "retrying", "cancelled"):
        wait_for(ids[name], name)
    wait_for(ids["running"], "running")
    ids |= workflow()
    timed()
    ids["limit"] = actions.create_limit(
        {"kind": "tag", "name": "etl", "maximum": 2}, actor="ann", now=timezone.now()
    ).limit_id
    actions.create_limit(
        {"kind": "rate", "name": "api", "rate_per_second": 0.2, "burst": 5}, actor="ann", now=timezone.now()
    )
    ids["operation"] = operation(ids["failed"])
    ids["queued"] = submit("big build", STUBBORN, cpu_cores_required=3, tags=["slow"], priority="high")
    return ids | places(ids["failed"])


def workflow() -> dict[str, int]:
    """A backfill of extract, load, report and alarm: its first date fails, the second is good, the third under way."""
    make = {"kind": "command", "max_retries": 0, "tags": ["etl"]}
    dates = settings.DATA_DIR / "dates"
    extract = job(
        {"name": "extract orders", "command": f"echo >> {dates}; test $(wc -l < {dates}) -gt 1", **make, **ETL}
    )
    load = job(
        {
            "name": "load orders",
            "command": f"test $(wc -l < {dates}) -lt 3 || sleep 600",
            "depends_on": ["extract orders"],
            **make,
        }
    )
    report = job({"name": "daily report", "command": "echo sent", "depends_on": ["load orders"], **make})
    job(
        {"name": "raise alarm", "command": "true", "depends_on": ["load orders"], "upstream_rule": "any_failed", **make}
    )
    since = timezone.now()
    actions.create_backfill(
        extract, since - timedelta(days=6), since, actor="ann", now=since, concurrency=1, only_missing=True
    )
    wait_until(lambda: models.Instance.objects.filter(job=report).count() == 3, 60)
    found = {status: last_of(status) for status in ("skipped", "upstream_failed", "pending")}
    return found | {"extract": extract, "load": load, "report": report}


def timed() -> None:
    always = {"kind": "command", "command": "true", "tags": ["ops"]}
    job({"name": "back up database", "schedule_type": "cron", "schedule_expression": "*/15 * * * *", **always})
    job({"name": "rotate certificates", "schedule_type": "weekly", "schedule_expression": "mon 03:00", **always})
    paused = job({"name": "weekly digest", "schedule_type": "interval", "schedule_expression": "6h", **always})
    actions.pause_job(paused, actor="ann", now=timezone.now())
    week = {"days": "sat", "from": "00:00", "to": "24:00"}
    actions.create_calendar(
        {"name": "office", "timezone": "Europe/Berlin", "blackouts": [week]}, actor="ann", now=timezone.now()
    )
    closed = {"schedule_type": "daily", "schedule_expression": "01:00", "timezone": "Europe/Berlin"}
    job({"name": "close books", "calendar": "office", **closed, **always})


def failing() -> dict[str, int]:
    """All that can go wrong on one screen: failures in a row, a job that was paused for it, a node gone."""
    for name in (
        "import orders",
        "sync prices",
        "index images",
        "export invoices",
        "a job with quite a long name that says exactly what it does and for whom",
    ):
        failed = submit(name, FAILS, pause_after_failures=3, tags=["etl"])
        wait_for(failed, "failed")
        for _ in range(2):
            failed = actions.retry_instance(failed, actor="ann", now=timezone.now()).instance_id
            wait_for(failed, "failed")
    gone = timezone.now() - timedelta(hours=2)
    models.Node.objects.create(
        name="boreas", cores=list(range(8)), memory_mb=32_000, started_at=gone, heartbeat_at=gone
    )
    refused = Found({}, dict.fromkeys(abilities.WITHOUT, "read-only file system"))
    weak = models.Node.objects.create(
        name="zephyr",
        cores=list(range(4)),
        memory_mb=16_000,
        started_at=gone,
        heartbeat_at=gone,
        stopped_at=gone,
        notices=abilities.sentences(refused, "rota", root=False, schedulers=[]),
    )
    return {"failed": failed, "weak": weak.pk, "thread": abandoned()} | places(failed)


def abandoned() -> int:
    """One that timed out, as if it had been a thread that goes on. The node writes of threads only when it has some."""
    thread = submit("wait for the mainframe", STUBBORN, timeout_seconds=1)
    wait_for(thread, "timeout")
    attempt = models.Attempt.objects.get(instance_id=thread)
    models.Attempt.objects.filter(pk=attempt.pk).update(abandoned_at=attempt.ended_at)
    models.Node.objects.filter(pk=attempt.node_id).update(abandoned=[attempt.token])
    return thread


def many() -> dict[str, int]:
    running = submit("train model", SLEEPS, tags=["ml"])
    for n in range(30):
        submit(f"reindex part {n}", STUBBORN, tags=["ml"])
    wait_for(running, "running")
    first = models.Job.objects.earliest("pk").pk
    return {"running": running} | places(running) | {"job": first}


def places(instance_id: int) -> dict[str, int]:
    return {
        "job": models.Instance.objects.get(pk=instance_id).job_id,
        "calendar": next(iter(models.Calendar.objects.values_list("pk", flat=True)), 0),
        "node": models.Node.objects.get(name="atlas").pk,
    }


def job(raw: dict[str, Any]) -> int:
    return actions.create_job(raw, actor="ann", now=timezone.now()).job_id


def operation(instance_id: int) -> int:
    begun = operations.begin("retry", ids=[instance_id], actor="ann", now=timezone.now()).pk
    operations.start(begun)
    wait_until(lambda: BulkOperation.objects.exclude(ended_at=None).exists(), 60)
    return begun


def last_of(status: str) -> int:
    of_it = models.Instance.objects.filter(status=status).order_by("-pk")
    wait_until(of_it.exists, 60)
    return int(of_it.values_list("pk", flat=True)[0])


def wait_for(instance_id: int, status: str) -> None:
    wait_until(lambda: models.Instance.objects.filter(pk=instance_id, status=status).exists(), 60)
