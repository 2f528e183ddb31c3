"""What holds on every page, and who may come in."""

import subprocess
import sys
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth import get_user_model
from django.contrib.staticfiles import finders
from django.core.checks import run_checks
from django.db import OperationalError

from scheduler_site.content_security import POLICY
from scheduler_site.origin import is_same_origin
from tests.waiting import DEADLINE_SECONDS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/admin/login/", "/no-such-page", "/admin/"])
def test_every_answer_has_the_content_security_policy(client, address):
    assert client.get(address).headers["Content-Security-Policy"] == POLICY


def test_favicon_is_there_for_what_names_none(client):
    assert client.get("/favicon.ico").headers["Location"] == "/static/dashboard/favicon.svg"


@pytest.mark.django_db
def test_health_is_told_without_login(client):
    assert client.get("/healthz").content == b"The scheduler does not step.\n"


@pytest.mark.django_db
def test_all_else_asks_for_a_login(client):
    assert client.get("/").headers["Location"] == "/login/?next=/"


async def opens_socket(origin, address="/ws/live"):
    from scheduler_site.asgi import application

    headers = [(b"origin", origin), (b"host", b"localhost")]
    browser = WebsocketCommunicator(application, address, headers=headers)
    accepted, _ = await browser.connect(timeout=DEADLINE_SECONDS)
    return accepted


async def test_socket_of_another_origin_is_refused():
    assert await opens_socket(b"http://localhost")
    assert not await opens_socket(b"http://elsewhere.example")
    assert not await opens_socket(b"http://localhost:1")


async def test_socket_is_refused_in_one_line_while_the_database_is_away(monkeypatch, caplog):
    monkeypatch.setattr("channels.auth.get_user", AsyncMock(side_effect=OperationalError("it is away")))
    assert not await opens_socket(b"http://localhost")
    assert "/ws/live: the database could not do it: it is away" in caplog.text


async def test_socket_to_nowhere_is_closed():
    assert not await opens_socket(b"http://localhost", "/ws/nowhere")


def test_policy_allows_nothing_inline():
    assert "unsafe" not in POLICY


async def test_policy_holds_under_asgi(async_client):
    answer = await async_client.get("/no-such-page")
    assert answer.headers["Content-Security-Policy"] == POLICY


def test_project_passes_django_checks():
    assert not run_checks(include_deployment_checks=False)


def test_only_named_files_of_npm_packages_are_public():
    assert finders.find("vendor/ansi_up.js").endswith("node_modules/ansi_up/ansi_up.js")
    assert finders.find("vendor/package.json") is None
    assert finders.find("ansi_up/ansi_up.js") is None


def log_in(client, password):
    return client.post("/admin/login/", {"username": "ana", "password": password})


@pytest.mark.django_db
def test_ten_wrong_passwords_lock_a_user_out(client, settings):
    settings.AXES_ENABLED = True
    get_user_model().objects.create_superuser("ana", password="right")
    answers = [log_in(client, "wrong").status_code for _ in range(10)]
    assert answers == [200] * 9 + [429]
    assert log_in(client, "right").status_code == 429


@pytest.mark.django_db
def test_right_password_forgets_the_wrong_ones(client, settings):
    settings.AXES_ENABLED = True
    get_user_model().objects.create_superuser("ana", password="right")
    for _ in range(3):
        assert [log_in(client, "wrong").status_code for _ in range(5)] == [200] * 5
        assert log_in(client, "right").status_code == 302
        client.logout()


def test_no_page_is_kept_by_the_browser(client):
    assert client.get("/login/").headers["Cache-Control"] in (
        "no-store",
        "max-age=0, no-cache, no-store, must-revalidate, private",
    )


@pytest.mark.parametrize(("origin", "host", "fine"), [
    ("http://127.0.0.1:8000", "127.0.0.1:8000", True),
    ("https://rota.example", "rota.example", True),
    ("http://127.0.0.1:1", "127.0.0.1:8000", False),
    ("http://localhost:8000", "127.0.0.1:8000", False),
    ("null", "127.0.0.1:8000", False),
    ("", "127.0.0.1:8000", False),
    ("http://127.0.0.1:99999", "127.0.0.1:8000", False),
    ("https://localhost", "127.0.0.1:8000", True),  # in CSRF_TRUSTED_ORIGINS
])  # fmt: skip
def test_socket_is_for_pages_of_the_same_port(origin, host, fine):
    assert is_same_origin(origin, host) is fine


def test_page_while_the_database_cannot_write_says_so(client, monkeypatch):
    from django.contrib.auth import views

    def busy(*_args, **_options):
        raise OperationalError("database is locked")

    monkeypatch.setattr(views.LoginView, "get", busy)
    answer = client.get("/login/")
    assert answer.status_code == 503
    assert b"Nothing was stored" in answer.content


def test_refusals_have_their_words_in_the_status_line():
    """In a process of its own: importing the server installs its event loop."""
    printed = "import scheduler_site.web; from twisted.web.http import RESPONSES; print(RESPONSES[422].decode())"
    told = subprocess.run([sys.executable, "-c", printed], cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout == "Unprocessable Entity\n"
