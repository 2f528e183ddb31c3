"""Secrets by the API: written, never read."""

import hashlib
import json

import pytest
from django.db import connection

from jobs.models import IdempotencyKey, Secret
from jobs.store import vault

pytestmark = pytest.mark.django_db
VALUE = "s3cr3t-value-123"


def make(api, name="stripe", **fields):
    return api.send("secrets", name=name, value=VALUE, **fields)


def test_secret_is_made_read_replaced_and_deleted(api, ada):
    made = make(api, description="of the shop")
    assert made.status_code == 201
    assert (made.json()["name"], made.json()["created_by"], made.json()["jobs"]) == ("stripe", "ada", [])
    address = f"secrets/{made.json()['secret_id']}"
    assert api.edit(address, value="another-value").json()["changed"] == ["value"]
    assert vault.decrypt(Secret.objects.get()) == "another-value"
    assert api.get(address).json()["description"] == "of the shop"
    assert api.delete(address).json()["status"] == "deleted"
    assert not Secret.objects.exists()


def test_no_answer_has_a_value(api):
    answers = [make(api), make(api), api.get("secrets"), api.get("secrets/1"), api.edit("secrets/1", value=VALUE)]
    answers += [api.send("secrets", name="x", value=VALUE, vale=VALUE), api.send("secrets", name="x", value=[VALUE])]
    answers += [api.send("jobs", name="n", command="true", secrets=["stripe"]), api.get("jobs"), api.get("jobs/1")]
    assert [answer.status_code for answer in answers] == [201, 422, 200, 200, 200, 422, 422, 201, 200, 200]
    assert not any(VALUE in answer.content.decode() for answer in answers)


def test_job_names_its_secrets_and_they_their_jobs(api):
    make(api)
    job = api.send(
        "jobs", name="n", command="true", secrets=[{"name": "stripe", "variable": "KEY", "file": True}]
    ).json()
    uses = [{"name": "stripe", "variable": "KEY", "file": True}]
    assert api.get(f"jobs/{job['job_id']}").json()["secrets"] == uses
    assert api.get("jobs").json()[0]["secrets"] == uses
    [given] = api.get("secrets").json()[0]["jobs"]
    assert given == {"job_id": job["job_id"], "job_name": "n", "variable": "KEY", "file": True}


def test_secret_in_use_is_a_conflict(api, problem):
    secret = make(api).json()["secret_id"]
    api.send("jobs", name="nightly", command="true", secrets=["stripe"])
    assert "nightly" in problem(api.delete(f"secrets/{secret}"), 409)["detail"]


def test_unknown_name_is_refused_with_the_near_one(api, problem):
    make(api)
    refusal = problem(api.send("jobs", name="n", command="true", secrets=["strippe"]), 422)
    assert "did you mean stripe?" in refusal["detail"]


def test_key_for_a_request_keeps_nothing_to_try_values_on(api):
    fields = {"name": "stripe", "value": VALUE}
    first, again = (
        api.post("secrets", fields, content_type="application/json", headers={"Idempotency-Key": "k"}) for _ in "12"
    )
    assert (first.status_code, again.status_code, again.json()) == (201, 201, first.json())
    kept = IdempotencyKey.objects.get()
    assert VALUE not in f"{vars(kept)}"
    asked = json.dumps(["POST", "/api/v1/secrets", []]).encode() + b"\n" + json.dumps(fields, sort_keys=True).encode()
    assert hashlib.sha256(asked).hexdigest() not in f"{vars(kept)}"


def test_database_holds_no_value(api):
    make(api)
    api.send("jobs", name="n", command="true", secrets=["stripe"])
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = [row[0] for row in cursor.fetchall()]
        rows = [cursor.execute(f'SELECT * FROM "{table}"').fetchall() for table in tables]  # noqa: S608 names of tables
    assert VALUE.encode() not in b"".join(bytes(cell) if isinstance(cell, bytes) else str(cell).encode()
                                          for table in rows for row in table for cell in row)  # fmt: skip


def test_lists_of_jobs_cost_no_query_for_each(api, django_assert_max_num_queries):
    make(api)
    for number in range(5):
        api.send("jobs", name=f"n{number}", command="true", secrets=["stripe"])
    with django_assert_max_num_queries(10):
        api.get("jobs")
