"""Workflows and backfills, by the API."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from jobs.models import Backfill, Dependency, Instance, Job
from tests.actions.places import HOURLY, make_instance, make_job

pytestmark = pytest.mark.django_db


@pytest.fixture
def abc():
    return make_job("a", **HOURLY), make_job("b", depends_on=["a"]), make_job("c", depends_on=["b"])


def test_upstreams_come_back_as_they_may_be_sent(api, abc):
    job = api.get(f"jobs/{abc[1].pk}").json()
    assert (job["depends_on"], job["upstream_rule"], job["not_before"]) == ([abc[0].pk], "all_success", "")
    assert api.edit(f"jobs/{abc[1].pk}", depends_on=job["depends_on"]).json()["changed"] == []


def test_a_circle_is_refused_with_its_way(api, problem, abc):
    api.edit(f"jobs/{abc[0].pk}", schedule_type="once")
    refusal = problem(api.edit(f"jobs/{abc[0].pk}", depends_on=["c"]), 422)
    assert refusal["errors"][0]["field"] == "depends_on"
    assert "a -> b -> c -> a" in refusal["detail"]
    assert Dependency.objects.count() == 2
    assert "itself" in problem(api.edit(f"jobs/{abc[0].pk}", depends_on=["a"]), 422)["detail"]


def test_an_edit_says_who_shares_it(api):
    a = make_job("a", **HOURLY)
    make_job("b", **HOURLY), make_job("c", depends_on=["a", "b"])
    assert api.edit(f"jobs/{a.pk}", schedule_expression="5 * * * *").json()["with_it"] == ["b"]


def test_deleting_says_who_waits(api, problem, abc):
    assert "b waits for a; " in problem(api.delete(f"jobs/{abc[0].pk}"), 409)["detail"]
    assert api.delete(f"jobs/{abc[0].pk}?release=true").status_code == 200


def test_a_workflow_is_run_for_a_date(api, abc):
    run = api.post(f"workflows/{abc[2].pk}/run?logical_at=2026-05-01T00:00:00Z")
    assert (run.status_code, set(run.json()["instances"])) == (201, {"a", "b", "c"})
    assert set(Instance.objects.values_list("logical_at", flat=True)) == {datetime(2026, 5, 1, tzinfo=UTC)}


def test_one_job_alone_says_what_is_missing(api, abc):
    answer = api.post(f"jobs/{abc[1].pk}/run?scope=job").json()
    assert (answer["status"], answer["hold"]["code"]) == ("pending", "upstream")
    assert "a has no instance of that date" in answer["hold"]["sentence"]


@pytest.mark.parametrize("query", ["scope=all", "logical_at=soon", "date=1"])
def test_wishes_that_cannot_be_are_refused(api, problem, abc, query):
    problem(api.post(f"jobs/{abc[0].pk}/run?{query}"), 422)
    assert not Instance.objects.exists()


def test_the_grid_has_the_latest_generation_by_date(api, abc):
    now = timezone.now()
    dates = [now - timedelta(days=n) for n in range(4)]
    for date in dates:
        failed = make_instance(abc[0], "failed", logical_at=date)
        make_instance(abc[1], "upstream_failed", logical_at=date, blame=failed)
    found = api.get(f"workflows/{abc[1].pk}?limit=3")
    grid = found.json()
    assert [job["name"] for job in grid["jobs"]] == ["a", "b", "c"]
    assert grid["dates"] == [date.isoformat() for date in dates[:3]]
    square = grid["jobs"][1]["dates"][dates[0].isoformat()]
    assert square["status"] == "upstream_failed"
    rest = api.get(found.headers["Link"].split(">")[0].strip("<").replace("http://testserver", "")).json()
    assert rest["dates"] == [dates[3].isoformat()]


def test_from_here_is_new_once(api, abc):
    rows = [make_instance(job, "success") for job in abc]
    first = api.post(f"instances/{rows[0].pk}/retry-from-here")
    again = api.post(f"instances/{rows[0].pk}/retry-from-here")
    assert (first.status_code, len(first.json()["also"]), again.status_code) == (201, 2, 200)


def test_a_backfill_is_counted_made_and_cancelled(api, abc):
    window = {"first": "2026-05-01", "last": "2026-05-01"}
    plan = api.send(f"jobs/{abc[0].pk}/backfills", **window, dry_run=True)
    assert (plan.status_code, plan.json()["dates"], plan.json()["jobs"]) == (200, 24, ["a", "b", "c"])
    assert not Backfill.objects.exists()
    made = api.send(f"jobs/{abc[0].pk}/backfills", **window, concurrency=2)
    assert (made.status_code, made.json()["status"]) == (201, "running")
    address = f"backfills/{made.json()['backfill_id']}"
    assert "0 of 24 dates done" in api.get(address).json()["detail"]
    assert api.post(f"{address}/cancel").json()["status"] == "cancelled"
    assert [one["status"] for one in api.get(f"jobs/{abc[0].pk}/backfills").json()] == ["cancelled"]


@pytest.mark.parametrize(
    "fields",
    [{}, {"first": "2026-05-02", "last": "2026-05-01"}, {"first": "x", "last": "y"}, {"first": "2026-05-01", "last": 3},
     {"first": "2026-05-01", "last": "2999-01-01"}, {"first": "2026-05-01", "last": "2026-05-02", "concurrency": 0},
     {"first": "2026-05-01", "last": "2026-05-02", "paralel": 2}],
)  # fmt: skip
def test_backfills_that_cannot_be_are_refused(api, problem, abc, fields):
    problem(api.send(f"jobs/{abc[0].pk}/backfills", **fields), 422)
    assert not Backfill.objects.exists()


def test_unknown_ones_are_not_found(api, problem):
    for address in ("workflows/9", "backfills/9", "jobs/9/backfills"):
        problem(api.get(address), 404)
    problem(api.post("workflows/9/run"), 404)
    assert not Job.objects.exists()
