from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from jobs.execution.logwriter import STDERR, STDOUT
from jobs.models import Attempt, Node
from tests.actions.places import NOW, make_instance, make_job
from tests.api.logs import write_log


def with_attempt(instance, printed=(), **fields):
    node = Node.objects.get_or_create(name="alpha", cores=[0, 1])[0]
    values = {"number": 1, "token": "abcdefgh0123", "node": node, "created_at": NOW, "cores": [0], "memory_mb": 64}
    attempt = Attempt.objects.create(instance=instance, **values | fields)
    write_log(instance.pk, 1, "abcdefgh", printed, complete=attempt.status == "ended")
    return attempt


@pytest.fixture
def failed():
    instance = make_instance(make_job(), "failed", exit_code=3, error="exited with code 3", attempt_count=1)
    with_attempt(
        instance, [(STDOUT, b"working\n"), (STDERR, b"Traceback\nValueError: boom\n")],
        status="ended", outcome="failed", started_at=NOW, ended_at=NOW + timedelta(seconds=2), exit_code=3,
        error="exited with code 3", duration_seconds=2.0,
    )  # fmt: skip
    return instance


pytestmark = pytest.mark.django_db


def test_instance_has_the_promised_fields(api, failed):
    answer = api.get(f"instances/{failed.pk}").json()
    assert answer["instance_id"] == failed.pk
    assert (answer["status"], answer["exit_code"], answer["retry_count"], answer["hold"]) == ("failed", 3, 0, None)
    assert answer["scheduled_at"] == answer["completed_at"] == NOW.isoformat()
    assert answer["output"] == "working\nTraceback\nValueError: boom\n"
    assert answer["error"] == "Traceback\nValueError: boom\nexited with code 3"
    assert answer["reason"] == "exited with code 3"
    (attempt,) = answer["attempts"]
    assert (attempt["number"], attempt["outcome"], attempt["node"], attempt["cores"]) == (1, "failed", "alpha", [0])


def test_running_instance_says_what_it_holds(api):
    instance = make_instance(make_job(), "running", cores=[0, 1], virtual_cores=1, memory_mb=64)
    answer = api.get(f"instances/{instance.pk}").json()
    assert (answer["cores"], answer["virtual_cores"], answer["memory_mb_allocated"]) == ([0, 1], 1, 64)
    assert (answer["node"], answer["error"]) == ("alpha", "")


def test_waiting_instance_says_why(api):
    instance = make_instance(make_job(), "pending", due_at=datetime(2030, 1, 1, tzinfo=UTC))
    hold = api.get(f"instances/{instance.pk}").json()["hold"]
    assert (hold["code"], hold["predicted_start"]) == ("not_due", "2030-01-01T00:00:00+00:00")
    assert hold["sentence"]


def test_list_has_the_last_500_characters(api):
    instance = make_instance(make_job(), "failed", error="exited with code 1")
    with_attempt(
        instance, [(STDERR, "ß".encode() * 2000)], status="ended", outcome="failed", ended_at=NOW, started_at=NOW
    )
    (listed,) = api.get("instances").json()
    assert listed["output"] == "ß" * 500
    assert len(listed["error"]) == 500
    assert listed["error"].endswith("ß\nexited with code 1")
    assert len(api.get(f"instances/{instance.pk}").json()["output"]) == 2000


def test_output_that_is_no_text_is_shown_all_the_same(api):
    instance = make_instance(make_job(), "success")
    with_attempt(instance, [(STDOUT, b"\xff\x00 \xf0\x9f\x9a")], status="ended", outcome="success", ended_at=NOW)
    assert api.get(f"instances/{instance.pk}").json()["output"] == "\ufffd\0 \ufffd"


def test_damaged_files_hide_no_other_instance(api, failed, problem):
    damaged = make_instance(make_job("other"), "failed")
    with_attempt(damaged, token="damaged0", status="ended", outcome="failed", ended_at=NOW)
    folder = settings.DATA_DIR / "runs" / str(damaged.pk) / "1-damaged0"
    folder.mkdir()
    (folder / "result.json").write_text("[]")
    listed = api.get("instances").json()
    assert [one["instance_id"] for one in listed] == [damaged.pk, failed.pk]
    assert "result.json" in listed[0]["error"]
    problem(api.get(f"instances/{damaged.pk}/log"), 500)


