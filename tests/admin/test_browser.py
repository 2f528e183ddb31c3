"""Admin in a browser, under the site's policy: nothing inline, nothing from elsewhere."""

import pytest

from jobs.models import Job
from tests.actions.places import make_job
from tests.api.site import sign_in


def test_job_is_made_and_paused_in_a_browser(site, page, admin_user):
    sign_in(page.context, site, admin_user)
    page.goto(f"{site}/admin/jobs/job/add/")
    page.fill("[name=name]", "nightly")
    page.fill("[name=command]", "true")
    page.select_option("[name=schedule_type]", "daily")
    page.fill("[name=schedule_expression]", "10:00")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("was added successfully").wait_for()
    page.check("[name=_selected_action]")
    page.select_option("[name=action]", "pause")
    page.get_by_role("button", name="Go").click()
    page.get_by_role("button", name="Change 1 job").click()
    page.get_by_text("1 job paused.").wait_for()
    assert Job.objects.get().paused


def test_deletion_is_confirmed_in_a_browser(site, page, admin_user):
    make_job()
    sign_in(page.context, site, admin_user)
    page.goto(f"{site}/admin/jobs/job/")
    page.check("[name=_selected_action]")
    page.select_option("[name=action]", "delete_jobs")
    page.get_by_role("button", name="Go").click()
    page.get_by_role("button", name="Delete").click()
    page.get_by_text("1 job deleted.").wait_for()
    assert not Job.objects.exists()


def test_bulk_edit_is_previewed_in_a_browser(site, page, admin_user):
    jobs = [make_job(f"<img src=x onerror=document.title=1>{n}") for n in range(2)]
    sign_in(page.context, site, admin_user)
    page.goto(f"{site}/admin/jobs/job/")
    page.check("#action-toggle")
    page.select_option("[name=action]", "change_jobs")
    page.get_by_role("button", name="Go").click()
    page.get_by_label("Priority").select_option("3")
    page.get_by_role("button", name="Show what changes").click()
    page.get_by_text("critical").first.wait_for()
    assert page.get_by_text(jobs[0].name).is_visible()
    page.get_by_role("button", name="Back to the form").click()
    page.get_by_label("Add tags").fill("etl")
    page.get_by_role("button", name="Show what changes").click()
    page.get_by_role("button", name="Change 2 jobs").click()
    page.get_by_text("2 jobs changed.").wait_for()
    assert set(Job.objects.values_list("priority", "tags__0")) == {(3, "etl")}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_admin_has_the_colours_of_the_pages(site, page, admin_user, scheme):
    page.emulate_media(color_scheme=scheme)
    sign_in(page.context, site, admin_user)
    colour = "getComputedStyle(document.body).backgroundColor"
    page.goto(site)
    wanted = page.evaluate(colour)
    page.goto(f"{site}/admin/")
    assert page.evaluate(colour) == wanted
