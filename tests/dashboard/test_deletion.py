"""bug-072: a job is deleted while it runs, each way there is: what runs is stopped first, and nothing is orphaned."""

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.utils import timezone

from dashboard import operations
from jobs.models import Instance, Job
from tests.dashboard.places import end, make_job, make_node, make_running, make_waiting

pytestmark = pytest.mark.django_db


def by_page(client, job_id):
    return client.post(f"/jobs/{job_id}/delete/", follow=True)


def by_selection(client, job_id):
    return client.post("/jobs/selection/", {"do": "delete", "job": job_id, "sure": "yes"}, follow=True)


def by_api(client, job_id):
    return client.delete(f"/api/v1/jobs/{job_id}?cancel=true")


def by_admin(client, job_id):
    wish = {"action": "delete_jobs", ACTION_CHECKBOX_NAME: job_id, "confirmed": "yes", "cancel": "yes"}
    return client.post("/admin/jobs/job/", wish, follow=True)


WAYS = pytest.mark.parametrize("delete", [by_page, by_selection, by_api, by_admin])


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Operations are done by the time the page is there."""

    def work(operation_id):
        operations.work(operation_id, clock=timezone.now, rest=lambda: None)

    monkeypatch.setattr(operations, "start", work)


@WAYS
def test_job_that_runs_is_stopped_then_deleted(admin_client, delete):
    running = make_running(make_job(), make_node())
    waiting = make_waiting(running.job)
    assert delete(admin_client, running.job_id).status_code < 500
    running.refresh_from_db()
    waiting.refresh_from_db()
    assert (running.status, running.cancel_requested_by, waiting.status) == ("running", "admin", "cancelled")
    assert Job.objects.get().paused
    end(running, "cancelled")
    assert delete(admin_client, running.job_id).status_code < 400
    assert not Job.objects.exists()
    assert not Instance.objects.exists()


@WAYS
def test_deletion_asked_twice_is_no_error(admin_client, delete):
    job_id = make_job().pk
    assert delete(admin_client, job_id).status_code < 400
    assert delete(admin_client, job_id).status_code < 500
