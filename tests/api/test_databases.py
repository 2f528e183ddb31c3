"""The same calls on both databases: where SQL differs, answers do not."""

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from jobs.api.tokens import make_token
from tests.actions.places import make_instance, make_job
from tests.api.conftest import ApiClient


@pytest.fixture
def api(each_database):
    user = get_user_model().objects.create_user("ada")
    token = make_token(user, label="", now=timezone.now())
    return ApiClient(headers={"Authorization": f"Bearer {token}"}, raise_request_exception=False)


def test_tags_are_found_whole(api):
    job = make_job("tagged", tags=["etl", 'quo"te%'])
    make_job("other", tags=["etl2"])
    for tag in ("etl", "quo%22te%25"):
        assert [one["job_id"] for one in api.get(f"jobs?tag={tag}").json()] == [job.pk]


@pytest.mark.parametrize("query", ["name=%00", "tag=%00", "tag=%ED%A0%80"])
def test_what_no_column_holds_is_no_failure(api, query):
    assert api.get(f"jobs?{query}").status_code in (200, 422)


def test_job_lives_and_goes(api):
    fields = {"environment": {"A": "\x01é🚀"}, "description": "\x1b[1mbold", "tags": ["东京"]}
    created = api.send(
        "jobs", name="🚀", command="printf '\\0'", schedule_type="cron", schedule_expression="H * * * *", **fields
    )
    number = created.json()["job_id"]
    assert api.edit(f"jobs/{number}", timezone="Asia/Tokyo", cpu_cores_required=2).json()["cpu_cores_required"] == 2
    assert [job["job_id"] for job in api.get("jobs/scheduled").json()] == [number]
    run = api.post(f"jobs/{number}/run").json()
    assert api.post(f"instances/{run['instance_id']}/cancel").json()["result"] == "cancelled"
    assert api.post(f"instances/{run['instance_id']}/retry").status_code == 201
    assert [one["status"] for one in api.get(f"jobs/{number}/status").json()] == ["queued", "cancelled"]
    assert api.get("system/resources").status_code == 200
    assert api.delete(f"jobs/{number}?cancel=true").json()["cancelled"] == 1


def test_instances_are_paged(api):
    job = make_job()
    numbers = [make_instance(job, "success").pk for _ in range(3)]
    assert [one["instance_id"] for one in api.get(f"instances?before={numbers[2]}").json()] == [numbers[1], numbers[0]]
