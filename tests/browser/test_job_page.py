"""The page of a job in a browser: its parts lead on, follow, and stay right when the job goes."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import actions
from jobs.models import Instance, Job
from tests.browser.conftest import TOLD_BY_HAND, leaving
from tests.waiting import until

NAUGHTY = "<img src=x onerror=document.title=1>'\"&{{7*7}}${7*7}"
BODY = "import os  # \N{ROCKET}\n\n\nprint('<b>')\n"


def make(name="report", **fields):
    raw = {"name": name, "script_content": BODY} | fields
    return actions.create_job(raw, actor="admin", now=timezone.now(), start=False).job_id


def open_job(service, page, job_id):
    page.goto(f"{service.address}/jobs/{job_id}/")
    page.locator("#connection", has_text="live").wait_for()


def run(service, job_id):
    instance_id = actions.run_job(job_id, actor="bob", now=timezone.now()).instance_id
    until(lambda: Instance.objects.get(pk=instance_id).ended_at is not None)
    return instance_id


def test_script_is_coloured_and_again_when_it_changes(service, signed_in):
    job_id = make()
    open_job(service, signed_in, job_id)
    signed_in.locator(".script-text .token.keyword", has_text="import").wait_for()
    assert signed_in.locator("#L4 code").inner_text() == "print('<b>')"
    actions.change_job(job_id, {"script_content": "def new():\n    pass\n"}, actor="bob", now=timezone.now())
    signed_in.locator(".script-text .token.keyword", has_text="def").wait_for()
    assert signed_in.locator(".script-text .line").count() == 2


def test_line_has_an_address(service, signed_in):
    job_id = make()
    open_job(service, signed_in, job_id)
    signed_in.locator("#L4 .line-number").click()
    signed_in.wait_for_url("**#L4")
    assert signed_in.locator(".line:target").get_attribute("id") == "L4"


def test_bar_leads_to_its_run(service, signed_in):
    job_id = make()
    run_id = run(service, job_id)
    open_job(service, signed_in, job_id)
    signed_in.locator(".strip.wide a").click()
    signed_in.wait_for_url(f"**/instances/{run_id}/")
    signed_in.go_back()
    signed_in.get_by_text("These instances as text").press("Enter")
    signed_in.locator(".trend-text").get_by_role("link", name=f"#{run_id}").press("Enter")
    signed_in.wait_for_url(f"**/instances/{run_id}/")


def test_open_text_of_runs_stays_open_as_runs_come(service, signed_in):
    job_id = make()
    run(service, job_id)
    open_job(service, signed_in, job_id)
    signed_in.get_by_text("These instances as text").click()
    run(service, job_id)
    signed_in.get_by_text("2 of 2 succeeded").wait_for()
    assert signed_in.locator(".trend-text li").count() == 2
    assert signed_in.locator(".trend-text").get_attribute("open") is not None


def test_tag_leads_to_all_that_have_it(service, signed_in):
    job_id = make(tags=["two words"])
    make("other", tags=["else"])
    open_job(service, signed_in, job_id)
    signed_in.get_by_role("link", name="two words").click()
    signed_in.locator("#connection", has_text="live").wait_for()
    assert signed_in.locator(".row.job .row-title a").all_inner_texts()[:1] == ["report"]
    assert signed_in.locator(".row.job").count() == 1


def test_pause_resume_and_run_by_keyboard(service, signed_in):
    job_id = make()
    open_job(service, signed_in, job_id)
    for word in ("Pause", "Resume", "Run now"):
        with leaving(signed_in):
            signed_in.get_by_role("button", name=word).press("Enter")
    signed_in.locator("[data-status=success]").wait_for()
    assert not Job.objects.get().paused


def test_delete_asks_about_what_is_live(service, signed_in):
    job_id = make(name="long", script_content="import time\ntime.sleep(600)\n")
    actions.pause_job(job_id, actor="bob", now=timezone.now())
    actions.run_job(job_id, actor="bob", now=timezone.now())
    open_job(service, signed_in, job_id)
    signed_in.get_by_role("link", name="Delete…").click()
    signed_in.get_by_text("1 of its instances has not ended").wait_for()
    signed_in.get_by_role("button", name="Delete it").click()
    signed_in.get_by_text("Deleted long").wait_for()
    assert not Job.objects.exists()


@pytest.mark.parametrize("button", ["Run now", "Pause"])
def test_button_of_a_deleted_job_says_so(service, signed_in, button):
    job_id = make()
    # A page that is live takes its buttons away when the job goes: this one hears of nothing but that all is well.
    signed_in.add_init_script(TOLD_BY_HAND)
    signed_in.goto(f"{service.address}/jobs/{job_id}/")
    actions.delete_job(job_id, actor="bob", now=timezone.now())
    signed_in.route(f"**/jobs/{job_id}/*/", lambda route: route.fulfill(response=route.fetch(), status=200))
    signed_in.get_by_role("button", name=button).click()
    signed_in.get_by_text("it may have been deleted").wait_for()
    signed_in.get_by_role("link", name="To the jobs").click()
    signed_in.wait_for_url("**/jobs/")


def test_naughty_texts_are_texts_everywhere(service, signed_in):
    page = signed_in
    given = {"name": NAUGHTY, "description": NAUGHTY, "tags": [NAUGHTY[:50]], "script_content": f"# {NAUGHTY}\n"}
    job_id = make(**given, environment={"VALUE": NAUGHTY})
    run(service, job_id)
    for path in (f"/jobs/{job_id}/", f"/jobs/{job_id}/edit/", f"/jobs/{job_id}/delete/", "/jobs/"):
        page.goto(service.address + path)
        page.locator("h1").wait_for()
        assert NAUGHTY in page.locator("main").inner_text()
        assert page.locator("main img").count() == 0
        assert page.title() != "1"
    page.goto(f"{service.address}/jobs/{job_id}/delete/")
    page.get_by_role("button", name="Delete it").click()
    page.locator(".messages", has_text=NAUGHTY).wait_for()
    assert not Job.objects.exists()


def workflow():
    """Two jobs, of which the second waits for the first; their ids."""
    extract = make("extract", schedule_type="daily", schedule_expression="02:30")
    raw = {"name": "load", "kind": "command", "command": "true", "depends_on": ["extract"]}
    return extract, actions.create_job(raw, actor="admin", now=timezone.now()).job_id


def test_backfill_is_counted_then_begun(service, signed_in):
    extract, _ = workflow()
    open_job(service, signed_in, extract)
    signed_in.get_by_role("link", name="Backfill…").click()
    signed_in.get_by_label("First date").fill("2026-01-01")
    signed_in.get_by_label("Last date").fill("2026-01-02")
    signed_in.get_by_role("button", name="Count the dates").click()
    signed_in.get_by_text("The window holds 2 dates: 2 would be made").wait_for()
    assert not Instance.objects.exists()
    signed_in.get_by_role("button", name="Start the backfill").click()
    signed_in.get_by_text("The backfill has begun.").wait_for()
    signed_in.locator(".row.backfill").wait_for()


def test_backfill_is_cancelled_where_it_is_listed(service, signed_in):
    extract, _ = workflow()
    now, window = timezone.now(), {"concurrency": 1, "only_missing": True}
    actions.change_job(extract, {"script_content": "import time; time.sleep(600)"}, actor="bob", now=now)
    actions.create_backfill(extract, now - timedelta(days=3), now, actor="bob", now=now, **window)
    signed_in.goto(f"{service.address}/jobs/{extract}/backfill/")
    with leaving(signed_in):
        signed_in.get_by_role("button", name="Cancel the backfill").click()
    signed_in.locator(".row.backfill .badge", has_text="cancelled").wait_for()
    assert signed_in.get_by_role("button", name="Cancel the backfill").count() == 0


def test_workflow_is_run_and_its_squares_open_on_a_phone(service, phone):
    extract, load = workflow()
    phone.goto(f"{service.address}/workflows/{extract}/")
    phone.get_by_text("No dates yet.").wait_for()
    phone.get_by_role("button", name="Run workflow").click()
    phone.wait_for_url("**/instances/*/")
    until(lambda: Instance.objects.filter(job=load, status="success").exists())
    phone.goto(f"{service.address}/workflows/{extract}/")
    phone.locator(".workflow-grid td a", has_text="success").last.click()
    phone.wait_for_url(f"**/instances/{Instance.objects.get(job=load).pk}/")
