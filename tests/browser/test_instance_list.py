"""The list of instances in a browser, by keyboard alone."""

import pytest

from jobs.models import Instance
from tests.browser.conftest import leaving
from tests.waiting import until


def open_list(service, page, query=""):
    page.goto(f"{service.address}/instances/{query and '?'}{query}")
    page.locator("#connection", has_text="live").wait_for()


def tab_to(page, selector, key="Tab"):
    """Press it until it has the focus, as somebody without a mouse would."""
    for _ in range(80):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press(key)
    pytest.fail(f"{key} does not reach {selector}")


def hold_up(service, count=3):
    """Runs that keep both cores busy, and some that wait behind them; oldest first."""
    ids = [service.submit("import time; time.sleep(600)", f"holder {number}") for number in range(2)]
    for one in ids:
        service.until(one, "running")
    # The first of them may start on a virtual slot; it stays there.
    return ids + [service.submit("import time; time.sleep(600)", f"waits {number}") for number in range(count)]


def test_keyboard_alone_filters(service, signed_in):
    page = signed_in
    service.until(service.submit("raise SystemExit(3)", "breaks", max_retries=0), "failed")
    service.until(service.submit("print(1)", "works"), "success")
    open_list(service, page)
    tab_to(page, "[name=q]")
    page.keyboard.type("break")
    tab_to(page, "[value=failed]")
    with leaving(page):
        page.keyboard.press("Enter")
    page.get_by_text("1 matches").wait_for()
    assert page.locator(".row.listed").count() == 1
    assert page.get_by_text("exit 3").is_visible()
    assert page.get_by_role("button", name="failed", exact=True).get_attribute("aria-pressed") == "true"


def test_keyboard_alone_selects_and_cancels(service, signed_in):
    page = signed_in
    ids = hold_up(service)
    open_list(service, page, "status=queued")
    tab_to(page, f"[data-pick][value='{ids[-1]}']")
    page.keyboard.press("Space")
    page.get_by_text("1 selected").wait_for()
    tab_to(page, "button[value=cancel]", "Shift+Tab")
    with leaving(page):
        page.keyboard.press("Enter")
    page.get_by_role("heading", name="Cancel 1 instance?").wait_for()
    tab_to(page, ".message button")
    page.keyboard.press("Enter")
    page.locator("[data-state=done]").wait_for()
    assert Instance.objects.filter(status="cancelled").values_list("pk", flat=True).get() == ids[-1]


def test_cancel_of_all_that_match_shows_its_progress(service, signed_in):
    page = signed_in
    ids = hold_up(service)
    open_list(service, page, "q=waits")
    page.get_by_label("On all pages (3)").check()
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_role("button", name="Cancel 3 instances").click()
    page.locator("[data-state=done]").wait_for()
    page.get_by_text("3 of 3 cancelled").wait_for()
    for one in ids[2:]:
        service.until(one, "cancelled")
    assert [service.home.status(one) for one in ids[:2]] == ["running"] * 2


def test_ended_ones_are_deleted_and_leave_the_list(service, signed_in):
    page = signed_in
    ended = [service.submit("print(1)", f"ended {number}") for number in range(2)]
    for one in ended:
        service.until(one, "success")
    folder = service.home.folder / "runs" / str(ended[0])
    assert folder.exists()
    open_list(service, page)
    page.locator(f"[data-pick][value='{ended[0]}']").check()
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete 1 instance").click()
    page.locator("[data-state=done]").wait_for()
    page.get_by_role("link", name="Back to the instances").click()
    page.locator(f"[data-key='i{ended[1]}']").wait_for()
    page.locator(f"[data-key='i{ended[0]}']").wait_for(state="detached")
    until(lambda: not folder.exists())


def test_phone_acts_on_a_selection(service, signed_in):
    page = signed_in
    page.set_viewport_size({"width": 390, "height": 844})
    failed = service.submit("raise SystemExit(3)", "breaks", max_retries=0)
    service.until(failed, "failed")
    open_list(service, page)
    page.locator(f"[data-pick][value='{failed}']").check()
    page.get_by_role("button", name="Retry…").click()
    page.get_by_role("button", name="Retry 1 instance").click()
    page.locator("[data-state=done]").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert Instance.objects.filter(retry_of=failed).count() == 1


def test_rows_change_without_a_reload(service, signed_in):
    page = signed_in
    running = service.submit("import time; time.sleep(600)", "changes")
    service.until(running, "running")
    open_list(service, page)
    later = service.submit("print(1)", "comes above")
    page.locator(f"[data-key='i{later}']").wait_for()
    page.locator(f"[data-key='i{running}']").get_by_role("button", name="Cancel").click()
    page.locator(f"[data-key='i{running}']").get_by_text("cancelled", exact=True).wait_for()


def test_selection_survives_what_comes_in(service, signed_in):
    page = signed_in
    first = service.submit("print(1)", "first")
    service.until(first, "success")
    open_list(service, page)
    page.locator(f"[data-key='i{first}'] [data-pick]").check()
    page.mouse.move(5, 5)  # rows above the pointer wait
    for number in range(3):
        service.until(service.submit("print(1)", f"beside {number}"), "success")
    page.locator(".row.listed").nth(3).wait_for()
    assert page.locator("[data-pick]:checked").count() == 1
    assert page.locator(f"[data-key='i{first}'] [data-pick]").is_checked()
    assert page.get_by_text("1 selected").is_visible()
