import pytest
from django.utils import timezone

from jobs.models import Limit, Node
from tests.actions.places import HOURLY, make_instance, make_job

pytestmark = pytest.mark.django_db
TAG = {"kind": "tag", "name": "etl", "maximum": 2}


def test_limit_is_made_read_changed_and_deleted(api):
    made = api.send("limits", **TAG)
    assert (made.status_code, made.json()["maximum"], made.json()["in_use"]) == (201, 2, 0)
    address = f"limits/{made.json()['limit_id']}"
    assert api.edit(address, maximum=5).json()["changed"] == ["maximum"]
    assert api.get(address).json()["maximum"] == 5
    assert api.delete(address).json()["status"] == "deleted"
    assert not Limit.objects.exists()


def test_list_tells_what_is_in_use(api):
    api.send("limits", **TAG)
    api.send("limits", kind="rate", name="api", rate_per_second=1, burst=4)
    job = make_job(tags=["etl"], rates=["api"])
    make_instance(job, "running")
    make_instance(job, "queued")
    rate, tag = api.get("limits").json()
    assert (rate["tokens"], rate["waiting"], rate["in_use"]) == (4, 1, None)
    assert (tag["in_use"], tag["waiting"], tag["tokens"]) == (1, 1, None)


def test_refused_limit_names_field_and_expected(api, problem):
    refusal = problem(api.send("limits", kind="tag", name="etl", maximum="2"), 422)
    assert refusal["errors"][0]["field"] == "maximum"
    assert "0 to 1,000,000" in refusal["errors"][0]["expected"]


def test_rate_in_use_is_a_conflict(api, problem):
    limit = api.send("limits", kind="rate", name="api", rate_per_second=1).json()["limit_id"]
    make_job("caller", rates=["api"])
    assert "caller" in problem(api.delete(f"limits/{limit}"), 409)["detail"]


@pytest.mark.parametrize("number", ["7", "x", "0", "99999999999999999999"])
def test_unknown_limit_is_a_problem(api, problem, number):
    assert "There is no limit" in problem(api.get(f"limits/{number}"), 404)["detail"]


def test_limiting_fields_of_a_job_come_back(api):
    api.send("limits", kind="rate", name="api", rate_per_second=1)
    fields = {
        "tenant": "x", "deadline_seconds": 60, "start_deadline_seconds": 30, "max_running": 2, "rates": ["api"],
        "retry_only_exit_codes": [3], "retry_never_exit_codes": [2], "pause_after_failures": 3,
    }  # fmt: skip
    created = api.send("jobs", name="limited", command="true", **fields).json()
    job = api.get(f"jobs/{created['job_id']}").json()
    assert {name: job[name] for name in fields} == fields
    assert job["failures_in_a_row"] == 0


def test_queue_tells_why_and_when_in_its_order(api):
    job = make_job(start_deadline_seconds=60)
    make_instance(job, "running")
    Node.objects.update(heartbeat_at=timezone.now())
    later, sooner = (make_instance(job, "queued", order_key=key) for key in (9, 2))
    answer = api.get("queue").json()
    assert [row["instance_id"] for row in answer] == [sooner.pk, later.pk]
    assert set(answer[0]["hold"]) == {"code", "sentence", "predicted_start", "unknown_because"}
    assert "it is skipped if not started by" in answer[0]["hold"]["sentence"]
    assert len(api.get("queue?limit=1").json()) == 1


def test_queue_of_a_job_is_cleared(api):
    job = make_job()
    for status in ("running", "queued", "pending"):
        make_instance(job, status)
    assert api.post(f"jobs/{job.pk}/cancel-waiting").json() == {"job_id": job.pk, "cancelled": 2}


@pytest.mark.parametrize("wish", ["pause", "edit"])
def test_what_waits_goes_on_or_is_cancelled_as_asked(api, wish):
    def ask(query):
        if wish == "pause":
            return api.post(f"jobs/{job.pk}/pause{query}")
        return api.patch(f"jobs/{job.pk}{query}", {"schedule_type": "once"}, content_type="application/json")

    job = make_job(**HOURLY)
    make_instance(job), make_instance(job, "running")
    assert ask("").json()["cancelled"] == 0
    assert ask("?cancel_waiting=true").json()["cancelled"] == 1
    assert sorted(job.instances.values_list("status", flat=True)) == ["cancelled", "running"]
