import os
import secrets
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page

from dashboard.models import BulkOperation
from jobs import actions
from jobs.core.states import TERMINAL
from jobs.models import Backfill, Instance, Job, Limit, Secret
from tests.api.site import sign_in
from tests.fixtures.bootstrapped import Bootstrapped
from tests.fixtures.chromium import context_of, launched, opened, watched
from tests.fixtures.migrated import default_file
from tests.service.conftest import ROOT, Home
from tests.waiting import until

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}

# In place of the socket of a page: says that all is well, and what a test has it tell.
TOLD_BY_HAND = """window.WebSocket = class extends EventTarget {
    static OPEN = 1;
    readyState = 1;
    constructor() { super(); window.socket = this; setInterval(() => this.tell({kind: "tick"}), 1000); }
    tell(frame) { this.onmessage?.({data: JSON.stringify(frame)}); }
    send() {}
    close() {}
}"""

# What the page fetches at addresses with this part waits, however long, until `held[n]()` has it go on.
HELD = """part => {
    const real = window.fetch, held = window.held = [];
    window.fetch = (address, options) => !String(address).includes(part) ? real(address, options)
        : new Promise(answer => held.push(() => answer(real(address, {...options, signal: null}))));
}"""


@dataclass(frozen=True)
class Blank:
    """What a data folder begins with: all tables without rows, all static files."""

    database: Path
    bootstrapped: Bootstrapped


@dataclass
class Service:
    """A whole Rota, engine and pages, whose database this test's own Django reads and writes too."""

    home: Home
    address: str
    process: subprocess.Popen[bytes]

    def submit(self, script: str, name: str = "job", **fields: Any) -> int:
        return self.home.submit(script, name, **fields)

    def until(self, instance_id: int, status: str) -> None:
        until(lambda: self.home.status(instance_id) == status)

    def cancel(self, instance_id: int) -> None:
        actions.cancel_instance(instance_id, actor="bob", now=timezone.now())

    def clear(self) -> None:
        """End what runs, and delete all that was made."""
        now = timezone.now()
        for backfill_id in Backfill.objects.filter(status="running").values_list("pk", flat=True):
            actions.cancel_backfill(backfill_id, actor="test", now=now)
        for instance_id in Instance.objects.exclude(status__in=TERMINAL).values_list("pk", flat=True):
            actions.cancel_instance(instance_id, actor="test", now=now)
        until(lambda: set(self.home.statuses().values()) <= TERMINAL)
        for job_id in Job.objects.values_list("pk", flat=True):
            with suppress(actions.NotFound):  # a test asked for its deletion, and now it went
                # With what lives: its schedule may have fired since.
                actions.delete_job(job_id, actor="test", now=now, cancel_live=True, release=True)
        until(lambda: not Job.objects.exists())
        for limit_id in Limit.objects.values_list("pk", flat=True):
            actions.delete_limit(limit_id, actor="test", now=now)
        for secret_id in Secret.objects.values_list("pk", flat=True):
            actions.delete_secret(secret_id, actor="test", now=now)
        BulkOperation.objects.all().delete()
        get_user_model().objects.all().delete()


@pytest.fixture(scope="module")
def browser(django_db_setup: None) -> Iterator[Browser]:
    """One Chromium for all tests of a module, each with pages of its own; none of these tests has an event loop.

    The tests' own database is made before: the connection that keeps it must outlive Playwright's event loop.
    """
    with launched() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    with context_of(browser) as context:
        yield context


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page that finds scripts and styles in the cache of those before it, and nothing else that they left behind."""
    with watched(context) as page:
        yield page
        forget_all(page)


def forget_all(page: Page) -> None:
    page.context.clear_cookies()
    origin = urlsplit(page.url)
    kept = {"origin": f"{origin.scheme}://{origin.netloc}", "storageTypes": "all"}
    page.context.new_cdp_session(page).send("Storage.clearDataForOrigin", kept)


@pytest.fixture(scope="session")
def blank(migrated_file: Path, bootstrapped: Bootstrapped) -> Blank:
    return Blank(migrated_file, bootstrapped)


@pytest.fixture(scope="session")
def started(blank: Blank, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for all tests: each start takes seconds."""
    command = ["manage.py", "runscheduler", "--node", "atlas", "--cores", "2", "--port"]
    with serving(command, blank, tmp_path_factory.mktemp("data")) as service:
        yield service


