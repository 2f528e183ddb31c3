"""The header Idempotency-Key: asked again, answered again, done once."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connections
from django.utils import timezone

from jobs.api import api as rota_api
from jobs.api.tokens import make_token
from jobs.models import Backfill, IdempotencyKey, Instance, Job
from jobs.service.deletions import forget_old_keys
from tests.actions.places import HOURLY, at_once, make_instance, make_job
from tests.api.conftest import ApiClient

FIELDS = {"name": "report", "command": "true"}


@pytest.fixture
def keyed(api):
    """Calls as `api` does, with a key."""
    api.defaults["HTTP_IDEMPOTENCY_KEY"] = "order-1"
    return api


def test_job_made_again_is_answered_again(keyed):
    first, second = keyed.send("jobs", **FIELDS), keyed.send("jobs", **FIELDS)
    assert (second.status_code, second.json()) == (201, first.json())
    assert [answer.headers.get("Idempotency-Replayed") for answer in (first, second)] == [None, "true"]
    assert (Job.objects.count(), Instance.objects.count()) == (1, 1)


def test_names_in_another_order_are_the_same(keyed):
    keyed.send("jobs", **FIELDS)
    assert keyed.send("jobs", **dict(reversed(FIELDS.items()))).status_code == 201


@pytest.mark.parametrize("address", ["jobs/{job}/run", "workflows/{job}/run", "jobs/{job}/run?scope=job"])
def test_run_asked_again_runs_once(keyed, address):
    address = address.format(job=make_job(**HOURLY).pk)
    first, second = keyed.post(address), keyed.post(address)
    assert (first.status_code, first.json()) == (201, second.json())
    assert Instance.objects.count() == 1


@pytest.mark.parametrize("wish", ["retry", "retry-from-here"])
def test_retry_that_has_ended_is_not_made_again(keyed, wish):
    ended = make_instance(make_job(), "failed")
    first = keyed.post(f"instances/{ended.pk}/{wish}")
    Instance.objects.exclude(pk=ended.pk).update(status="cancelled", ended_at=timezone.now(), hold_code="")
    assert keyed.post(f"instances/{ended.pk}/{wish}").json() == first.json()
    assert Instance.objects.count() == 2


def test_backfill_asked_again_is_begun_once(keyed):
    window = {"first": "2026-05-01", "last": "2026-05-01"}
    address = f"jobs/{make_job(**HOURLY).pk}/backfills"
    first = keyed.send(address, **window)
    assert (first.status_code, keyed.send(address, **window).json()) == (201, first.json())
    assert Backfill.objects.count() == 1


def test_calendar_and_limit_are_made_once(api):
    for path, fields in (("calendars", {"name": "a"}), ("limits", {"kind": "tag", "name": "etl", "maximum": 2})):
        answers = [
            api.post(path, fields, content_type="application/json", headers={"Idempotency-Key": path}) for _ in "ab"
        ]
        assert [answer.status_code for answer in answers] == [201, 201], path
        assert answers[0].json() == answers[1].json()


def test_key_of_another_request_is_refused(keyed, problem):
    job = make_job()
    keyed.send("jobs", **FIELDS)
    for other in (keyed.send("jobs", **FIELDS, priority=2), keyed.post(f"jobs/{job.pk}/run")):
        refusal = problem(other, 422)
        assert "was used within the last 24 hours for another request" in refusal["detail"]
        assert refusal["errors"][0]["field"] == "Idempotency-Key"
    assert not Instance.objects.filter(job=job).exists()


def test_refusal_leaves_the_key_free(keyed, problem):
    problem(keyed.send("jobs", name="report"), 422)
    assert not IdempotencyKey.objects.exists()
    assert keyed.send("jobs", **FIELDS).status_code == 201


def test_key_is_of_one_token(keyed, ada):
    job = make_job()
    keyed.post(f"jobs/{job.pk}/run")
    token = make_token(ada, label="other", now=timezone.now())
    other = keyed.post(f"jobs/{job.pk}/run", headers={"Authorization": f"Bearer {token}"})
    assert "Idempotency-Replayed" not in other.headers
    assert Instance.objects.count() == 2


def test_session_has_keys_of_its_own(ada, client):
    client.force_login(ada)
    job = make_job()
    answers = [client.post(f"/api/v1/jobs/{job.pk}/run", headers={"Idempotency-Key": "x"}) for _ in range(2)]
    assert answers[0].json() == answers[1].json()


def test_key_is_forgotten_after_a_day(keyed):
    job = make_job()
    keyed.post(f"jobs/{job.pk}/run")
    IdempotencyKey.objects.update(created_at=timezone.now() - timedelta(hours=24))
    assert "Idempotency-Replayed" not in keyed.post(f"jobs/{job.pk}/run").headers
    assert (Instance.objects.count(), IdempotencyKey.objects.count()) == (2, 1)


def test_service_deletes_old_keys(db):
    now = timezone.now()
    for number in range(1203):
        age = timedelta(hours=23 if number < 3 else 25)
        IdempotencyKey.objects.create(caller="a", key=str(number), request="", created_at=now - age)
    assert forget_old_keys(now) == 1200
    assert IdempotencyKey.objects.count() == 3


@pytest.mark.parametrize("key", ["", "x" * 201, "é", "a\tb", "\0"])
def test_key_that_is_none_is_refused(api, problem, key):
    job = make_job()
    refusal = problem(api.post(f"jobs/{job.pk}/run", headers={"Idempotency-Key": key}), 422)
    assert refusal["errors"][0]["expected"] == "1 to 200 printable ASCII characters"
    assert not Instance.objects.exists()


def test_two_at_once_make_one(each_database):
    token = make_token(get_user_model().objects.create_user("ada"), label="", now=timezone.now())
    job = make_job()
    connections.close_all()

    def run():
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "same"}
        return ApiClient(headers=headers).post(f"jobs/{job.pk}/run").json()

    answers = at_once(run, run, run, run)
    assert all(answer == answers[0] for answer in answers)
    assert Instance.objects.count() == 1


def test_description_names_the_header():
    takes = {
        (path, method)
        for path, operations in rota_api.get_openapi_schema()["paths"].items()
        for method, operation in operations.items()
        if any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", []))
    }
    paths = {
        "jobs", "jobs/{job_id}/run", "jobs/{job_id}/backfills", "workflows/{job_id}/run",
        "instances/{instance_id}/retry", "instances/{instance_id}/retry-from-here", "calendars", "limits",
        "secrets",
    }  # fmt: skip
    assert takes == {(f"/api/v1/{path}", "post") for path in paths}
