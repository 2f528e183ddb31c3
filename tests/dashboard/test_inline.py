"""No page that is served has anything inline: not those of the site, not admin's, not errors."""

import re
from html.parser import HTMLParser

import pytest
from django.test import Client
from django.urls import NoReverseMatch, get_resolver, reverse

from dashboard.models import BulkOperation
from dashboard.urls import urlpatterns
from jobs.models import Attempt, Event, Instance, Job, Node
from tests.dashboard.places import NAUGHTY, end, make_job, make_node, make_running, make_waiting

pytestmark = pytest.mark.django_db

ADMIN_MODELS = (Attempt, Event, Instance, Job, Node)


class Inline(HTMLParser):
    """What of a page would only work inline."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        # Data for a script, such as Django's json_script writes, is not run.
        runs = given.get("type", "") not in ("application/json", "importmap")
        if tag == "style" or (tag == "script" and not given.get("src") and runs):
            self.found.append(f"<{tag}>")
        bad = [name for name, value in attrs if name == "style" or name.startswith("on") or _is_script(value)]
        self.found += [f"{tag} {name}" for name in bad]


def _is_script(value: str | None) -> bool:
    return bool(re.match(r"\s*javascript:", value or "", re.IGNORECASE))


@pytest.fixture
def places(admin_user):
    """One of everything that a page can be about, with a name that wants to be markup."""
    job, node = make_job(NAUGHTY, tags=[NAUGHTY], description=NAUGHTY), make_node()
    make_running(job, node)
    make_waiting(job)
    failed = end(make_running(job, node, cores=(1,)), "failed", exit_code=1, error=NAUGHTY)
    common = {"action": "cancel", "actor": NAUGHTY, "total": 1, "up_to": 1}
    operation = BulkOperation.objects.create(**common, created_at=failed.created_at, seen_at=failed.created_at)
    return {"job_id": job.pk, "instance_id": failed.pk, "operation_id": operation.pk, "node_id": node.pk}


def html_of(client, path, **options):
    response = client.get(path, **options)
    is_html = response["Content-Type"].startswith("text/html")
    return response.content.decode() if is_html and not response.streaming else ""


@pytest.mark.parametrize("name", [pattern.name for pattern in urlpatterns])
def test_page_has_nothing_inline(admin_client, places, name):
    route = next(pattern.pattern for pattern in urlpatterns if pattern.name == name)
    path = reverse(name, kwargs={key: places.get(key, 1) for key in route.converters})
    assert Inline(html_of(admin_client, path)).found == []


@pytest.mark.parametrize("page", ["changelist", "add", "change", "delete", "history"])
@pytest.mark.parametrize("model", ADMIN_MODELS, ids=lambda model: model.__name__)
def test_admin_has_nothing_inline(admin_client, places, model, page):
    arguments = [model.objects.values_list("pk", flat=True).first() or 1] * (page not in ("changelist", "add"))
    try:
        path = reverse(f"admin:jobs_{model._meta.model_name}_{page}", args=arguments)
    except NoReverseMatch:
        pytest.fail(f"admin has no page {page} of {model.__name__}")
    assert Inline(html_of(admin_client, path, follow=True)).found == []


@pytest.mark.parametrize(
    "path", ["/login/", "/nowhere/", "/instances/999999/", "/admin/", "/admin/login/", "/api/v1/docs"]
)
def test_page_around_the_site_has_nothing_inline(admin_client, path):
    for client in (Client(), admin_client):
        assert Inline(html_of(client, path)).found == []


@pytest.mark.parametrize("code", [403, 404, 500])
def test_page_of_an_error_has_nothing_inline(rf, code):
    request = rf.get("/")
    request.user, handler = None, get_resolver().resolve_error_handler(code)
    response = handler(request) if code == 500 else handler(request, exception=Exception())
    assert Inline(response.content.decode()).found == []


def test_inline_parts_are_found():
    page = "<style></style><script>1</script><p style='x' onclick='y'><a href=' javascript:1'><script src=x></script>"
    assert Inline(page).found == ["<style>", "<script>", "p style", "p onclick", "a href"]
