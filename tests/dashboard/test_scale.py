"""Very many jobs, and very many runs of one: nothing is timed, but queries are counted and their plans are read."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.presentation.listpage import PER_PAGE
from dashboard.views.pages import regions_of
from jobs.models import Attempt, Instance, Job, Node, Schedule
from tests.actions.places import make_instance
from tests.dashboard.places import make_job, make_node

pytestmark = pytest.mark.django_db

MANY_JOBS, MANY_RUNS = 10_000, 10_000
LARGEST_PAGE = 400_000  # bytes; each of the jobs with forty of them, as in a list to choose from, would be more


def insert_jobs(count, name="job"):
    """Each fortieth has a schedule and a run."""
    now = timezone.now()
    jobs = [Job(name=f"{name} {n:05}", kind="command", body="true", tags=["etl"]) for n in range(count)]
    made = Job.objects.bulk_create(jobs, batch_size=4000)
    some = made[::40]
    times = {"anchor_at": now, "watched_from": now, "next_at": now + timedelta(hours=1)}
    Schedule.objects.bulk_create([Schedule(job=job, type="interval", expression="1h", **times) for job in some])
    insert_runs(some, 1)


def insert_runs(jobs, count, after=timedelta(0)):
    now = timezone.now()
    node = Node.objects.first() or make_node()
    start = now - timedelta(days=5) + after
    common = {"status": "success", "cause": "schedule", "node": node, "due_at": start, "created_at": start}
    rows = [
        Instance(job=job, logical_at=start + timedelta(seconds=n), started_at=start, ended_at=now, **common)
        for job in jobs
        for n in range(count)
    ]
    Instance.objects.bulk_create(rows, batch_size=2000)
    attempt = {"status": "ended", "outcome": "success", "node": node, "created_at": start, "ended_at": now, "number": 1}
    Attempt.objects.bulk_create([Attempt(instance=one, token=f"t{one.pk}", **attempt) for one in rows], batch_size=2000)


def asked(visitor, address):
    """The statements of a page, which is small."""
    with CaptureQueriesContext(connection) as captured:
        response = visitor.get(address)
    assert response.status_code == 200
    assert len(response.content) < LARGEST_PAGE
    return [one["sql"] for one in captured]


def plan_of(sql):
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        return [row[3] for row in cursor.fetchall()]


def plans(statements):
    return [step for sql in statements if sql.startswith("SELECT") for step in plan_of(sql)]


def full_scans_of_instances(statements):
    """Steps that read the whole table, and not along an index."""
    return [step for step in plans(statements) if re.fullmatch(r"SCAN (jobs_instance|jobs_attempt|U\d)", step)]


JOB_PAGES = (
    "/jobs/", "/jobs/?q=job+39", "/jobs/?q=tag:etl+status:success", "/jobs/?q=status:failed&sort=last",
    "/jobs/?sort=last", "/jobs/?sort=-next", "/jobs/?page=200", "/", "/schedules/", "/schedules/?q=job&sort=last",
    "/instances/", "/instances/?q=job", "/instances/?tag=etl", "/admin/jobs/job/", "/admin/jobs/job/?q=job&tag=etl",
)  # fmt: skip


RUN_PAGES = (
    "/jobs/", "/jobs/{job}/", "/jobs/{job}/delete/", "/instances/?job=each+second",
    "/instances/?job=each+second&status=success", "/instances/?job=each+second&after=0", "/api/v1/jobs/{job}",
    "/api/v1/jobs/{job}/status?limit=50", "/schedules/",
)  # fmt: skip


def test_ten_thousand_jobs_cost_what_sixty_do(admin_client):
    """bug-058: pages, search and order are the server's; no page and no frame has all jobs."""
    insert_jobs(60, "job early")
    admin_client.get("/")  # the first page of a session is drawn with more
    cost = {page: len(asked(admin_client, page)) for page in JOB_PAGES}
    insert_jobs(MANY_JOBS)
    statements = {page: asked(admin_client, page) for page in JOB_PAGES}
    assert {page: len(asked) for page, asked in statements.items()} == cost
    if connection.vendor == "sqlite":
        assert any("USING COVERING INDEX sqlite_autoindex_jobs_job" in step for step in plans(statements["/jobs/"]))
        assert not any(
            "TEMP B-TREE" in step for sql in statements["/jobs/"] if " LIMIT 50" in sql for step in plan_of(sql)
        )
    for topic in ("jobs:1", "jobs:page=1&sort=last&q=job", "schedules:page=1&sort=next"):
        regions = regions_of(topic, timezone.now())
        assert max(len(rows) for rows in regions.values()) == PER_PAGE
        assert len(admin_client.get("/live/rows/", {"topic": topic}).content) < LARGEST_PAGE


def test_ten_thousand_runs_cost_what_forty_do(admin_client):
    """bug-059: the page of a job reads its newest runs, and the others page by page."""
    job, beside = make_job("each second"), make_job("beside")
    insert_runs([job], 40)
    pages = [page.format(job=job.pk) for page in RUN_PAGES]
    admin_client.get("/")
    cost = {page: len(asked(admin_client, page)) for page in pages}
    insert_runs([job], MANY_RUNS, after=timedelta(days=1))
    insert_runs([beside], 1000)
    statements = {page: asked(admin_client, page) for page in pages}
    assert {page: len(asked) for page, asked in statements.items()} == cost
    assert [scan for asked in statements.values() for scan in full_scans_of_instances(asked)] == []
    assert len(regions_of(f"job:{job.pk}", timezone.now())["instances"]) <= PER_PAGE
    older = regions_of("instances:job=each+second", timezone.now())["pager"][0][1].older
    assert len(regions_of(f"instances:{older}", timezone.now())["listed"]) == PER_PAGE


@pytest.mark.parametrize(
    "path", ["/", "/jobs/", "/instances/", "/schedules/", "/api/v1/jobs", "/api/v1/instances", "/api/v1/queue"]
)
def test_lists_load_no_values_of_parameters(admin_client, django_assert_max_num_queries, path):
    """One job may have a megabyte of them."""
    job = make_job("load", parameters={"properties": {"a": {}}}, parameter_values={"a": "x"})
    make_instance(job, "queued")
    with django_assert_max_num_queries(100) as queries:
        assert admin_client.get(path).status_code == 200
    assert not [query["sql"] for query in queries if '"parameter_values"' in query["sql"]]
