"""Who may see and do what, on every address that there is."""

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.urls import urlpatterns
from jobs.models import Event
from tests.dashboard.places import make_job, make_node, make_running

pytestmark = pytest.mark.django_db

POSTS = ["run-job", "pause-job", "resume-job", "delete-job", "cancel-instance", "retry-instance", "cancel-waiting"]


def address(name, **ids):
    route = next(pattern.pattern for pattern in urlpatterns if pattern.name == name)
    wanted = {key: ids.get(key, 1) for key in route.converters}
    return reverse(name, kwargs=wanted)


@pytest.mark.parametrize("name", [pattern.name for pattern in urlpatterns])
@pytest.mark.parametrize("method", ["get", "post"])
def test_every_address_asks_for_a_login(name, method):
    response = getattr(Client(), method)(address(name))
    assert response.status_code == 405 or response["Location"].startswith("/login/")


@pytest.mark.parametrize("name", [pattern.name for pattern in urlpatterns])
def test_reading_changes_nothing(visitor, name):
    instance = make_running(make_job(), make_node())
    visitor.get(address(name, job_id=instance.job_id, instance_id=instance.pk))
    assert not Event.objects.exists()
    instance.refresh_from_db()
    assert instance.cancel_requested_at is None


@pytest.mark.parametrize("name", POSTS)
def test_action_without_token_is_refused(ann, name):
    client = Client(enforce_csrf_checks=True)
    client.force_login(ann)
    instance = make_running(make_job(), make_node())
    response = client.post(address(name, job_id=instance.job_id, instance_id=instance.pk))
    assert response.status_code == 403
    assert not Event.objects.exists()


@pytest.mark.parametrize("name", POSTS)
def test_action_on_nothing_is_not_found(visitor, name):
    assert visitor.post(address(name, job_id=99, instance_id=99)).status_code == 404


def test_number_beyond_all_numbers_is_not_found(visitor):
    assert visitor.get(f"/instances/{'9' * 40}/").status_code == 404
    assert visitor.get(f"/jobs/{'9' * 40}/").status_code == 404


@pytest.mark.parametrize("path", ["/", "/jobs/", "/jobs/new/", "/nowhere/"])
def test_nothing_inline_in_any_page(visitor, path):
    html = visitor.get(path).content.decode()
    assert "style=" not in html
    assert "<script>" not in html
    assert " onclick" not in html


def test_missing_page_says_what_to_do(visitor):
    response = visitor.get("/instances/99/")
    assert response.status_code == 404
    assert b"Instance 99 does not exist" in response.content
    assert b"To the overview" in response.content


def test_sign_out_leads_to_sign_in(visitor):
    assert visitor.post("/logout/")["Location"] == "/login/"
    assert visitor.get("/")["Location"].startswith("/login/")
