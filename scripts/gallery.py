"""The pictures of `screenshots.py --all`: each page in each state, light and dark, on a desktop and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from jobs.core.states import TERMINAL

SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
TALLEST = 4200  # of a picture: a list of fifty rows says no more than its beginning
LISTS = {
    "overview": "/",
    "jobs": "/jobs/",
    "instances": "/instances/",
    "schedules": "/schedules/",
    "nodes": "/nodes/",
    "limits": "/limits/",
    "calendars": "/calendars/",
    "forecast": "/forecast/",
    "new-job": "/jobs/new/",
}
STATUSES = ["pending", "queued", "running", "retrying", *sorted(status.value for status in TERMINAL)]
ADMIN = {
    "admin": "/admin/",
    "admin-jobs": "/admin/jobs/job/",
    "admin-instances": "/admin/jobs/instance/",
    "admin-schedules": "/admin/jobs/schedule/",
    "admin-limits": "/admin/jobs/limit/",
    "admin-calendars": "/admin/jobs/calendar/",
}
FEW = LISTS | {f"instance-{status}": f"/instances/{{{status}}}/" for status in STATUSES} | ADMIN | {
    "jobs-none-match": "/jobs/?q=nothing-like-it",
    "instances-none-match": "/instances/?q=nothing-like-it",
    "new-calendar": "/calendars/new/",
    "calendar": "/calendars/{calendar}/",
    "job": "/jobs/{job}/",
    "job-in-workflow": "/jobs/{load}/",
    "edit-job": "/jobs/{job}/edit/",
    "delete-job": "/jobs/{extract}/delete/",
    "node": "/nodes/{node}/",
    "workflow": "/workflows/{extract}/",
    "backfills": "/jobs/{extract}/backfill/",
    "backfills-none": "/jobs/{load}/backfill/",
    "operation": "/instances/operations/{operation}/",
    "not-here": "/instances/999999/",
    "api": "/api/v1/docs",
    "admin-job": "/admin/jobs/job/{job}/change/",
    "admin-schedule-add": "/admin/jobs/calendar/add/",
    "admin-instance": "/admin/jobs/instance/{failed}/change/",
}  # fmt: skip
RUNS = ("keeps", "progress", "colours", "capped", "packed", "unpacked", "builds", "called", "exported")
EXECUTION = {
    "new-job": "/jobs/new/",
    **{f"instance-{name}": f"/instances/{{{name}}}/" for name in RUNS},
    **{f"job-{name}": f"/jobs/{{job-{name}}}/" for name in ("keeps", "packed", "called")},
    "job-gone": "/jobs/{gone}/",
    "job-export": "/jobs/{export}/",
    "edit-keeps": "/jobs/{job-keeps}/edit/",
    "edit-export": "/jobs/{export}/edit/",
    "edit-called": "/jobs/{job-called}/edit/",
    "edit-gone": "/jobs/{gone}/edit/",
    "run-with": "/jobs/{export}/run-with/",
    "run-with-called": "/jobs/{job-called}/run-with/",
    "secrets": "/secrets/",
    "secret": "/secrets/{secret}/",
    "new-secret": "/secrets/new/",
    "delete-secret": "/secrets/{secret}/delete/",
    "delete-free-secret": "/secrets/{secret-free}/delete/",
    "node": "/nodes/{node}/",
    "nodes": "/nodes/",
    "overview": "/",
    "jobs": "/jobs/",
    "instances": "/instances/",
    "admin-secrets": "/admin/jobs/secret/",
    "admin-secret": "/admin/jobs/secret/{secret}/change/",
    "admin-job-export": "/admin/jobs/job/{export}/change/",
}
PAGES = {
    "empty": LISTS | ADMIN | {"secrets": "/secrets/", "new-secret": "/secrets/new/", "new-calendar": "/calendars/new/"},
    "few": FEW,
    "many": LISTS | ADMIN | {"job": "/jobs/{job}/", "instances-failed": "/instances/?status=failed&status=timeout"},
    "execution": EXECUTION,
    "failing": LISTS
    | {"job": "/jobs/{job}/", "instance": "/instances/{failed}/", "node": "/nodes/{weak}/"}
    | {"thread": "/instances/{thread}/", "node-thread": "/nodes/{node}/"},
}
APART = ("400", "403", "404", "500", "503", "registration/login", "registration/locked", "403_csrf")


def new_job(page: Page, kind: str) -> None:
    page.goto(f"{page.url.split('/jobs')[0]}/jobs/new/")
    page.locator(f"[name=runs][value={kind}]").check(force=True)


def with_errors(page: Page) -> None:
    page.locator("[name=when][value=cron]").check(force=True)
    page.fill("[name=schedule_expression]", "61 * * * *")
    page.fill("[name=cpu_cores_required]", "900")
    page.locator("[data-submit]").click()
    page.locator(".faults").wait_for()


def with_options_open(page: Page) -> None:
    page.locator("[name=when][value=daily]").check(force=True)
    page.fill("[name=schedule_expression]", "02:30")
    page.locator("[data-preview] li").first.wait_for()
    page.evaluate("document.querySelectorAll('.fold').forEach(fold => fold.open = true)")


def question(page: Page, word: str) -> None:
    page.check("[data-pick-all] input")
    page.get_by_role("button", name=word).click()
    page.locator(".message h1, main form h1").wait_for()


def admin_form(page: Page, *, preview: bool) -> None:
    page.check("#action-toggle")
    page.select_option("[name=action]", "change_jobs")
    page.get_by_role("button", name="Go").click()
    page.get_by_label("Add tags").fill("nightly")
    if preview:
        page.get_by_role("button", name="Show what changes").click()
        page.get_by_text("would change").wait_for()


def counted(page: Page) -> None:
    page.fill("[name=first]", "2026-01-01")
    page.fill("[name=last]", "2026-02-01")
    page.get_by_role("button", name="Count the dates").click()
    page.locator(".banner[role=status]").wait_for()


def refused(page: Page) -> None:
    page.fill("[name=first]", "2026-02-01")
    page.fill("[name=last]", "2026-01-01")
    page.get_by_role("button", name="Count the dates").click()
    page.locator(".banner[role=alert]").wait_for()


ACTS: dict[str, tuple[str, Callable[[Page], Any]]] = {
    "new-job-command": ("/jobs/new/", lambda page: page.locator("[name=runs][value=command]").check(force=True)),
    "new-job-after": ("/jobs/new/", lambda page: page.locator("[name=when][value=after]").check(force=True)),
    "new-job-options": ("/jobs/new/", with_options_open),
    "new-job-errors": ("/jobs/new/", with_errors),
    "question-jobs": ("/jobs/", lambda page: question(page, "Pause…")),
    "question-instances": ("/instances/", lambda page: question(page, "Retry…")),
    "filter-open": ("/instances/", lambda page: page.locator("details.plain summary").first.click()),
    "search-help": ("/jobs/", lambda page: page.locator("details.plain summary").first.click()),
    "menu": ("/", lambda page: page.locator(".user summary").click()),
    "help": ("/", lambda page: page.locator("[data-help]").click()),
    "table": ("/", lambda page: page.get_by_text("As a table").first.click()),
    "backfills-counted": ("/jobs/{extract}/backfill/", counted),
    "backfills-refused": ("/jobs/{extract}/backfill/", refused),
    "admin-bulk": ("/admin/jobs/job/", lambda page: admin_form(page, preview=False)),
    "admin-preview": ("/admin/jobs/job/", lambda page: admin_form(page, preview=True)),
}


def folds_open(page: Page) -> None:
    page.evaluate("document.querySelectorAll('.fold').forEach(fold => fold.open = true)")
    page.wait_for_timeout(400)


def new_callable(page: Page) -> None:
    page.locator("[name=runs][value=callable]").check(force=True)
    page.locator("[name=callable]").select_option(index=1)
    page.locator("[data-callable-fields] .field").first.wait_for()


def refused_values(page: Page) -> None:
    page.evaluate("document.querySelector('.run-with').noValidate = true")
    page.fill("[name='parameter:limit']", "0")
    page.fill("[name='parameter:columns']", "[1, ")
    page.locator(".run-with .primary").click()
    page.locator(".field .error").first.wait_for()


def searched(page: Page, words: str) -> None:
    page.fill("[data-search]", words)
    page.keyboard.press("Enter")
    page.locator(".line.found").first.wait_for()
    page.locator("[data-log-toggle=times]").click()


EXECUTION_ACTS: dict[str, tuple[str, Callable[[Page], Any]]] = {
    "new-callable": ("/jobs/new/", new_callable),
    "new-folds": ("/jobs/new/", folds_open),
    "edit-keeps-folds": ("/jobs/{job-keeps}/edit/", folds_open),
    "edit-export-folds": ("/jobs/{export}/edit/", folds_open),
    "run-with-refused": ("/jobs/{export}/run-with/", refused_values),
    "log-searched": ("/instances/{colours}/", lambda page: searched(page, "error")),
    "log-cap": ("/instances/{capped}/#L12000", lambda page: page.locator(".log .notice").first.wait_for()),
    "variables": ("/instances/{exported}/", lambda page: page.locator(".ran details summary").click()),
}


class Gallery:
    """Takes pictures of one site into a folder: STATE-NAME-SIZE-THEME.png."""

    def __init__(self, browser: Browser, address: str, cookie: Any, folder: Path, only: str = "") -> None:
        self.browser, self.address, self.cookie, self.folder, self.only = browser, address, cookie, folder, only

    def take_all(self, state: str, ids: dict[str, int]) -> None:
        acts = {"few": ACTS, "execution": EXECUTION_ACTS}.get(state, {})
        for size in SIZES:
            with self.page(size) as page:
                for name, path in PAGES[state].items():
                    self.take(page, state, name, size, path.format(**ids))
                for name, (path, act) in acts.items():
                    self.take(page, state, name, size, path.format(**ids), act)
                if state == "few":
                    self.take_apart(page, size)
            if state == "few":
                with self.page(size, signed_in=False) as page:
                    self.take(page, state, "admin-login", size, "/admin/")

    def take_apart(self, page: Page, size: str) -> None:
        """Pages that a healthy site does not show."""
        from django.template.loader import render_to_string

        address = f"{self.address}/apart/"
        for name in APART:
            body = render_to_string(f"{name}.html", {"form": {"non_field_errors": ["Wrong user name or password."]}})
            page.route(address, lambda route, _, body=body: route.fulfill(body=body, content_type="text/html"))
            self.take(page, "apart", name.rpartition("/")[2], size, "/apart/")
            page.unroute(address)

    def take(self, page: Page, state: str, name: str, size: str, path: str, act: Any = None) -> None:
        if self.only not in f"{state}-{name}":
            return
        page.emulate_media(color_scheme="light")
        page.goto(self.address + path)
        if act:
            act(page)
        if name == "api":
            page.locator(".opblock").first.wait_for()
        page.wait_for_timeout(600)  # for curves, the heatmap, the editor
        self.shoot(page, f"{state}-{name}", size)

    def shoot(self, page: Page, name: str, size: str) -> None:
        height = page.evaluate("document.documentElement.scrollHeight")
        width, least = SIZES[size]
        page.set_viewport_size({"width": width, "height": max(least, min(height, TALLEST))})
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            page.wait_for_timeout(100)
            page.screenshot(path=self.folder / f"{name}-{size}-{theme}.png")
        page.set_viewport_size({"width": width, "height": least})

    def cut_off(self, ids: dict[str, int], stop: Callable[[], None]) -> None:
        """Pages whose socket is closed, and pages whose server goes away while they are open."""
        for size in SIZES:
            with self.page(size) as page:
                page.route_web_socket("**/ws/**", lambda socket: socket.close())
                polls = page.locator("#connection", has_text="polling")
                self.take(page, "polling", "overview", size, "/", lambda _, polls=polls: polls.wait_for())
        paths = {
            "overview": "/",
            "jobs": "/jobs/",
            "instances": "/instances/",
            "instance": f"/instances/{ids['running']}/",
        }
        with self.page("desktop") as one, self.page("phone") as two:
            pages = []
            for size, first in (("desktop", one), ("phone", two)):
                for name, path in paths.items():
                    page = first.context.new_page()
                    page.goto(self.address + path)
                    pages.append((f"offline-{name}", size, page))
            stop()
            for name, size, page in pages:
                page.bring_to_front()
                page.wait_for_timeout(8_000)
                self.shoot(page, name, size)

    @contextmanager
    def page(self, size: str, *, signed_in: bool = True) -> Iterator[Page]:
        width, height = SIZES[size]
        phone, screen = size == "phone", {"width": width, "height": height}
        with self.browser.new_context(
            viewport=screen,  # type: ignore[arg-type]  # a size is a mapping of these names
            is_mobile=phone,
            has_touch=phone,
            reduced_motion="reduce",
        ) as context:
            if signed_in:
                context.add_cookies([self.cookie])
            yield context.new_page()
