"""Limits in admin, and what admin's forms of jobs say about them."""

import pytest

from jobs.actions import NotFound
from jobs.models import Event, Job, Limit
from tests.actions.places import make_job
from tests.admin.test_bulk import changes_of, preview
from tests.admin.test_jobs import ADD, act, change, messages, save

pytestmark = pytest.mark.django_db
LIMITS = "/admin/jobs/limit/"
TAG = {"kind": "tag", "name": "etl", "maximum": "2"}


def test_limit_is_made_and_changed_by_the_actions(admin_client):
    assert save(admin_client, f"{LIMITS}add/", **TAG).status_code == 302
    limit = Limit.objects.get()
    assert save(admin_client, f"{LIMITS}{limit.pk}/change/", maximum="5").status_code == 302
    limit.refresh_from_db()
    assert (limit.name, limit.maximum) == ("etl", 5)
    assert [event.data["what"] for event in Event.objects.filter(kind="limit.changed")] == ["created", "changed"]


def test_refusals_are_shown_at_their_fields(admin_client):
    save(admin_client, f"{LIMITS}add/", **TAG)
    response = save(admin_client, f"{LIMITS}add/", **TAG)
    assert "already" in str(response.context["adminform"].form.errors["name"])
    response = save(admin_client, f"{LIMITS}add/", **TAG | {"maximum": "many"})
    assert set(response.context["adminform"].form.errors) == {"maximum"}


def test_limit_that_went_in_the_same_moment_is_told(admin_client, monkeypatch):
    save(admin_client, f"{LIMITS}add/", **TAG)

    def gone(number, *_, **__):
        raise NotFound("limit", number)

    monkeypatch.setattr("jobs.actions.change_limit", gone)
    address = f"{LIMITS}{Limit.objects.get().pk}/change/"
    response = save(admin_client, address, maximum="5")
    assert (response.status_code, response.url) == (302, address)
    assert any("no limit" in sentence for sentence in messages(admin_client.get(address)))


def test_limits_are_deleted_unless_jobs_need_them(admin_client):
    free, used = (
        Limit.objects.create(kind="tag", name="x", maximum=1),
        Limit.objects.create(kind="rate", name="api", rate_per_second=1, burst=1),
    )
    make_job("caller", rates=["api"])
    said = messages(act(admin_client, "delete_limits", free, used))
    assert "1 limit deleted." in said
    assert any("caller" in sentence for sentence in said)
    assert list(Limit.objects.all()) == [used]


def test_job_is_made_with_its_limits(admin_client):
    save(admin_client, ADD, name="limited", command="true", max_running="2", retry_never_exit_codes="2, 3", tenant="x")
    job = Job.objects.get()
    assert (job.max_running, job.retry_never_exit_codes, job.tenant) == (2, [2, 3], "x")


def test_limits_of_many_are_set_and_taken_away(admin_client):
    job = make_job(max_running=3, tenant="x")
    wish = {"max_running": "none", "tenant": "none", "pause_after_failures": "4", "start_deadline_seconds": "60"}
    assert changes_of(preview(admin_client, job, **wish)) == [
        {
            "at most at once": ("3", "none"), "tenant": ("x", "none"), "pause after failures": ("none", "4"),
            "skip if not started after": ("none", "60 s"),
        }
    ]  # fmt: skip
    change(admin_client, job, **wish)
    job.refresh_from_db()
    assert (job.max_running, job.tenant, job.pause_after_failures) == (None, "", 4)
