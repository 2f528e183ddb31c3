"""Whatever is deleted between two queries of an answer, it is a page or a sentence, and never a failure."""

import json
from itertools import count

import pytest
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from jobs import actions, models
from tests.dashboard.between import Moving
from tests.dashboard.places import end, make_node, make_running

pytestmark = pytest.mark.django_db

READS = (
    "/secrets/", "/forecast/computed/", "/instances/{instance}/", "/instances/{instance}/samples/",
    "/api/v1/jobs", "/api/v1/secrets", "/api/v1/secrets/{secret}", "/api/v1/forecast", "/api/v1/instances/{instance}",
)  # fmt: skip
WRITES = (
    ("post", "/api/v1/jobs/{job}/run"),
    ("post", "/api/v1/instances/{instance}/retry"),
    ("delete", "/api/v1/jobs/{job}"),
    ("patch", "/api/v1/secrets/{secret}"),
)


@pytest.fixture
def ids():
    now = timezone.now()
    node = make_node()
    actions.create_secret({"name": "stripe", "value": "s3cr3t-1"}, actor="ann", now=now)
    daily = {"schedule_type": "daily", "schedule_expression": "02:30"}
    first = {"name": "first", "kind": "command", "command": "true", "secrets": ["stripe"], **daily}
    job = models.Job.objects.get(pk=actions.create_job(first, actor="ann", now=now).job_id)
    actions.create_job(
        {"name": "second", "kind": "command", "command": "true", "depends_on": ["first"]}, actor="ann", now=now
    )
    make_running(job, node)
    instance = end(make_running(job, node, (1,)), "failed", exit_code=1)
    return {"job": job.pk, "instance": instance.pk, "secret": models.Secret.objects.get().pk}


def delete_all():
    for model in (models.Attempt, models.Instance, models.Job, models.Secret, models.Node):
        model.objects.all().delete()


def answers_of(ask):
    """Of what is asked, with all deleted after the first of its queries, after the second and so on."""
    for number in count():
        undone = transaction.savepoint()
        left = iter(range(number + 1))

        def when(sql, _params):
            return sql.startswith("SELECT") and '"jobs_' in sql and next(left, None) == number  # noqa: B023 - at once

        moving = Moving(when, delete_all)
        with moving.during():
            yield ask()
        transaction.savepoint_rollback(undone)
        if not moving.moved:
            return


@pytest.mark.parametrize("path", READS)
def test_what_is_deleted_while_it_is_read_fails_no_page(admin_client, ids, path):
    def ask():
        cache.clear()  # of a forecast that was made before, which asks for nothing
        return admin_client.get(path.format(**ids))

    found = [answer.status_code for answer in answers_of(ask)]
    assert set(found) <= {200, 404}
    assert found[-1] == 200


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_what_is_deleted_while_it_is_written_fails_no_call(admin_client, ids, method, path):
    def ask():
        body = json.dumps({"value": "s3cr3t-2"}) if method == "patch" else ""
        return getattr(admin_client, method)(path.format(**ids), body, content_type="application/json")

    found = list(answers_of(ask))
    assert {answer.status_code for answer in found} <= {200, 201, 404, 409}
    assert all(answer.json()["detail"] for answer in found if answer.status_code == 404)
