"""Leaving a form: asked first when something would be lost, and only then; and its key to send it."""

import pytest

from tests.browser.conftest import PHONE, leaving, signed_in_at
from tests.fixtures.chromium import opened

REFUSED = ("WebSocket", "422")  # a form that is refused is logged as an error by the browser


@pytest.fixture
def asked(signed_in):
    """The kinds of question that the page asked; each is answered with yes."""
    kinds = []

    def answer(dialog):
        kinds.append(dialog.type)
        dialog.accept()

    signed_in.on("dialog", answer)
    return kinds


def new_job(page, service):
    page.goto(f"{service.address}/jobs/new/")
    page.locator(".editor").first.wait_for()


def test_leaving_with_changes_asks_first(service, signed_in, asked):
    new_job(signed_in, service)
    signed_in.get_by_label("Script", exact=True).fill("print(1)")
    signed_in.get_by_role("link", name="Cancel").click()
    signed_in.wait_for_url("**/jobs/")
    assert asked == ["beforeunload"]


def test_leaving_without_changes_asks_nothing(service, signed_in, asked):
    new_job(signed_in, service)
    signed_in.get_by_role("radio", name="Daily").check()
    signed_in.get_by_role("radio", name="Now").check()
    signed_in.get_by_role("link", name="Cancel").click()
    signed_in.wait_for_url("**/jobs/")
    assert asked == []


def test_control_enter_sends_the_form_unasked(service, signed_in, asked):
    new_job(signed_in, service)
    script = signed_in.get_by_label("Script", exact=True)
    script.fill("print('sent by keys')")
    script.press("Control+Enter")
    signed_in.wait_for_url("**/instances/*/")
    signed_in.get_by_text("sent by keys", exact=True).first.wait_for()
    assert asked == []


def test_what_was_refused_is_still_unsaved(service, page):
    with signed_in_at(service, page, REFUSED):
        new_job(page, service)
        page.get_by_label("Script", exact=True).fill("print(1)")
        page.get_by_label("Name", exact=True).fill("")
        with leaving(page):
            page.get_by_role("button", name="Run it now").click()
        page.get_by_text("Nothing was stored yet.").wait_for()
        assert page.evaluate("dispatchEvent(new Event('beforeunload', { cancelable: true }))") is False


def test_long_tag_stays_in_its_card(service, browser):
    with opened(browser, **PHONE) as phone, signed_in_at(service, phone, REFUSED):
        new_job(phone, service)
        phone.get_by_text("Description, tags, priority, environment").click()
        phone.get_by_label("Tags").fill("x" * 60)
        phone.get_by_role("button", name="Run it now").click()
        phone.get_by_text("has 60 characters").first.wait_for()
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390
