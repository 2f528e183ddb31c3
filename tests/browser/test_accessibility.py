"""Each page in both themes: nothing that axe calls serious or critical, and no phone that scrolls sideways."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.template.loader import render_to_string
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from dashboard import operations
from jobs import actions
from jobs.models import Instance, Node
from tests.api.site import sign_in
from tests.browser.conftest import Service, at_home
from tests.waiting import DEADLINE_SECONDS, until

AXE = (Path(settings.BASE_DIR) / "node_modules" / "axe-core" / "axe.min.js").read_text()
FOUND = """async ([only, left_out]) => {
    const rules = Object.fromEntries(left_out.map((rule) => [rule, { enabled: false }]));
    const runOnly = only.length ? { runOnly: only } : {};
    const { violations } = await axe.run(document, { resultTypes: ["violations"], rules, ...runOnly });
    return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 5).map((node) => node.target.join(" ")).join(", ")}`);
}"""
OF_COLOURS = ["color-contrast", "link-in-text-block"]  # all that a theme can change
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
SLEEP = "import time; time.sleep(600)"
TALKS = "print('\\x1b[31mred\\x1b[0m'); print('\\x1b[2mfaint'); raise SystemExit(3)"
PAGES = {
    "overview": "/",
    "jobs": "/jobs/",
    "jobs found none": "/jobs/?q=nothing-like-it",
    "job": "/jobs/{job}/",
    "job that failed": "/jobs/{failing_job}/",
    "new job": "/jobs/new/",
    "edit job": "/jobs/{job}/edit/",
    "delete job": "/jobs/{job}/delete/",
    "run with": "/jobs/{job}/run-with/",
    "workflow": "/workflows/{job}/",
    "job in a workflow": "/jobs/{load}/",
    "backfills": "/jobs/{job}/backfill/",
    "instances": "/instances/",
    "running": "/instances/{running}/",
    "failed": "/instances/{failed}/",
    "waiting": "/instances/{waiting}/",
    "schedules": "/schedules/",
    "nodes": "/nodes/",
    "node": "/nodes/{node}/",
    "limits": "/limits/",
    "secrets": "/secrets/",
    "secret": "/secrets/new/",
    "forecast": "/forecast/",
    "what if": "/forecast/?job=nightly&cores=2",
    "operation": "/instances/operations/{operation}/",
    "admin": "/admin/",
    "admin jobs": "/admin/jobs/job/",
    "admin job": "/admin/jobs/job/{job}/change/",
    "api": "/api/v1/docs",
}
# Swagger UI puts buttons into what it calls a button; it is the same with all that it is used for.
LEFT_OUT = {"api": ["nested-interactive"]}
ALONE = ["403.html", "404.html", "500.html", "503.html", "registration/login.html", "registration/locked.html"]


@dataclass
class Scene:
    service: Service
    ids: dict[str, int]


@pytest.fixture(scope="module")
def scene(browser: Browser, started: Service, django_db_blocker: Any) -> Iterator[Scene]:
    """Jobs and instances in all states."""
    with at_home(started, django_db_blocker):
        now = timezone.now()
        actions.create_secret({"name": "stripe", "value": "s3cr3t-1"}, actor="admin", now=now)
        ids = {"failed": started.submit(TALKS, "failing <b>"), "running": started.submit(SLEEP, "sleeper")}
        wanted = {ids["failed"]: "failed", ids["running"]: "running"}
        until(lambda: started.home.statuses() == wanted)
        ids["waiting"] = started.submit(SLEEP, "greedy", cpu_cores_required=3)
        daily = {"schedule_type": "daily", "schedule_expression": "02:30", "timezone": "Europe/Berlin"}
        raw = {"name": "nightly", "kind": "script", "script_content": TALKS, "tags": ["etl"], **daily}
        ids["job"] = actions.create_job(raw, actor="ann", now=now).job_id
        raw = {"name": "load", "kind": "command", "command": "true", "depends_on": ["nightly"]}
        ids["load"] = actions.create_job(raw, actor="ann", now=now).job_id
        actions.run_job(ids["job"], actor="ann", now=now)
        window = {"concurrency": 1, "only_missing": True}
        actions.create_backfill(ids["job"], now - timedelta(days=3), now, actor="ann", now=now, **window)
        actions.create_limit({"kind": "tag", "name": "etl", "maximum": 2}, actor="ann", now=now)
        ids["failing_job"] = Instance.objects.get(pk=ids["failed"]).job_id
        ids["operation"] = operations.begin("retry", ids=[ids["failed"]], actor="ann", now=now).pk
        ids["node"] = Node.objects.get().pk
        get_user_model().objects.create_superuser("auditor")
        yield Scene(started, ids)
        started.clear()


@pytest.fixture(scope="module")
def context(browser: Browser, scene: Scene) -> Iterator[BrowserContext]:
    """The auditor's browser: pages after the first find their scripts in its cache."""
    with browser.new_context(reduced_motion="reduce") as context:
        context.set_default_timeout(DEADLINE_SECONDS * 1000)
        sign_in(context, scene.service.address, get_user_model().objects.get(username="auditor"))
        yield context


@pytest.fixture
def complaints() -> list[str]:
    """What browsers log as errors; axe itself breaks the pages' policy now and then, so before it is run."""
    return []


@pytest.fixture
def page(context: BrowserContext, complaints: list[str]) -> Iterator[Page]:
    with context.new_page() as page:
        page.set_viewport_size(DESKTOP)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda line: complaints.append(line.text) if is_complaint(line) else None)
        yield page


def is_complaint(line: ConsoleMessage) -> bool:
    """A socket that is slow to open, on a busy machine, is given up and opened anew."""
    return line.type in ("error", "warning") and "WebSocket" not in line.text


@pytest.mark.parametrize("name", PAGES)
def test_page_is_open_to_all(scene, page, complaints, name):
    page.goto(scene.service.address + PAGES[name].format(**scene.ids))
    page.locator("#api-docs .opblock, main :is(h1, h2)").first.wait_for()
    page.locator("[data-computed][aria-busy]").first.wait_for(state="detached")
    assert complaints == []
    assert faults(page, LEFT_OUT.get(name, [])) == {}


@pytest.mark.parametrize("template", ALONE)
def test_page_apart_is_open_to_all(scene, page, template):
    body = render_to_string(template, {"form": {"non_field_errors": ["Wrong user name or password."]}})
    address = f"{scene.service.address}/apart/"
    page.route(address, lambda route: route.fulfill(body=body, content_type="text/html"))
    page.goto(address)
    assert faults(page) == {}


@pytest.mark.parametrize(("place", "word"), [("/jobs/", "Pause…"), ("/instances/", "Retry…")])
def test_question_before_many_is_open_to_all(scene, page, place, word):
    page.goto(scene.service.address + place)
    page.locator("[data-pick-all] input").click()  # not check(): a row that comes meanwhile is not ticked
    page.get_by_role("button", name=word).click()
    page.locator(".message h1, main form h1").wait_for()
    assert faults(page) == {}


def test_counted_backfill_is_open_to_all(scene, page):
    page.goto(f"{scene.service.address}/jobs/{scene.ids['job']}/backfill/")
    page.get_by_label("First date").fill("2026-01-01")
    page.get_by_label("Last date").fill("2026-01-31")
    page.get_by_role("button", name="Count the dates").click()
    page.get_by_text("The window holds 31 dates").wait_for()
    assert faults(page) == {}


def test_chosen_callable_is_open_to_all(scene, page):
    page.goto(f"{scene.service.address}/jobs/new/")
    page.get_by_role("radio", name="Python callable").check()
    page.select_option("[name=callable]", "jobs.examples.jobs.port_answers")
    page.locator("[name='parameter:host']").wait_for()
    assert faults(page) == {}


def test_open_menu_and_help_are_open_to_all(scene, page):
    page.goto(scene.service.address)
    page.locator(".user summary").click()
    assert faults(page) == {}
    page.set_viewport_size(DESKTOP)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert faults(page) == {}


def test_bulk_edit_in_admin_is_open_to_all(scene, page):
    page.goto(f"{scene.service.address}/admin/jobs/job/")
    page.check("#action-toggle")
    page.select_option("[name=action]", "change_jobs")
    page.get_by_role("button", name="Go").click()
    page.get_by_label("Add tags").fill("etl")
    assert faults(page) == {}
    page.set_viewport_size(DESKTOP)
    page.get_by_role("button", name="Show what changes").click()
    page.get_by_text("would change").wait_for()
    assert faults(page) == {}


def faults(page: Page, left_out: Sequence[str] = ()) -> dict[str, Any]:
    """What is wrong, by where it is; the page is left as on a phone."""
    page.evaluate(AXE)
    wrong = {}
    for theme, only in (("light", []), ("dark", OF_COLOURS)):
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        wrong[theme] = page.evaluate(FOUND, [only, list(left_out)])
    page.set_viewport_size(PHONE)
    wrong["scrolls sideways"] = page.evaluate("Math.max(0, document.documentElement.scrollWidth - innerWidth)")
    return {where: what for where, what in wrong.items() if what}
