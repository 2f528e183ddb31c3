"""The list of jobs, the page of one and its form, used as people do: by mouse, by keyboard, left open."""

import pytest
from django.utils import timezone

from jobs import actions
from jobs.models import Instance, Job
from tests.waiting import until


def make(name="report", **fields):
    raw = {"name": name, "script_content": "print(1)\n\n", "tags": ["etl"]} | fields
    return actions.create_job(raw, actor="admin", now=timezone.now(), start=False).job_id


@pytest.fixture
def jobs(service, signed_in):
    for name in ("one", "two", "three"):
        make(name)
    signed_in.goto(f"{service.address}/jobs/")
    signed_in.locator("#connection", has_text="live").wait_for()
    return signed_in


def row(page, name):
    return page.locator(".row.job", has_text=name)


def test_selection_is_run_by_keyboard_alone(jobs):
    assert jobs.get_by_role("button", name="Run…").is_disabled()
    for name in ("one", "three"):
        row(jobs, name).get_by_role("checkbox").focus()
        jobs.keyboard.press("Space")
    jobs.get_by_text("2 selected").wait_for()
    jobs.get_by_role("button", name="Run…").press("Enter")
    jobs.get_by_role("button", name="Run 2 jobs").press("Enter")
    jobs.get_by_text("Submitted 2 jobs.").wait_for()
    assert sorted(Instance.objects.values_list("job__name", flat=True)) == ["one", "three"]


def test_all_shown_are_selected_at_once(jobs):
    jobs.get_by_label("On this page").check()
    jobs.get_by_text("3 selected").wait_for()
    jobs.get_by_role("button", name="Pause…").click()
    jobs.get_by_role("button", name="Pause 3 jobs").click()
    jobs.get_by_text("Paused 3 jobs.").wait_for()
    assert not Job.objects.filter(paused_at__isnull=True).exists()


def test_all_that_match_are_tagged_in_the_background(jobs):
    make("web one", tags=["web"])
    jobs.get_by_role("searchbox").fill("tag:etl")
    jobs.keyboard.press("Enter")
    jobs.wait_for_url("**/jobs/?q=tag*")
    jobs.get_by_label("On all pages (3)").check()
    jobs.get_by_role("button", name="Add tag…").click()
    jobs.get_by_label("Tag").fill("new <b>")
    jobs.get_by_role("button", name="Add tag to 3 jobs").click()
    jobs.locator("[data-state=done]").wait_for()
    jobs.get_by_text("3 of 3 tagged.").wait_for()
    assert Job.objects.filter(tags=["etl", "new <b>"]).count() == 3


def test_phone_deletes_what_is_selected(jobs):
    jobs.set_viewport_size({"width": 390, "height": 844})
    row(jobs, "two").get_by_role("checkbox").check()
    jobs.get_by_role("button", name="Delete…").click()
    jobs.get_by_role("button", name="Delete 1 job").click()
    jobs.locator("[data-state=done]").wait_for()
    jobs.get_by_role("link", name="Back to the jobs").click()
    row(jobs, "one").wait_for()
    assert jobs.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert set(Job.objects.values_list("name", flat=True)) == {"one", "three"}


def test_list_follows_and_keeps_the_selection(service, jobs):
    row(jobs, "two").get_by_role("checkbox").check()
    jobs.mouse.move(5, 5)  # rows above the pointer wait
    make("four")
    service.until(
        actions.run_job(Job.objects.get(name="two").pk, actor="admin", now=timezone.now()).instance_id, "success"
    )
    row(jobs, "four").wait_for()
    row(jobs, "two").get_by_role("link", name="success").wait_for()
    assert row(jobs, "two").get_by_role("checkbox").is_checked()
    jobs.get_by_text("4 of 4").wait_for()


def test_search_stays_while_the_list_is_live(jobs):
    jobs.get_by_role("searchbox").fill("tag:etl t")
    jobs.keyboard.press("Enter")
    jobs.wait_for_url("**/jobs/?q=tag*")
    jobs.locator("#connection", has_text="live").wait_for()
    make("other", tags=["web"])
    make("ten")
    row(jobs, "ten").wait_for()
    names = jobs.locator(".row.job .row-title a").all_inner_texts()
    assert names == ["ten", "three", "two"]


def test_edit_is_saved_and_starts_nothing(service, signed_in):
    page, job_id = signed_in, make(environment={"KEY": "s3cret"})
    page.goto(f"{service.address}/jobs/{job_id}/")
    page.get_by_role("link", name="Edit").click()
    page.get_by_role("radio", name="Every so often").check()
    page.fill("[name=schedule_expression]", "1h")
    page.locator("[data-preview]").get_by_text("Every hour").wait_for()
    page.get_by_role("button", name="Save changes").click()
    page.get_by_text("Saved.").wait_for()
    job = Job.objects.select_related("schedule").get()
    assert (job.body, job.environment, job.schedule.expression) == ("print(1)\n\n", {"KEY": "s3cret"}, "1h")
    assert not Instance.objects.exists()


def test_page_of_a_job_follows_an_edit(service, signed_in):
    page, job_id = signed_in, make()
    page.goto(f"{service.address}/jobs/{job_id}/")
    page.locator("#connection", has_text="live").wait_for()
    actions.change_job(job_id, {"script_content": "print('new')"}, actor="bob", now=timezone.now())
    page.locator(".script-text", has_text="print('new')").wait_for()
    run = actions.run_job(job_id, actor="bob", now=timezone.now()).instance_id
    page.locator(".strip.wide .strip-bar").wait_for()
    until(lambda: Instance.objects.get(pk=run).status == "success")
    page.get_by_text("1 of 1 succeeded").wait_for()
