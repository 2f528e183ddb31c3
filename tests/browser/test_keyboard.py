"""What an operator does all day, done with the keyboard alone: no call of this file touches a mouse."""

import pytest

from jobs.models import Instance, Job
from tests.browser.conftest import leaving


def tab_to(page, selector, key="Tab"):
    """Press it until it has the focus, as somebody without a mouse would."""
    for _ in range(80):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press(key)
    pytest.fail(f"{key} does not reach {selector}")


def test_keyboard_alone_submits_cancels_and_retries(service, signed_in):
    page = signed_in
    page.goto(service.address)
    tab_to(page, "main a[href$='/jobs/new/']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/jobs/new/")
    tab_to(page, "[name=runs]:checked")
    page.keyboard.press("ArrowRight")
    tab_to(page, "[name=command]")
    page.keyboard.type("sleep 60")
    page.keyboard.press("Escape")  # in the editor Tab indents; this lets go of it
    tab_to(page, "[data-submit]")
    with leaving(page):
        page.keyboard.press("Enter")
    page.locator("[data-status=running]").wait_for()
    tab_to(page, "[formaction$='/cancel/']")
    with leaving(page):
        page.keyboard.press("Enter")
    page.locator("[data-status=cancelled]").wait_for()
    tab_to(page, "[formaction$='/retry/']")
    first = Instance.objects.get()
    page.keyboard.press("Space")
    page.wait_for_url(f"**/instances/{first.pk + 1}/")
    assert Job.objects.get().body == "sleep 60"


def test_keyboard_alone_finds_a_job_and_pauses_it(service, signed_in):
    page = signed_in
    for name in ("alpha", "beta"):
        service.until(service.submit("print(1)", name), "success")
    page.goto(f"{service.address}/jobs/")
    tab_to(page, "input[type=search]")
    page.keyboard.type("bet")
    page.keyboard.press("Enter")
    page.wait_for_url("**/jobs/?q=bet*")
    tab_to(page, ".row.job .row-title a")
    with leaving(page):
        page.keyboard.press("Enter")
    page.get_by_role("heading", name="beta").wait_for()
    tab_to(page, "[formaction$='/pause/']")
    page.keyboard.press("Enter")
    page.locator(".messages").get_by_text("Paused").wait_for()
    assert Job.objects.get(name="beta").paused


def test_button_does_not_become_another_under_the_keyboard(service, signed_in):
    page, number = signed_in, service.submit("import time; time.sleep(600)", "sleeper")
    service.until(number, "running")
    page.goto(f"{service.address}/instances/{number}/")
    page.locator("#connection", has_text="live").wait_for()
    tab_to(page, "[formaction$='/cancel/']")
    service.cancel(number)
    page.locator("[data-status=cancelled]").wait_for()
    assert page.evaluate("document.activeElement.formAction").endswith("/cancel/")
    page.keyboard.press("Shift+Tab")
    page.locator("[formaction$='/retry/']").wait_for()
