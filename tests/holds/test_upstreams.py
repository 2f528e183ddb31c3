"""What one that waits for others says."""

import pytest

from jobs.actions import create_job
from jobs.models import Job
from tests.dashboard import places
from tests.holds.scene import NOW, at, busy, make_job, make_node, why

pytestmark = pytest.mark.django_db


def dependent(*upstreams, **fields):
    raw = {"name": "report", "command": "true", "depends_on": [job.pk for job in upstreams]} | fields
    return Job.objects.get(pk=create_job(raw, actor="ada", now=NOW).job_id)


def make_pending(job, status="pending", **fields):
    return places.make_waiting(job, status, **({"due_at": NOW, "logical_at": NOW} | fields))


def test_an_upstream_that_runs_is_named_with_its_end():
    upstream = busy(make_node())
    Job.objects.filter(pk=upstream.job_id).update(usual_seconds=600)
    waiting = make_pending(dependent(upstream.job), "pending", logical_at=upstream.logical_at)
    view = why(waiting)
    assert view.code == "upstream"
    assert f"waits for {upstream.job.name} (instance {upstream.pk}, running, done at about" in view.sentence
    assert view.predicted_start == upstream.started_at + (at(600) - at(0))


def test_an_upstream_without_that_date_is_named():
    upstream = make_job()
    view = why(make_pending(dependent(upstream), "pending"))
    assert view.sentence == f"its upstream {upstream.name} has no instance of that date"
    assert view.unknown_because


def test_many_upstreams_are_not_all_listed():
    view = why(make_pending(dependent(*(make_job() for _ in range(5))), "pending"))
    assert view.sentence.endswith("and 2 more")


def test_one_whose_upstreams_are_done_waits_for_something_else():
    upstream = make_pending(make_job(), "success", ended_at=NOW)
    view = why(make_pending(dependent(upstream.job), "pending", logical_at=upstream.logical_at, due_at=at(60)))
    assert view.code == "not_due"
