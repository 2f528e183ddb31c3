"""Jobs that wait for others, by admin."""

import pytest

from jobs.models import Dependency, Job
from tests.actions.places import HOURLY, make_job
from tests.admin.test_jobs import ADD, save

pytestmark = pytest.mark.django_db


def edges():
    return set(Dependency.objects.values_list("upstream__name", "job__name"))


def edit(client, job, **changes):
    return save(client, f"/admin/jobs/job/{job.pk}/change/", **changes)


def test_upstreams_are_stored_and_kept(admin_client):
    make_job("a", **HOURLY)
    assert save(admin_client, ADD, name="b", command="true", depends_on="a").status_code == 302
    assert edit(admin_client, Job.objects.get(name="b"), description="new").status_code == 302
    assert edges() == {("a", "b")}


@pytest.mark.parametrize(("given", "says"), [("c", "a -&gt; b -&gt; c -&gt; a"), ("a", "cannot wait for itself")])
def test_circles_are_refused_by_admin(admin_client, given, says):
    a = make_job("a")
    make_job("b", depends_on=["a"])
    make_job("c", depends_on=["b"])
    response = edit(admin_client, a, depends_on=given)
    assert says in response.content.decode()
    assert edges() == {("a", "b"), ("b", "c")}
