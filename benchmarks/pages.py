"""Server time of every page and list, with a long history behind it.

    .venv/bin/python benchmarks/pages.py [--instances 100000] [--jobs 500] [--rounds 20] [--folder DATA]

A folder that is given is used as it is, for example one that `seedhistory` filled; without one it is made and removed.
Time is that of the request within Django, without network: what a page costs when the machine is otherwise quiet. On
one that is not, "processor" says what it would be.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from _bench import percentile, remove, show, use_own_data_folder

LIMIT_MS = 200.0
MOST_PREVIEWED = 50
MODELS = ("job", "schedule", "instance", "attempt", "event", "node", "apitoken")
PAGES = {
    "overview": "/",
    "jobs": "/jobs/",
    "jobs, searched": "/jobs/?q=orders",
    "jobs, failed": "/jobs/?q=status:failed",
    "jobs, by last run": "/jobs/?sort=last",
    "jobs, by tag, by next run": "/jobs/?q=tag:etl&sort=next",
    "delete job": "/jobs/{job}/delete/",
    "job": "/jobs/{job}/",
    "edit job": "/jobs/{job}/edit/",
    "new job": "/jobs/new/",
    "instances": "/instances/",
    "instances, failed": "/instances/?status=failed",
    "instances, searched": "/instances/?q=orders",
    "instances, all filters": "/instances/?q=orders&status=failed&tag=etl&node=history&within=30d&exit=1",
    "instances, of a job": "/instances/?job={name}",
    "instances, oldest": "/instances/?after=0",
    "instances, retry all?": "/instances/bulk/?action=retry&all=yes",
    "instances, delete found?": "/instances/bulk/?action=delete&all=yes&filter=q%3Dorders",
    "schedules": "/schedules/",
    "forecast": "/forecast/",
    "schedules, searched": "/schedules/?q=orders&state=active&sort=last",
    "nodes": "/nodes/",
    "instance": "/instances/{instance}/",
    "login": "/login/",
    "API jobs": "/api/v1/jobs",
    "API job": "/api/v1/jobs/{job}",
    "API status": "/api/v1/jobs/{job}/status?limit=50",
    "API instances": "/api/v1/instances",
    "API instances, failed": "/api/v1/instances?status=failed&limit=100",
    "API health": "/api/v1/system/health",
    "live rows, jobs": "/live/rows/?topic=jobs:1&topic=site",
    "live rows, instances": "/live/rows/?topic=instances:&topic=site",
    "API next runs": "/api/v1/jobs/scheduled",
    "API resources": "/api/v1/system/resources",
    "healthz": "/healthz",
    "admin": "/admin/",
    **{f"admin, {model}s": f"/admin/jobs/{model}/" for model in MODELS},
    "admin, instances searched": "/admin/jobs/instance/?q=orders",
    "admin, instances failed": "/admin/jobs/instance/?status__exact=failed",
    "admin, jobs searched": "/admin/jobs/job/?q=orders",
    "admin, jobs by tag": "/admin/jobs/job/?tag=etl",
    "admin, schedules searched": "/admin/jobs/schedule/?q=orders",
    "admin, instances by number": "/admin/jobs/instance/?q={instance}",
    "admin, events of a kind": "/admin/jobs/event/?kind=instance.ended",
    "admin, job": "/admin/jobs/job/{job}/change/",
    "admin, instance": "/admin/jobs/instance/{instance}/change/",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    folder = use_own_data_folder(options.folder)
    try:
        if not options.folder:
            from django.core.management import call_command

            call_command("seedhistory", instances=options.instances, jobs=options.jobs)
        show(f"server time of pages, ms (limit {LIMIT_MS:g} at p95)", measure(options.rounds))
    finally:
        if not options.folder:
            remove(folder)


def measure(rounds: int) -> list[dict[str, Any]]:
    from django.contrib.auth import get_user_model
    from django.test import Client

    from jobs.models import Instance, Job

    user = get_user_model().objects.get_or_create(username="reader", is_superuser=True, is_staff=True)[0]
    client = Client(SERVER_NAME="localhost")
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    newest = Instance.objects.order_by("-pk").first()
    assert newest is not None, "the folder has no instance; fill it with seedhistory"
    places = {"job": newest.job_id, "name": quote(newest.job.name), "instance": newest.pk}
    read = [_measured(client.get, name, address.format(**places), {}, rounds) for name, address in PAGES.items()]
    jobs = list(Job.objects.order_by("pk").values_list("pk", flat=True)[:MOST_PREVIEWED])
    wish = {"_selected_action": jobs, "action": "change_jobs", "step": "preview", "priority": "2", "add_tags": "new"}
    asked = {"do": "delete", "all": "yes", "q": "orders"}
    return [
        *read,
        _measured(client.post, "admin, bulk preview of 50", "/admin/jobs/job/", wish, rounds),
        _measured(client.post, "jobs, delete found?", "/jobs/selection/", asked, rounds),
    ]


def _measured(send: Any, name: str, address: str, data: dict[str, Any], rounds: int) -> dict[str, Any]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:  # and what is made once, such as compiled templates
        answer = send(address, data)
    # Now: the next request forgets them.
    count, slowest = len(queries), max((float(one["time"]) * 1000 for one in queries), default=0.0)
    times, busy = [], []
    for _ in range(rounds):
        began, computed = time.perf_counter(), time.process_time()
        send(address, data)
        times.append((time.perf_counter() - began) * 1000)
        busy.append((time.process_time() - computed) * 1000)
    p95 = percentile(times, 0.95)
    return {
        "page": name,
        "status": answer.status_code,
        "queries": count,
        "slowest query": slowest,
        "processor p95": percentile(busy, 0.95),
        "p50": percentile(times, 0.5),
        "p95": p95,
        "": "over" if p95 > LIMIT_MS else "",
    }


if __name__ == "__main__":
    main()
