"""Requests that nobody should send, and the sentences that they get."""

import json

import pytest

from jobs.models import Job

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "body",
    [b" ", b"{", b"nonsense", b"\xff\xfe", b"[" * 10**5, b'{"a": NaN}', b'{"a": -Infinity}', b"[]", b"null", b'"text"',
     b'{"name": "a", "name": "b"}', b'{"a": ' + b"9" * 5000 + b"}", b'{"a": 1}}', b"\x00"],
)  # fmt: skip
def test_body_that_is_no_object_is_refused(api, problem, body):
    problem(api.generic("POST", "jobs", body, content_type="application/json"), 400)


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data", ""])
def test_body_of_another_kind_is_refused(api, problem, kind):
    answer = api.generic("POST", "jobs", b"name=x", content_type=kind)
    assert "application/json" in problem(answer, 415)["detail"]


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.rota+json"])
def test_json_by_another_name_is_taken(api, kind):
    body = json.dumps({"name": "x", "command": "true"})
    assert api.generic("POST", "jobs", body, content_type=kind).status_code == 201


def test_body_that_is_too_large_is_refused(api, problem):
    answer = api.send("jobs", name="x", script_content="#" * 3_000_000)
    assert "too large" in problem(answer, 413)["detail"]
    assert not Job.objects.exists()


def test_number_without_end_is_refused(api, problem):
    body = b'{"name": "x", "command": "true", "timeout_seconds": 1e999, "max_retries": ' + b"9" * 400 + b"}"
    refusal = problem(api.generic("POST", "jobs", body, content_type="application/json"), 422)
    assert {error["field"] for error in refusal["errors"]} == {"timeout_seconds", "max_retries"}


def test_half_characters_are_refused(api, problem):
    body = rb'{"name": "\ud800", "command": "true", "\udfff": 1, "description": "\u0000"}'
    refusal = problem(api.generic("POST", "jobs", body, content_type="application/json"), 422)
    assert {error["field"] for error in refusal["errors"]} == {"name", "?", "description"}


def test_name_that_looks_like_code_is_text(api):
    name = "<img src=x onerror=document.title=1>'\"&{{7*7}}${7*7}"
    job = api.get(f"jobs/{api.send('jobs', name=name, command='true').json()['job_id']}")
    assert job.json()["name"] == name
    assert job.headers["Content-Type"].startswith("application/json")
    assert job.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("put", "jobs", "GET, POST"), ("delete", "jobs", "GET, POST"), ("get", "jobs/1/run", "POST"),
     ("post", "jobs/scheduled", "GET"), ("post", "system/health", "GET")],
)  # fmt: skip
def test_other_method_says_which_are_taken(api, problem, method, path, allowed):
    answer = getattr(api, method)(path)
    assert allowed in problem(answer, 405)["detail"]
    assert answer.headers["Allow"] == allowed


def test_head_is_get_without_a_body(api):
    answer = api.head("jobs")
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(
    "path", ["", "nothing", "jobs/", "jobs/1/2/3", "jobs//run", "%F0%9F%9A%80", "a%00b", "instances/1/log/x"]
)
@pytest.mark.parametrize("method", ["get", "post"])
def test_other_address_is_not_found(api, problem, method, path):
    problem(getattr(api, method)(f"/api/v1/{path}"), 404)


def test_error_that_nobody_thought_of_is_logged(api, problem, monkeypatch, caplog):
    monkeypatch.setattr("jobs.actions.pause_job", lambda *_, **__: 1 / 0)
    assert "division" not in problem(api.post("jobs/1/pause"), 500)["detail"]
    assert "ZeroDivisionError" in caplog.text
