"""The form of a job in a browser: by mouse, by keyboard, with a file, and tried before it is saved."""

import pytest
from django.utils import timezone

from jobs import actions
from jobs.models import Instance, Job
from jobs.store import secrets
from jobs.store.specs import SecretUse
from tests.browser.conftest import HELD, signed_in_at


def open_form(service, page, path="/jobs/new/"):
    page.goto(f"{service.address}{path}")
    page.locator("#connection", has_text="live").wait_for()
    page.locator(".editor").first.wait_for(state="attached")


def choose(page, word):
    page.get_by_role("radio", name=word).check()


def make(**fields):
    raw = {"name": "report", "script_content": "print(1)\n"} | fields
    return actions.create_job(raw, actor="admin", now=timezone.now(), start=False).job_id


def script(page):
    return page.locator("[name=script_content]")


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


def test_secrets_are_given_in_rows(service, signed_in):
    for name in ("stripe-key", "tls.pem"):
        actions.create_secret({"name": name, "value": "s3cr3t-1"}, actor="admin", now=timezone.now())
    job, page = make(secrets=["stripe-key"]), signed_in
    open_form(service, page, f"/jobs/{job}/edit/")
    page.get_by_text("Secrets", exact=True).click()
    page.get_by_role("button", name="Give a secret").click()
    row = page.get_by_role("group", name="Secret", exact=True).nth(1)
    row.get_by_label("Secret", exact=True).select_option("tls.pem")
    assert row.get_by_label("Variable").input_value() == "TLS_PEM"
    row.get_by_label("as file").check()
    page.get_by_role("button", name="Take out").first.click()
    page.click("[data-submit]")
    page.get_by_text("Saved.").wait_for()
    assert secrets.uses_of(Job.objects.get(pk=job)) == (SecretUse("TLS_PEM", "tls.pem", as_file=True),)


def test_refused_secret_is_said_above_its_row(service, page):
    with signed_in_at(service, page, ("WebSocket", "422")):
        actions.create_secret({"name": "stripe-key", "value": "s3cr3t-1"}, actor="admin", now=timezone.now())
        open_form(service, page, f"/jobs/{make(secrets=['stripe-key'])}/edit/")
        page.get_by_text("Secrets", exact=True).click()
        page.get_by_role("group", name="Secret", exact=True).get_by_label("Variable").fill("ROTA_TOKEN")
        page.click("[data-submit]")
        page.locator("#fold-secrets .field > .error", has_text="ROTA_TOKEN").wait_for()
        assert not page.get_by_text("A line VARIABLE=name each").is_visible()


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
    page.fill("[name=timezone]", "Mars/Phobos")
    page.fill("[name=schedule_expression]", "61 * * * *")
    page.locator("[data-preview]").get_by_text("no time zone").wait_for()
    page.locator("[data-preview]").get_by_text("out of range").wait_for()


def test_each_type_keeps_its_expression(service, signed_in):
    page = signed_in
    open_form(service, page)
    box = page.locator("[name=schedule_expression]")
    choose(page, "Every so often")
    assert box.get_attribute("placeholder") == "5m"
    box.fill("7m")
    choose(page, "Cron")
    assert (box.get_attribute("placeholder"), box.input_value()) == ("0 2 * * 1-5", "")
    box.fill("0 4 * * *")
    choose(page, "By hand only")
    choose(page, "Every so often")
    assert (box.get_attribute("placeholder"), box.input_value()) == ("5m", "7m")
    choose(page, "Cron")
    assert box.input_value() == "0 4 * * *"


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


def test_editor_colours_by_the_first_line(service, signed_in):
    page = signed_in
    open_form(service, page)
    script(page).fill("import os  # <b>\n")
    page.locator(".editor .token.keyword", has_text="import").wait_for()
    assert page.locator(".editor b").count() == 0
    script(page).fill("#!/bin/bash\nfor x in 1 2; do echo $x; done\n")
    page.locator(".language-bash .token.keyword", has_text="do").first.wait_for()


def test_label_leads_into_the_editor(service, signed_in):
    page = signed_in
    open_form(service, page)
    page.locator("label[for=f-script_content]").click()
    page.keyboard.type("if True:\nprint(1)")
    assert script(page).input_value() == "if True:\n    print(1)"


