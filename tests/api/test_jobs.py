from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from jobs.actions.bodies import MASK
from jobs.models import Instance, Job
from tests.actions.places import HOURLY, make_instance, make_job


def test_job_is_created_and_runs_at_once(api):
    response = api.send("jobs", name="report", script_content="print(1)")
    assert response.status_code == 201
    created = response.json()
    job = Job.objects.get()
    assert created == {
        "job_id": job.pk,
        "name": "report",
        "status": "created",
        "created_at": job.created_at.isoformat(),
        "instance_id": Instance.objects.get().pk,
    }
    assert datetime.fromisoformat(created["created_at"]).utcoffset() == timedelta(0)
    assert job.created_by.username == "ada"


def test_all_fields_of_a_job_come_back(api):
    fields = {
        "name": "etl", "script_content": "print(1)\n", "cpu_cores_required": 1, "memory_mb_required": 64,
        "timeout_seconds": 60, "schedule_type": "weekly", "schedule_expression": "mon,wed 10:00",
        "start_date": "2030-01-01T00:00:00+01:00", "end_date": "2030-12-31T12:00:00+01:00", "timezone": "Europe/Berlin",
        "max_retries": 2, "retry_delay_seconds": 5, "priority": 2, "tags": ["a", "b"], "description": "two\nlines",
        "python_version": "3.12", "requirements": ["pandas<3,>=2.2", "requests"],
    }  # fmt: skip
    created = api.send("jobs", **fields, depends_on=[], created_by="eve").json()
    assert created["instance_id"] is None
    job = api.get(f"jobs/{created['job_id']}").json()
    assert {name: job[name] for name in fields} == fields
    assert (job["next_run"], job["created_by"]) == ("2030-01-02T10:00:00+01:00", "ada")
    assert job["schedule"] == "at 10:00 on Monday and Wednesday (Europe/Berlin)"


def test_refused_job_names_field_given_and_expected(api, problem):
    refusal = problem(api.send("jobs", name="x", command="true", cpu_cores_required=-1, timeout_secs=3), 422)
    by_field = {error["field"]: error for error in refusal["errors"]}
    assert by_field["cpu_cores_required"]["given"] == "-1"
    assert by_field["cpu_cores_required"]["expected"] == "a whole number from 1 to 32,767"
    assert "timeout_seconds" in by_field["timeout_secs"]["detail"]
    assert not Job.objects.exists()


def test_name_that_is_taken_is_refused(api, problem):
    make_job("backup")
    refusal = problem(api.send("jobs", name="backup", command="true"), 422)
    assert "There is a job named" in refusal["detail"]


def test_values_of_variables_are_masked(api):
    job = make_job(environment={"API_TOKEN": "s3cr3t-value-123"})
    response = api.get(f"jobs/{job.pk}")
    assert response.json()["environment"] == {"API_TOKEN": MASK}
    assert "s3cr3t" not in response.content.decode()
    api.edit(f"jobs/{job.pk}", environment={"API_TOKEN": MASK, "MODE": "fast"})
    assert Job.objects.get().environment == {"API_TOKEN": "s3cr3t-value-123", "MODE": "fast"}


def test_jobs_are_listed_newest_first_and_light(api):
    jobs = [make_job(name, script_content="x" * 1000, command=None) for name in ("a", "b", "c")]
    listed = api.get("jobs").json()
    assert [job["job_id"] for job in listed] == [job.pk for job in reversed(jobs)]
    assert "script_content" not in listed[0]


def test_jobs_are_filtered(api):
    nightly = make_job("nightly report", tags=["etl", "100%"])
    make_job("hourly", tags=["etl2"])
    api.post(f"jobs/{nightly.pk}/pause")
    for query in ("name=REPORT", "tag=etl", "tag=100%25", "paused=true"):
        assert [job["job_id"] for job in api.get(f"jobs?{query}").json()] == [nightly.pk], query
    assert len(api.get("jobs?tag=e").json()) == 0


def test_pages_of_jobs_are_complete(api):
    jobs = [make_job(f"job {n}") for n in range(5)]
    seen, address = [], "/api/v1/jobs?limit=2"
    while address:
        response = api.get(address)
        seen += [job["job_id"] for job in response.json()]
        address = response.headers.get("Link", "").partition(">")[0].removeprefix("<http://testserver")
    assert seen == [job.pk for job in reversed(jobs)]


