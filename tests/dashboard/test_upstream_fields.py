"""Jobs that wait for others, by the form."""

import pytest

from jobs.models import Dependency, Instance, Job
from tests.actions.places import HOURLY, make_job

pytestmark = pytest.mark.django_db
BASE = {"runs": "command", "command": "true"}
AFTER = BASE | {"when": "after", "upstream_rule": "all_success"}


def edges():
    return set(Dependency.objects.values_list("upstream__name", "job__name"))


def texts(visitor, job):
    page = visitor.get(f"/jobs/{job.pk}/edit/")
    shown = {name: field.value for name, field in page.context["field"].items()}
    return shown | {"revision": page.context["form"].revision, "seen": page.context["form"].seen}


def test_a_job_after_others_is_made_and_not_started(visitor):
    make_job("a", **HOURLY), make_job("b, really", **HOURLY)
    upstreams = {"depends_on": "a\r\nb, really\r\n", "not_before": "08:30"}
    response = visitor.post("/jobs/new/", AFTER | upstreams | {"name": "c"})
    job = Job.objects.get(name="c")
    assert response["Location"] == f"/jobs/{job.pk}/"
    assert edges() == {("a", "c"), ("b, really", "c")}
    assert (job.not_before, job.max_retries, Instance.objects.count()) == ("08:30", 0, 0)


def test_the_form_shows_upstreams_and_keeps_them(visitor):
    make_job("a", **HOURLY)
    job = make_job("b", depends_on=["a"], upstream_rule="all_done")
    shown = texts(visitor, job)
    assert (shown["when"], shown["depends_on"], shown["upstream_rule"]) == ("after", "a", "all_done")
    visitor.post(f"/jobs/{job.pk}/edit/", shown | {"description": "new"})
    assert (Job.objects.get(pk=job.pk).description, edges()) == ("new", {("a", "b")})


def test_another_when_lets_upstreams_go(visitor):
    make_job("a", **HOURLY)
    job = make_job("b", depends_on=["a"])
    changes = {"when": "daily", "schedule_expression": "02:00"}
    visitor.post(f"/jobs/{job.pk}/edit/", texts(visitor, job) | changes)
    assert (edges(), Job.objects.get(pk=job.pk).schedule.expression) == (set(), "02:00")


def test_a_circle_is_refused_by_the_form(visitor):
    a = make_job("a")
    make_job("b", depends_on=["a"])
    make_job("c", depends_on=["b"])
    response = visitor.post(f"/jobs/{a.pk}/edit/", texts(visitor, a) | {"when": "after", "depends_on": "c"})
    assert response.status_code == 422
    assert "a -&gt; b -&gt; c -&gt; a" in response.content.decode()
    assert edges() == {("a", "b"), ("b", "c")}


@pytest.mark.parametrize("given", ["", "ghost"])
def test_no_upstream_or_an_unknown_one_is_refused(visitor, given):
    response = visitor.post("/jobs/new/", AFTER | {"name": "c", "depends_on": given})
    assert response.status_code == 422
    assert response.context["field"]["depends_on"].errors
    assert not Job.objects.exists()
