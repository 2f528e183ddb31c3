"""The pages of secrets, and what the form and the page of a job say about them. None of them has a value in it."""

import pytest
from django.test import Client
from django.views.debug import SafeExceptionReporterFilter

from jobs import actions
from jobs.models import Job, Secret, SecretGrant
from jobs.store import vault
from tests.actions.places import NOW
from tests.dashboard.test_pages import html, text

pytestmark = pytest.mark.django_db
VALUE = "s3cr3t-value-123"


@pytest.fixture
def stripe():
    done = actions.create_secret({"name": "stripe", "value": VALUE, "description": "d"}, actor="ann", now=NOW)
    return Secret.objects.get(pk=done.secret_id)


def test_empty_page_leads_to_a_new_one(visitor):
    assert 'href="/secrets/new/"' in html(visitor, "/secrets/")
    assert "No secret yet." in text(visitor, "/secrets/")


def test_secret_is_made_and_listed_without_its_value(visitor):
    typed = {"name": "stripe", "value": f"{VALUE}\r\n", "description": "of the shop"}
    made = visitor.post("/secrets/new/", typed, follow=True)
    assert VALUE not in made.content.decode()
    assert "Give it to jobs in their forms" in made.content.decode()
    assert vault.decrypt(Secret.objects.get()) == VALUE
    shown = text(visitor, "/secrets/")
    assert "stripe of the shop" in shown
    assert "given to no job" in shown
    assert "by ann" in shown


def test_refused_form_comes_back_without_the_value(visitor, stripe):
    answer = visitor.post("/secrets/new/", {"name": "stripe", "value": VALUE, "description": "kept"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert VALUE not in page
    assert "give the value once more" in page
    assert "kept</textarea>" in page


def test_value_is_replaced_or_left(visitor, stripe):
    visitor.post(f"/secrets/{stripe.pk}/", {"value": "", "description": "other"})
    stripe.refresh_from_db()
    assert (vault.decrypt(stripe), stripe.description) == (VALUE, "other")
    visitor.post(f"/secrets/{stripe.pk}/", {"value": "another-value", "description": "other"})
    stripe.refresh_from_db()
    assert vault.decrypt(stripe) == "another-value"
    assert VALUE not in html(visitor, f"/secrets/{stripe.pk}/")


def test_secret_that_nobody_is_given_is_deleted_after_a_question(visitor, stripe):
    assert "this cannot be undone" in html(visitor, f"/secrets/{stripe.pk}/delete/")
    visitor.post(f"/secrets/{stripe.pk}/delete/")
    assert not Secret.objects.exists()


def test_secret_in_use_stays_and_names_its_jobs(visitor, stripe):
    actions.create_job({"name": "nightly", "command": "true", "secrets": ["stripe"]}, actor="ann", now=NOW)
    assert "Jobs are given it: nightly" in text(visitor, f"/secrets/{stripe.pk}/delete/")
    assert "nightly" in visitor.post(f"/secrets/{stripe.pk}/delete/").content.decode()
    assert "nightly as STRIPE" in text(visitor, "/secrets/")
    assert "Jobs that are given it nightly as STRIPE" in text(visitor, f"/secrets/{stripe.pk}/")


def test_missing_secret_is_a_missing_page(visitor):
    assert [visitor.get(f"/secrets/7/{part}").status_code for part in ("", "delete/")] == [404, 404]


def test_pages_ask_for_a_login(stripe):
    answers = [Client().get(f"/secrets/{part}") for part in ("", "new/", f"{stripe.pk}/", f"{stripe.pk}/delete/")]
    assert all(answer["Location"].startswith("/login/") for answer in answers)


def test_form_of_a_job_gives_secrets(visitor, stripe):
    posted = {
        "name": "nightly",
        "runs": "command",
        "command": "true",
        "when": "by_hand",
        "secrets": "KEY=stripe (file)",
    }
    visitor.post("/jobs/new/", posted)
    grant = SecretGrant.objects.get()
    assert (grant.variable, grant.as_file) == ("KEY", True)
    page = html(visitor, f"/jobs/{grant.job_id}/edit/")
    assert "KEY=stripe (file)</textarea>" in page
    assert '<option value="stripe">' in page
    assert "KEY a file with secret stripe" in text(visitor, f"/jobs/{grant.job_id}/")


def test_edit_that_leaves_them_alone_keeps_them(visitor, stripe):
    job = actions.create_job({"name": "nightly", "command": "true", "secrets": ["stripe"]}, actor="ann", now=NOW).job_id
    answer = visitor.post(f"/jobs/{job}/edit/", {"revision": "1", "description": "x"})
    assert answer.status_code == 302
    assert (Job.objects.get().description, SecretGrant.objects.count()) == ("x", 1)


def test_unknown_secret_is_refused_beside_its_field(visitor, stripe):
    posted = {"name": "nightly", "runs": "command", "command": "true", "when": "by_hand", "secrets": "KEY=strip"}
    page = visitor.post("/jobs/new/", posted).content.decode()
    assert "did you mean stripe?" in page
    assert "KEY=strip</textarea>" in page


def test_preview_of_the_environment_names_it(visitor, stripe):
    shown = visitor.post("/jobs/preview/environment/", {"secrets": "stripe\nKEY=other"}).content.decode()
    assert "<bdi>stripe</bdi>" in shown
    assert "<bdi>KEY</bdi>" in shown
    assert VALUE not in shown


def test_report_of_an_error_hides_what_was_posted(visitor, monkeypatch):
    monkeypatch.setattr(actions, "create_secret", lambda *_, **__: 1 / 0)
    visitor.raise_request_exception = False
    answer = visitor.post("/secrets/new/", {"name": "stripe", "value": VALUE})
    assert answer.status_code == 500
    reported = f"{answer.content!r} {SafeExceptionReporterFilter().get_post_parameters(answer.wsgi_request)}"
    assert "stripe" in reported
    assert VALUE not in reported
