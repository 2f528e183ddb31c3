import hashlib
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from jobs.api import tokens
from jobs.models import ApiToken, Job

pytestmark = pytest.mark.django_db
RAW = {"name": "x", "command": "true"}


def call(token, method="get"):
    return getattr(Client(headers={"Authorization": token}), method)("/api/v1/jobs")


def test_token_opens_and_is_stored_as_a_digest(ada):
    token = tokens.make_token(ada, label="ci", now=timezone.now())
    assert call(f"Bearer {token}").status_code == 200
    assert call(f"bearer {token}").status_code == 200
    stored = ApiToken.objects.get()
    assert stored.digest == hashlib.sha256(token.encode()).hexdigest()
    assert token not in str(vars(stored))


@pytest.mark.parametrize(
    "given", ["Bearer nonsense", "Bearer ", "Bearer", "Basic YWRhOmVuZ2luZQ==", "", "Bearer \udcff"]
)
def test_other_credentials_are_refused(ada, problem, given):
    response = call(given.encode("utf-8", "replace").decode())
    problem(response, 401)
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


def test_caller_without_credentials_is_told_to_sign_in(problem):
    assert "createtoken" in problem(Client().get("/api/v1/jobs"), 401)["detail"]
    assert "createtoken" in problem(Client(enforce_csrf_checks=True).post("/api/v1/jobs/1/run"), 401)["detail"]


def test_expired_token_is_refused(ada, problem):
    now = timezone.now()
    token = tokens.make_token(ada, label="", now=now, expires_at=now - timedelta(seconds=1))
    assert "has expired" in problem(call(f"Bearer {token}"), 401)["detail"]


def test_token_of_an_inactive_user_is_refused(ada, problem):
    token = tokens.make_token(ada, label="", now=timezone.now())
    ada.is_active = False
    ada.save()
    problem(call(f"Bearer {token}"), 401)


def test_use_is_noted_once_a_minute(ada):
    now = timezone.now()
    token = tokens.make_token(ada, label="", now=now)
    for seconds in (0, 30, 59):
        tokens.user_of(token, now + timedelta(seconds=seconds))
    assert ApiToken.objects.get().last_used_at == now
    tokens.user_of(token, now + timedelta(seconds=61))
    assert ApiToken.objects.get().last_used_at == now + timedelta(seconds=61)


def test_session_opens_for_reading(ada):
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    assert client.get("/api/v1/jobs").status_code == 200


def test_session_needs_its_csrf_token_to_write(ada, problem):
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    refused = client.post("/api/v1/jobs", RAW, content_type="application/json")
    assert "X-CSRFToken" in problem(refused, 403)["detail"]
    client.cookies["csrftoken"] = "a" * 32
    done = client.post("/api/v1/jobs", RAW, content_type="application/json", headers={"X-CSRFToken": "a" * 32})
    assert done.status_code == 201
    assert Job.objects.get().created_by == ada


def test_bad_token_is_not_made_good_by_a_session(ada, problem):
    client = Client(headers={"Authorization": "Bearer nonsense"})
    client.force_login(ada)
    problem(client.get("/api/v1/jobs"), 401)


def test_createtoken_prints_a_token_and_nothing_else(ada, capsys):
    call_command("createtoken", "ada", "--label", "ci", "--days", "30")
    printed = capsys.readouterr().out
    assert call(f"Bearer {printed.rstrip(chr(10))}").status_code == 200
    assert printed.count("\n") == 1
    made = ApiToken.objects.get()
    assert (made.label, made.expires_at - made.created_at) == ("ci", timedelta(days=30))


@pytest.mark.parametrize(("user", "options"), [("nobody", []), ("ada", ["--days=0"]), ("ada", ["--label", "x" * 101])])
def test_createtoken_refuses_with_a_sentence(ada, user, options):
    with pytest.raises(CommandError, match=r"[A-Z-].*\."):
        call_command("createtoken", user, *options)
    assert not ApiToken.objects.exists()
