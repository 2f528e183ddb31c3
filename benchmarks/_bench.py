"""What the benchmarks share: a service of their own in a temporary data folder, and how results are printed."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 60.0


def use_own_data_folder(given: Path | None = None) -> Path:
    """Point this process and what it starts at a fresh data folder with tables and no rows. Before Django is set up.

    `given`: at this one, with the rows that it has.
    """
    folder = given.resolve() if given else Path(tempfile.mkdtemp(prefix="rota-bench-"))
    os.environ.update(
        ROTA_DATA=str(folder), DJANGO_SETTINGS_MODULE="scheduler_site.settings", ROTA_MIN_FREE_DISK_MB="0"
    )
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()
    from django.core.management import call_command

    from scheduler_site.collected import collect_static_files

    call_command("migrate", verbosity=0)
    collect_static_files()
    return folder


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def service(*arguments: str, port: int | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """`runscheduler` until the block ends; with its pages on `port`, or without any."""
    web = ["--port", str(port)] if port else ["--no-web"]
    command = [sys.executable, "manage.py", "runscheduler", "--node", "bench", *web, *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        first_line = process.stdout.readline()
        assert first_line.startswith(b"Rota"), first_line
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(START_SECONDS)


def session_key() -> str:
    """A signed-in session, made in the database, so that real pages are rendered."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
    from django.contrib.sessions.backends.db import SessionStore

    user = get_user_model().objects.create_superuser("reader", password="reader-of-pages")  # noqa: S106 - of a database that is removed
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return str(session.session_key)


def fetch(url: str, headers: dict[str, str] | None = None) -> int:
    """The status of a GET from the service on this machine."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=30)
    try:
        connection.request("GET", address.path or "/", headers=headers or {})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def percentile(values: Sequence[float], share: float) -> float:
    """Nearest rank; `share` from 0 to 1."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def wait_until(condition: Any, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not true within {seconds} s")
        time.sleep(0.1)


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """A table for people, and the same as one line of JSON."""
    print(f"\n{title}")
    names = list(rows[0])
    cells = [names, *([_cell(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    for line in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
    print(json.dumps({"benchmark": title, "rows": rows}))


def _cell(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)
