"""The page of limits, and what the form and the page of a job say about them."""

import pytest
from django.utils import timezone

from dashboard.views.pages import regions_of
from jobs.models import Event, Job, Limit
from jobs.store.dismissals import PAUSED_BY
from tests.dashboard.places import NAUGHTY, make_job, make_node, make_running, make_waiting
from tests.dashboard.test_pages import html, text

pytestmark = pytest.mark.django_db
TAG = {"kind": "tag", "name": "etl", "maximum": "2"}


def rate(name="api"):
    return Limit.objects.create(kind="rate", name=name, rate_per_second=0.5, burst=3)


def test_empty_page_says_what_a_limit_is_for(visitor):
    assert "No limit yet. Give one to a tag" in text(visitor, "/limits/")


def test_limit_is_made_and_shown_with_its_use(visitor):
    assert visitor.post("/limits/", TAG).status_code == 302
    make_running(make_job(tags=["etl"]), make_node())
    make_waiting(Job.objects.get())
    shown = text(visitor, "/limits/")
    assert "1 of 2 run" in shown
    assert "1 queued" in shown
    assert Event.objects.get(kind="limit.changed").actor == "ann"


def test_use_goes_live_beside_the_form(visitor):
    limit = Limit.objects.create(kind="tag", name="etl", maximum=2)
    page = visitor.get("/limits/")
    assert f'data-region="limit:{limit.pk}"' in page.content.decode()
    assert "limits" in page.context["live"]["topics"].split()
    make_running(make_job(tags=["etl"]), make_node())
    Limit.objects.update(maximum=5)
    [(_, use)] = regions_of("limits", timezone.now())[f"limit:{limit.pk}"]
    assert (use.used, use.most) == (1, 5)


def test_refused_limit_keeps_what_was_typed(visitor):
    response = visitor.post("/limits/", TAG | {"maximum": "many"})
    assert response.status_code == 422
    assert 'value="many"' in response.content.decode()
    assert not Limit.objects.exists()


def test_refused_number_is_called_as_in_the_form(visitor):
    answer = visitor.post("/limits/", {"kind": "tag", "name": "etl", "maximum": ""})
    assert "At once is blank, expected a whole number" in answer.content.decode()


def test_numbers_are_changed_on_the_page(visitor):
    limit = rate()
    visitor.post(f"/limits/{limit.pk}/", {"rate_per_second": "2", "burst": "5"})
    limit.refresh_from_db()
    assert (limit.rate_per_second, limit.burst) == (2, 5)


def test_rate_that_is_used_is_not_deleted(visitor):
    limit = rate()
    make_job("caller", rates=["api"])
    response = visitor.post(f"/limits/{limit.pk}/delete/")
    assert (response.status_code, Limit.objects.count()) == (409, 1)
    assert "caller" in response.content.decode()


def test_unused_limit_is_deleted(visitor):
    assert visitor.post(f"/limits/{rate().pk}/delete/").status_code == 302
    assert not Limit.objects.exists()


def test_names_of_limits_are_shown_as_they_are(visitor):
    rate(NAUGHTY)
    assert "<img" not in html(visitor, "/limits/")


def test_page_of_a_job_tells_its_rules(visitor):
    job = make_job(max_running=2, rates=["api"], start_deadline_seconds=90, pause_after_failures=3, tenant="x")
    shown = text(visitor, f"/jobs/{job.pk}/")
    for said in ("at most 2 at once", "takes from api", "paused after 3 failures in a row", "tenant x"):
        assert said in shown


def test_page_of_a_job_tells_how_it_is_run(visitor):
    job = make_job(
        run_as="nobody", umask="077", nice=10, working_directory="/srv", max_processes=9, cleanup_command="rm x\ny"
    )
    shown = text(visitor, f"/jobs/{job.pk}/")
    for said in (
        "as user nobody",
        "umask 077",
        "nice 10",
        "in /srv",
        "at most 9 processes",
        "within 1 min, by rm x…",
    ):
        assert said in shown


def test_page_of_a_usual_job_tells_nothing_of_how_it_is_run(visitor):
    assert "How it is run" not in text(visitor, f"/jobs/{make_job().pk}/")


def test_page_says_that_it_paused_itself(visitor):
    job = make_job(paused_at=timezone.now(), paused_by=PAUSED_BY, failures_in_a_row=3)
    assert "Paused by rota after 3 failures in a row" in text(visitor, f"/jobs/{job.pk}/")


def test_timeline_tells_which_limit_it_was(visitor):
    instance = make_waiting(make_job())
    about = {"at": timezone.now(), "job_id": instance.job_id, "instance_id": instance.pk, "to_status": "queued"}
    Event.objects.create(kind="instance.queued", **about)
    for code, subject in (
        ("limit", {"limit": "tag:etl", "maximum": 2, "in_use": 2}),
        ("rate", {"limit": "api", "at": "2026-01-01"}),
        ("overlap", {"instance": 7}),
    ):
        Event.objects.create(
            kind="instance.held", data={"code": code, "subject": subject}, from_status="queued", **about
        )
    shown = text(visitor, f"/instances/{instance.pk}/").lower()
    assert "as many ran as a limit allows: tag etl (2 of 2)" in shown
    assert "waited for its turn at the rate api" in shown
    assert "instance #7" in shown


def test_queue_is_cleared_on_the_page(visitor):
    job = make_job()
    make_waiting(job), make_waiting(job)
    visitor.post(f"/jobs/{job.pk}/cancel-waiting/")
    assert set(job.instances.values_list("status", flat=True)) == {"cancelled"}
    assert "Cancelled 2 that waited." in text(visitor, f"/jobs/{job.pk}/")


def test_form_cancels_what_waits_when_asked(visitor):
    job = make_job()
    make_waiting(job), make_waiting(job)
    assert "Cancel what waits of it (2)" in text(visitor, f"/jobs/{job.pk}/edit/")
    visitor.post(f"/jobs/{job.pk}/edit/", {"revision": job.revision, "description": "ended"})
    assert set(job.instances.values_list("status", flat=True)) == {"queued"}
    job.refresh_from_db()
    visitor.post(f"/jobs/{job.pk}/edit/", {"revision": job.revision, "cancel_waiting": "on"})
    assert set(job.instances.values_list("status", flat=True)) == {"cancelled"}


def test_form_asks_for_limits_and_keeps_them(visitor):
    rate()
    given = {
        "runs": "command", "command": "true", "name": "limited", "when": "now", "max_running": "2", "rates": "api",
        "retry_never_exit_codes": "2, 64", "pause_after_failures": "3", "start_deadline_seconds": "90.5",
    }  # fmt: skip
    visitor.post("/jobs/new/", given)
    job = Job.objects.get()
    assert (job.max_running, job.rates, job.retry_never_exit_codes) == (2, ["api"], [2, 64])
    form = visitor.get(f"/jobs/{job.pk}/edit/").content.decode()
    for value in ('value="2, 64"', 'value="api"', 'value="90.5"'):
        assert value in form