@contextmanager
def serving(command: list[str], blank: Blank, folder: Path, **pipes: Any) -> Iterator[Service]:
    """`command PORT` on a copy of this data folder, until the block ends."""
    shutil.copy(blank.database, folder / "db.sqlite3")
    blank.bootstrapped.give_static_files(folder)
    # The same key, so that a session that the test opens is one of the service.
    (folder / "secret_key").write_text(settings.SECRET_KEY)
    with answering(command, folder, free_port(), **pipes) as service:
        yield service


@contextmanager
def answering(command: list[str], folder: Path, port: int, **pipes: Any) -> Iterator[Service]:
    """`command PORT` on what is in this data folder, until the block ends."""
    environment = {
        "ROTA_DATA": str(folder),
        "PATH": os.environ["PATH"],
        "ROTA_MIN_FREE_DISK_MB": "0",
    }
    with (
        (folder / "output").open("ab") as output,
        subprocess.Popen(
            [sys.executable, *command, str(port)],
            cwd=ROOT,
            env=environment,
            **({"stdout": output, "stderr": output} | pipes),
        ) as process,
    ):
        service = Service(Home(folder), f"http://127.0.0.1:{port}", process)
        try:
            until(lambda: answers(service))
            yield service
        finally:
            process.terminate()


@contextmanager
def at_home(service: Service, django_db_blocker: Any) -> Iterator[None]:
    """Within the block, this test's own Django reads and writes what the service does.

    Begun beside Playwright's event loop (after `browser`), it must end there: Django has other connections outside.
    """
    folder = service.home.folder
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock(), default_file(folder / "db.sqlite3"):
        patch.setattr(settings, "DATA_DIR", folder)
        yield


@pytest.fixture
def service(browser: Browser, started: Service, django_db_blocker: Any) -> Iterator[Service]:
    with at_home(started, django_db_blocker):
        yield started
        started.clear()


@pytest.fixture
def signed_in(service: Service, page: Any) -> Iterator[Any]:
    """A page in which the admin has signed in; the test fails if anything is logged as an error there."""
    with signed_in_at(service, page):
        yield page


@pytest.fixture
def phone(service: Service, browser: Any) -> Iterator[Any]:
    """As `signed_in`, on a phone."""
    with opened(browser, **PHONE) as page, signed_in_at(service, page):
        yield page


@contextmanager
def signed_in_at(service: Service, page: Any, expected: tuple[str, ...] = ("WebSocket",)) -> Iterator[None]:
    """The block fails if anything is logged as an error that has none of the `expected` words."""
    errors: list[str] = []
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    admin, _ = get_user_model().objects.get_or_create(username="admin", is_staff=True, is_superuser=True)
    sign_in(page.context, service.address, admin)
    yield
    assert [error for error in errors if not any(word in error for word in expected)] == []


@contextmanager
def leaving(page: Page) -> Iterator[None]:
    """The block makes the browser go to a page, be it this one anew; here it ends when that one is there, scripts run.

    Keys do not wait for that as a click does, and what the socket brings may be on the old page as well as on the new.
    """
    with page.expect_navigation():
        yield


def answers(service: Service) -> bool:
    assert service.process.poll() is None, service.home.output()
    try:
        with urllib.request.urlopen(f"{service.address}/login/", timeout=30) as response:  # noqa: S310 - our own
            return response.status == 200
    except OSError:
        return False


def free_port() -> int:
    """Below those that the kernel gives to whoever connects, which may be taken again before the service listens."""
    while True:
        port = 10_000 + secrets.randbelow(20_000)  # not by `random`: all workers have one seed
        with closing(socket.socket()) as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
