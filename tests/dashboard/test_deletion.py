"""bug-072: a job is deleted while it runs, each way there is: what runs is stopped first, and nothing is orphaned."""

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.utils import timezone

from dashboard import operations
from jobs.models import Instance, Job
from jobs.service.deletions import finish_requested
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
    assert Job.objects.get().being_deleted
    assert finish_requested() == 0
    end(running, "cancelled")
    assert finish_requested() == 1
    assert not Job.objects.exists()
    assert not Instance.objects.exists()


@WAYS
def test_job_being_deleted_is_asked_for_again(admin_client, delete):
    running = make_running(make_job(), make_node())
    assert delete(admin_client, running.job_id).status_code < 400
    assert delete(admin_client, running.job_id).status_code < 400
    assert Job.objects.get().being_deleted


def test_job_being_deleted_offers_nothing(admin_client):
    running = make_running(make_job(), make_node())
    by_page(admin_client, running.job_id)
    page = admin_client.get(f"/jobs/{running.job_id}/").content.decode()
    assert "Being deleted" in page
    assert "Resume" not in page
    assert "being deleted" in admin_client.get("/jobs/").content.decode()
    answer = admin_client.post(f"/jobs/{running.job_id}/resume/")
    assert answer.status_code == 409
    assert "goes by itself" in answer.content.decode()


def test_api_says_what_a_deletion_does(admin_client):
    running = make_running(make_job(), make_node())
    answer = by_api(admin_client, running.job_id)
    assert (answer.status_code, answer.json()["status"]) == (202, "stopping")
    assert "goes by itself" in answer.json()["detail"]
    assert admin_client.get(f"/api/v1/jobs/{running.job_id}").json()["delete_requested_at"]


@WAYS
def test_deletion_asked_twice_is_no_error(admin_client, delete):
    job_id = make_job().pk
    assert delete(admin_client, job_id).status_code < 400
    assert delete(admin_client, job_id).status_code < 500
