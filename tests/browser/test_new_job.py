"""The form of a new job in a browser."""

from jobs.models import Job


def open_form(service, page):
    page.goto(f"{service.address}/jobs/new/")
    page.locator("#connection", has_text="live").wait_for()


def choose(page, word):
    page.get_by_role("radio", name=word).check()


def test_only_the_chosen_inputs_are_shown(service, signed_in):
    page = signed_in
    open_form(service, page)
    assert not page.is_visible("[name=command]")
    choose(page, "Shell command")
    assert page.is_visible("[name=command]")
    assert not page.is_visible("[name=script_content]")
    assert not page.is_visible("[name=schedule_expression]")
    choose(page, "Cron")
    assert page.is_visible("[name=schedule_expression]")


def test_preview_follows_what_is_typed(service, signed_in):
    page = signed_in
    open_form(service, page)
    choose(page, "Daily")
    page.fill("[name=schedule_expression]", "02:30")
    page.locator("[data-preview]").get_by_text("At 02:30 every day").wait_for()
    assert page.locator("[data-preview] li").count() == 10


def test_preview_says_what_is_wrong_as_it_is_typed(service, signed_in):
    page = signed_in
    open_form(service, page)
    choose(page, "Cron")
    page.route("**/jobs/preview/", lambda route: route.fulfill(status=200, body="<p>stand-in</p>"))
    page.fill("[name=schedule_expression]", "0 2 * * *")
    page.get_by_text("stand-in").wait_for()


def test_updates_take_no_keystroke(service, signed_in):
    page = signed_in
    open_form(service, page)
    page.locator("[name=description]").evaluate("input => input.closest('details').open = true")
    box = page.locator("[name=description]")
    box.focus()
    for number, word in enumerate(("one ", "two ", "three")):
        box.press_sequentially(word)
        service.until(service.submit("print(1)", f"beside {number}"), "success")
    assert box.input_value() == "one two three"
    assert box.evaluate("input => input === document.activeElement")


def test_double_click_makes_one_job(service, signed_in):
    page = signed_in
    open_form(service, page)
    page.fill("[name=script_content]", "print('once')")
    page.get_by_role("button", name="Run it now").dblclick()
    page.locator("[data-status=success]").wait_for()
    assert Job.objects.count() == 1