def test_instances_are_filtered(api):
    job, other = make_job(), make_job("other")
    failed, done = make_instance(job, "failed"), make_instance(job, "success")
    elsewhere = make_instance(other, "failed")

    def ids(query):
        return [one["instance_id"] for one in api.get(f"instances?{query}").json()]

    assert ids("") == [elsewhere.pk, done.pk, failed.pk]
    assert ids(f"job_id={job.pk}") == [done.pk, failed.pk]
    assert ids("status=failed") == [elsewhere.pk, failed.pk]
    assert ids(f"job_id={job.pk}&status=failed,timeout") == [failed.pk]
    assert ids(f"before={elsewhere.pk}&limit=1") == [done.pk]


def test_link_leads_to_the_next_page(api):
    job = make_job()
    instances = [make_instance(job, "success") for _ in range(3)]
    first = api.get("instances?status=success&limit=2")
    assert first.headers["Link"] == (
        f'<http://testserver/api/v1/instances?status=success&limit=2&before={instances[1].pk}>; rel="next"'
    )
    assert "Link" not in api.get(f"instances?before={instances[1].pk}&limit=2").headers


@pytest.mark.parametrize(
    "query",
    ["status=done", "status=", "job_id=x", "job_id=0", "before=0", "limit=101", "state=failed", f"job_id={2**63}"],
)
def test_query_that_means_nothing_is_refused(api, problem, query):
    refusal = problem(api.get(f"instances?{query}"), 422)
    assert refusal["errors"][0]["field"] == query.partition("=")[0]


def test_filter_given_twice_says_so(api, problem):
    """All but the last was ignored."""
    detail = problem(api.get("instances?status=failed&status=success"), 422)["detail"]
    assert detail == '"status" is given twice; give it once.'


def test_misspelt_filter_names_its_neighbour(api, problem):
    assert "did you mean status?" in problem(api.get("instances?statsu=failed"), 422)["detail"]


def test_cancel_says_what_became_of_it(api):
    job = make_job()
    results = {
        status: api.post(f"instances/{make_instance(job, status).pk}/cancel").json()
        for status in ("queued", "running", "success")
    }
    assert {status: answer["result"] for status, answer in results.items()} == {
        "queued": "cancelled", "running": "stopping", "success": "ended",
    }  # fmt: skip
    assert [answer["status"] for answer in results.values()] == ["cancelled", "running", "success"]


def test_retry_makes_one_new_instance(api, failed):
    first, second = (api.post(f"instances/{failed.pk}/retry") for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["instance_id"] == second.json()["instance_id"]
    assert (first.json()["retry_of"], first.json()["logical_at"]) == (failed.pk, failed.logical_at.isoformat())


def test_live_instance_is_not_retried(api, problem):
    assert (
        "is running" in problem(api.post(f"instances/{make_instance(make_job(), 'running').pk}/retry"), 409)["detail"]
    )


def test_times_have_an_offset(api):
    make_instance(make_job(now=timezone.now()), "success")
    (listed,) = api.get("instances").json()
    moments = [value for name, value in listed.items() if name.endswith("_at") and value]
    assert moments
    assert all(datetime.fromisoformat(moment).tzinfo for moment in moments)


def test_queries_do_not_grow_with_the_list(api, django_assert_num_queries):
    def count_of(instances):
        with django_assert_num_queries(QUERIES):
            assert len(api.get("instances?limit=100").json()) == instances

    jobs = [make_job(f"job {n}") for n in range(4)]
    with_attempt(make_instance(jobs[0], "success"), status="ended", outcome="success", ended_at=NOW)
    api.get("instances")  # notes the use of the token
    count_of(1)
    for n in range(20):
        instance = make_instance(jobs[n % 4], "success")
        with_attempt(instance, status="ended", outcome="success", ended_at=NOW, token=f"t{n}")
    count_of(21)


QUERIES = 3  # token with user, instances with job and node, attempts with node


def test_waiting_instances_cost_no_query_each(api, django_assert_max_num_queries):
    jobs = [make_job(f"job {n}") for n in range(20)]
    for job in jobs:
        make_instance(job, "queued")
    Node.objects.create(name="alpha", cores=[0, 1], heartbeat_at=timezone.now())
    api.get("instances")
    with django_assert_max_num_queries(10):
        assert all(one["hold"]["sentence"] for one in api.get("instances").json())
