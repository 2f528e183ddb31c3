"""Each page and what can be done there, at a desk and on a phone: pressed, answered, and true in the database."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.utils import timezone

from jobs import actions
from jobs.models import Instance, Job
from tests.api.site import site
from tests.browser.conftest import PHONE, leaving, signed_in_at
from tests.fixtures.chromium import opened
from tests.waiting import until

__all__ = ["site"]

DESK = {"viewport": {"width": 1280, "height": 800}}
SLEEP = "import time; print('up', flush=True); time.sleep(600)"


@pytest.fixture(params=[DESK, PHONE], ids=["desk", "phone"])
def screen(request, browser):
    with opened(browser, **request.param) as page:
        yield page


@pytest.fixture
def operator(service, screen):
    """A page in which the admin has signed in."""
    with signed_in_at(service, screen):
        yield screen


def press(page, word, within="main"):
    with leaving(page):
        page.locator(within).get_by_role("button", name=word).first.click()


def live(service, page, path):
    page.goto(f"{service.address}{path}")
    page.locator("#connection", has_text="live").wait_for()


def fits(page):
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def status(page, word):
    page.locator(f"[data-status={word}]").wait_for()


def test_user_signs_in_and_out(service, screen):
    # Not of the hashers of these tests: the service has others.
    secret = PBKDF2PasswordHasher().encode("of green gables", "salt", 1000)
    with signed_in_at(service, screen, expected=("WebSocket", "403")):
        get_user_model().objects.update_or_create(username="ann", defaults={"password": secret})
        screen.context.clear_cookies()
        screen.goto(service.address)
        for password in ("wrong", "of green gables"):
            screen.get_by_label("User name").fill("ann")
            screen.get_by_label("Password").fill(password)
            screen.get_by_role("button", name="Sign in").click()
            if password == "wrong":
                screen.get_by_role("alert").wait_for()
                fits(screen)
        screen.get_by_role("heading", name="Overview").wait_for()
        screen.goto(f"{service.address}/admin/")
        screen.get_by_text("not authorized").wait_for()
        screen.goto(service.address)
        screen.locator("details.user summary").click()
        screen.get_by_role("button", name="Sign out").click()
        screen.get_by_role("heading", name="Sign in").wait_for()


def test_job_is_paused_edited_run_and_deleted(service, operator):
    page = operator
    raw = {"name": "report", "script_content": "print('done')"}
    job_id = actions.create_job(raw, actor="ann", now=timezone.now(), start=False).job_id
    live(service, page, f"/jobs/{job_id}/")
    press(page, "Pause")
    page.locator(".messages").get_by_text("Paused").wait_for()
    press(page, "Resume")
    page.locator(".messages").get_by_text("Resumed").wait_for()
    fits(page)
    page.locator("main").get_by_role("link", name="Edit", exact=True).click()
    page.fill("[name=name]", "monthly report")
    page.locator("[data-submit]").click()
    page.locator(".messages").get_by_text("Saved").wait_for()
    press(page, "Run now")
    status(page, "success")
    page.locator("#log").get_by_text("done").wait_for()
    fits(page)
    page.goto(f"{service.address}/jobs/{job_id}/delete/")
    press(page, "Delete it")
    page.locator(".messages").get_by_text("Deleted monthly report").wait_for()
    assert not Job.objects.exists()


def test_instances_are_cancelled_and_retried(service, operator):
    page, number = operator, service.submit(SLEEP, "sleeper")
    live(service, page, "/")
    press(page, "Cancel", f"#running [data-key=i{number}]")
    until(lambda: service.home.status(number) == "cancelled")
    live(service, page, f"/instances/{number}/")
    press(page, "Retry")
    page.wait_for_url(f"**/instances/{number + 1}/")
    status(page, "running")
    press(page, "Cancel")
    status(page, "cancelled")
    fits(page)
    live(service, page, "/instances/")
    page.locator(f"[data-pick][value='{number}']").check()
    press(page, "Retry", "#bulk")
    press(page, "Retry 1 instance")
    page.locator("[data-state=done]").wait_for()
    fits(page)
    assert Instance.objects.count() == 3


def test_missing_page_leads_back(site, screen):
    screen.goto(f"{site}/nowhere/")
    screen.get_by_role("heading", name="Not here").wait_for()
    fits(screen)
    screen.get_by_role("link", name="To the overview").click()
    screen.get_by_role("heading", name="Sign in").wait_for()


def test_jobs_are_selected_and_paused_on_a_phone(service, phone):
    page = phone
    for name in ("one", "two", "three"):
        actions.create_job({"name": name, "command": "true"}, actor="ann", now=timezone.now(), start=False)
    live(service, page, "/jobs/")
    for name in ("one", "two"):
        page.get_by_role("checkbox", name=f"Select {name}").check()
    press(page, "Pause")
    press(page, "Pause 2 jobs")
    page.locator(".messages").get_by_text("Paused 2 jobs").wait_for()
    fits(page)
    assert sorted(Job.objects.filter(paused_at=None).values_list("name", flat=True)) == ["three"]


def test_admin_pauses_what_is_selected_on_a_phone(service, phone):
    page = phone
    actions.create_job({"name": "nightly", "command": "true"}, actor="ann", now=timezone.now(), start=False)
    page.goto(f"{service.address}/admin/jobs/job/")
    page.check("[name=_selected_action]")
    page.select_option("[name=action]", "pause")
    press(page, "Go")
    press(page, "Change 1 job")
    page.get_by_text("1 job paused.").wait_for()
    assert Job.objects.get().paused


def test_run_again_begins_with_an_empty_log(service, signed_in):
    """bug-006: the live view of the second run showed the first one's output."""
    page = signed_in
    number = service.submit(
        "import os, time; print('run marker', os.getpid(), flush=True); time.sleep(1); print('done')"
    )
    live(service, page, f"/instances/{number}/")
    status(page, "success")
    page.locator("#log").get_by_text("done").wait_for()
    first = page.locator("#log").inner_text().split("\n")[0]
    press(page, "Retry")
    page.wait_for_url(f"**/instances/{number + 1}/")
    status(page, "success")
    page.locator("#log").get_by_text("done").wait_for()
    assert first not in page.locator("#log").inner_text()
    assert page.locator("#log").inner_text().count("run marker") == 1


def test_next_attempt_that_prints_nothing_shows_nothing(service, signed_in):
    page = signed_in
    script = (
        "import pathlib, sys, time\nseen = pathlib.Path(sys.argv[0]).parents[2] / 'seen'\n"
        "if not seen.exists():\n    seen.touch(); print('at first', flush=True); sys.exit(1)\ntime.sleep(600)\n"
    )
    number = service.submit(script, max_retries=1, retry_delay_seconds=1)
    live(service, page, f"/instances/{number}/")
    until(lambda: Instance.objects.get(pk=number).attempt_count == 2)
    page.locator("[data-log-attempt]", has_text="attempt 2").wait_for()
    until(lambda: "at first" not in page.locator("#log").inner_text())


def test_new_limit_asks_for_what_its_kind_has(service, operator):
    operator.goto(f"{service.address}/limits/")
    rate, most = operator.get_by_label("Per second"), operator.get_by_label("At once")
    rate.wait_for(state="hidden")
    operator.get_by_label("Kind").select_option("rate")
    rate.wait_for()
    assert most.is_hidden()
    fits(operator)