def test_job_is_made_by_keyboard_alone(service, signed_in):
    page = signed_in
    open_form(service, page)
    script(page).focus()
    page.keyboard.type("if True:")
    page.keyboard.press("Enter")
    page.keyboard.type("print('keys')")
    page.keyboard.press("Tab")  # indents
    assert script(page).evaluate("area => area === document.activeElement")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")  # leaves
    assert not script(page).evaluate("area => area === document.activeElement")
    for _ in range(60):
        if page.evaluate("document.activeElement.matches('[data-submit]')"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("[data-status=success]").wait_for()
    assert Job.objects.get().body.startswith("if True:\n    print('keys')")


def test_enter_in_a_field_saves_and_does_not_test(service, signed_in):
    page = signed_in
    open_form(service, page)
    script(page).fill("print(1)")
    page.locator("[name=name]").press("Enter")
    page.locator("[data-status]").wait_for()
    assert [job.name for job in Job.objects.all()] == ["script"]


def test_form_works_without_scripts(service, signed_in):
    page = signed_in
    context = page.context.browser.new_context(java_script_enabled=False)
    context.add_cookies(page.context.cookies())
    plain = context.new_page()
    plain.goto(f"{service.address}/jobs/new/")
    plain.fill("textarea[name=script_content]", "print('plain')")
    plain.fill("[name=name]", "plain")
    plain.get_by_role("button", name="Create job").click()
    plain.wait_for_url("**/instances/*/")
    context.close()
    assert Job.objects.get().body == "print('plain')"


def test_file_goes_into_the_editor(service, signed_in):
    page = signed_in
    open_form(service, page)
    page.set_input_files(
        "[name=script_file]", {"name": "a.py", "mimeType": "text/x-python", "buffer": b"print('up')\r\n"}
    )
    page.get_by_text("a.py is in the editor now.").wait_for()
    assert script(page).input_value() == "print('up')\n"
    assert page.locator("[name=name]").input_value() == "up"


def test_file_that_is_no_text_changes_nothing(service, signed_in):
    page = signed_in
    open_form(service, page)
    script(page).fill("print('mine')")
    page.set_input_files("[name=script_file]", {"name": "a.bin", "mimeType": "x/y", "buffer": b"\xff\xfe\x00"})
    page.get_by_text("a.bin is not UTF-8 text").wait_for()
    assert script(page).input_value() == "print('mine')"


def test_environment_follows_what_is_typed(service, signed_in):
    page = signed_in
    open_form(service, page)
    page.locator("#fold-environment > summary").click()
    page.locator("#fold-about > summary").click()
    page.fill("[name=cpu_cores_required]", "2")
    page.fill("[name=environment]", "API_TOKEN=s3cret\nMODE=full")
    line = page.locator(".foreseen-line")
    line.filter(has_text="OMP_NUM_THREADS").get_by_text("2", exact=True).wait_for()
    line.filter(has_text="MODE").get_by_text("full").wait_for()
    assert line.filter(has_text="API_TOKEN").locator("dd bdi").inner_text() == "********"


def test_late_answer_about_the_environment_is_left(service, signed_in):
    """What was asked first and answered last stood there, whatever had been typed since."""
    page = signed_in
    open_form(service, page)
    page.evaluate(HELD, "/preview/environment/")
    page.locator("#fold-about > summary").click()
    page.locator("#fold-environment > summary").click()
    page.wait_for_function("() => held.length === 1")
    page.fill("[name=environment]", "MODE=full")
    page.wait_for_function("() => held.length === 2")
    page.evaluate("held[1]()")
    line = page.locator(".foreseen-line", has_text="MODE")
    line.get_by_text("full").wait_for()
    page.evaluate("held[0]()")
    page.evaluate("fetch(location.href).then((answer) => answer.text())")  # comes after it
    assert line.count() == 1


def test_new_job_is_tried_in_place(service, signed_in):
    page = signed_in
    open_form(service, page)
    script(page).fill("print('tried <b>')")
    page.get_by_role("button", name="Run now as test").click()
    page.locator("[data-tried] .badge", has_text="success").wait_for()
    page.locator(".tried-log", has_text="tried <b>").wait_for()
    assert script(page).input_value() == "print('tried <b>')"
    assert [job.name for job in Job.objects.all()] == ["tried-b (test)"]


def test_edit_is_tried_in_place_and_then_saved(service, signed_in):
    page, job_id = signed_in, make(schedule_type="daily", schedule_expression="02:30")
    open_form(service, page, f"/jobs/{job_id}/edit/")
    script(page).fill("print('edited')")
    page.get_by_role("button", name="Run now as test").click()
    page.locator("[data-tried] .badge", has_text="success").wait_for()
    assert Job.objects.get(pk=job_id).body == "print(1)\n"
    assert not Instance.objects.filter(job_id=job_id).exists()
    page.get_by_role("button", name="Save changes").click()
    page.get_by_text("Saved.").wait_for()
    assert Job.objects.get(pk=job_id).body == "print('edited')"


def test_bad_test_run_says_why(service, signed_in):
    page = signed_in
    open_form(service, page)
    page.fill("[name=cpu_cores_required]", "many")
    page.get_by_role("button", name="Run now as test").click()
    page.locator("[data-tried]", has_text="Script is blank").wait_for()
    assert "Cores is" in page.locator("[data-tried]").inner_text()


@pytest.mark.parametrize("width", [1280, 390])
def test_error_is_linked_to_its_field(service, signed_in, width):
    page = signed_in
    page.set_viewport_size({"width": width, "height": 800})
    open_form(service, page)
    choose(page, "Shell command")
    # A status of error is one in the console, which is what this answer is.
    page.route("**/jobs/new/", answered_well)
    page.get_by_role("button", name="Run it now").click()
    page.get_by_role("link", name="Command is blank").click()
    assert page.locator("[name=command]").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def answered_well(route):
    route.fulfill(response=route.fetch(), status=200)


def test_callable_is_chosen_with_its_parameters_and_runs(service, signed_in):
    page = signed_in
    open_form(service, page)
    choose(page, "Python callable")
    page.select_option("[name=callable]", "jobs.examples.jobs.folder_size")
    page.locator("[name='parameter:largest']").fill("1")
    assert page.input_value("[name=name]") == "folder-size"
    assert page.input_value("[name=cpu_cores_required]") == "0"
    assert not page.is_visible("#fold-run")
    page.get_by_role("button", name="Run it now").click()
    page.locator("h1", has_text="folder-size").wait_for()
    instance = Instance.objects.select_related("job").latest("pk")
    assert (instance.job.execution_model, instance.job.parameter_values) == ("thread", {"largest": 1})
    service.until(instance.pk, "success")
