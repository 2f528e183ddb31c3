"""Server time of every page and list, with a long history behind it.

    .venv/bin/python benchmarks/pages.py [--instances 100000] [--jobs 500] [--rounds 20] [--folder DATA]

A folder that is given is used as it is, for example one that `seedhistory` filled; without one it is made and removed.
Time is that of the request within Django, without network: what a page costs when the machine is otherwise quiet.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from _bench import percentile, remove, show, use_own_data_folder

LIMIT_MS = 200.0
MODELS = ("job", "schedule", "instance", "attempt", "event", "node", "apitoken")
PAGES = {
    "overview": "/",
    "jobs": "/jobs/",
    "jobs, searched": "/jobs/?q=orders",
    "job": "/jobs/{job}/",
    "edit job": "/jobs/{job}/edit/",
    "new job": "/jobs/new/",
    "instances": "/instances/",
    "instances, failed": "/instances/?status=failed",
    "instances, searched": "/instances/?q=orders",
    "instance": "/instances/{instance}/",
    "login": "/login/",
    "API jobs": "/api/v1/jobs",
    "API job": "/api/v1/jobs/{job}",
    "API status": "/api/v1/jobs/{job}/status?limit=50",
    "API instances": "/api/v1/instances",
    "API next runs": "/api/v1/jobs/scheduled",
    "API resources": "/api/v1/system/resources",
    "healthz": "/healthz",
    "admin": "/admin/",
    **{f"admin, {model}s": f"/admin/jobs/{model}/" for model in MODELS},
    "admin, instances searched": "/admin/jobs/instance/?q=orders",
    "admin, instances failed": "/admin/jobs/instance/?status__exact=failed",
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

    from jobs.models import Instance

    user = get_user_model().objects.get_or_create(username="reader", is_superuser=True, is_staff=True)[0]
    client = Client(SERVER_NAME="localhost")
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    newest = Instance.objects.order_by("-pk").first()
    assert newest is not None, "the folder has no instance; fill it with seedhistory"
    places = {"job": newest.job_id, "instance": newest.pk}
    return [_measured(client, name, address.format(**places), rounds) for name, address in PAGES.items()]


def _measured(client: Any, name: str, address: str, rounds: int) -> dict[str, Any]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:  # and what is made once, such as compiled templates
        answer = client.get(address)
    count, times = len(queries), []
    for _ in range(rounds):
        began = time.perf_counter()
        client.get(address)
        times.append((time.perf_counter() - began) * 1000)
    p95 = percentile(times, 0.95)
    return {
        "page": name,
        "status": answer.status_code,
        "queries": count,
        "p50": percentile(times, 0.5),
        "p95": p95,
        "": "over" if p95 > LIMIT_MS else "",
    }


if __name__ == "__main__":
    main()