def test_edit_of_a_revision_that_is_gone_is_refused(api, problem):
    job = make_job()
    where = f"jobs/{job.pk}?revision={job.revision}"
    assert api.edit(where, tags=["a"]).json()["revision"] == job.revision + 1
    assert "changed by somebody else meanwhile" in problem(api.edit(where, tags=[]), 409)["detail"]
    assert Job.objects.get().tags == ["a"]


def test_job_is_changed_in_what_is_given(api):
    job = make_job(tags=["etl"], timeout_seconds=9, **HOURLY)
    changed = api.edit(f"jobs/{job.pk}", priority="high", timeout_seconds=None).json()
    assert (changed["priority"], changed["priority_name"], changed["timeout_seconds"]) == (2, "high", None)
    assert (changed["tags"], sorted(changed["changed"])) == (["etl"], ["priority", "timeout_seconds"])
    assert not Instance.objects.exists()


def test_pause_and_resume_answer_the_job(api):
    job = make_job(now=timezone.now(), **HOURLY)
    paused = api.post(f"jobs/{job.pk}/pause").json()
    assert (paused["paused"], paused["paused_by"], paused["next_run"]) == (True, "ada", None)
    resumed = api.post(f"jobs/{job.pk}/resume").json()
    assert not resumed["paused"]
    assert resumed["next_run"]
    assert api.post(f"jobs/{job.pk}/resume").json()["changed"] == []


def test_run_answers_the_instance(api):
    job = make_job(**HOURLY)
    response = api.post(f"jobs/{job.pk}/run")
    assert response.status_code == 201
    run = response.json()
    assert (run["job_id"], run["status"], run["cause"], run["created_by"]) == (job.pk, "queued", "manual", "ada")


def test_deletion_asks_about_live_instances(api, problem):
    job = make_job()
    instance = make_instance(job, "running")
    assert "one instance" in problem(api.delete(f"jobs/{job.pk}"), 409)["detail"]
    stopping = api.delete(f"jobs/{job.pk}?cancel=true")
    assert (stopping.status_code, stopping.json()["status"], stopping.json()["running"]) == (202, "stopping", 1)
    Instance.objects.filter(pk=instance.pk).update(status="cancelled", token="", ended_at=timezone.now())
    deleted = api.delete(f"jobs/{job.pk}")
    assert (deleted.status_code, deleted.json()["status"]) == (200, "deleted")
    problem(api.get(f"jobs/{job.pk}"), 404)


def test_status_is_a_bare_list_newest_first(api):
    job = make_job()
    instances = [make_instance(job, "success") for _ in range(12)]
    make_instance(make_job("other"), "success")
    newest = api.get(f"jobs/{job.pk}/status").json()
    assert [one["instance_id"] for one in newest] == [one.pk for one in reversed(instances)][:10]
    assert len(api.get(f"jobs/{job.pk}/status?limit=1").json()) == 1


@pytest.mark.parametrize("limit", ["0", "101", "-1", "ten", "1.5", "", "9" * 30])
def test_status_refuses_other_limits(api, problem, limit):
    refusal = problem(api.get(f"jobs/{make_job().pk}/status?limit={limit}"), 422)
    assert [error["field"] for error in refusal["errors"]] == ["limit"]


@pytest.mark.parametrize(
    "number", ["4711", "0", "-1", "abc", "1.5", "9" * 19, "9" * 40, "9223372036854775808", "%00", "²"]
)
@pytest.mark.parametrize(
    ("method", "path"),
    [("get", "jobs/{}"), ("delete", "jobs/{}"), ("get", "jobs/{}/status"), ("post", "jobs/{}/run"),
     ("post", "jobs/{}/pause"), ("post", "jobs/{}/resume"), ("get", "instances/{}"), ("get", "instances/{}/log"),
     ("post", "instances/{}/cancel"), ("post", "instances/{}/retry")],
)  # fmt: skip
def test_id_that_is_none_is_not_found(api, problem, method, path, number):
    problem(getattr(api, method)(path.format(number)), 404)
