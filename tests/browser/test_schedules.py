"""The list of schedules in a browser: found by keyboard, kept up to date, and read on a phone."""

import pytest
from django.utils import timezone

from jobs import actions
from jobs.models import Job, Schedule

PHONE = {"width": 390, "height": 844}


def make(name, **fields):
    raw = {"name": name, "script_content": "print(1)", "schedule_type": "interval", "schedule_expression": "1h"}
    return actions.create_job(raw | fields, actor="admin", now=timezone.now(), start=False).job_id


@pytest.fixture
def schedules(service, signed_in):
    make("hourly")
    make("nightly", schedule_type="daily", schedule_expression="02:30", timezone="Asia/Tokyo")
    signed_in.goto(f"{service.address}/schedules/")
    signed_in.locator("#connection", has_text="live").wait_for()
    return signed_in


def row(page, name):
    return page.locator(".row.timed", has_text=name)


def test_keyboard_alone_searches(schedules):
    schedules.locator("[data-search]").focus()
    schedules.keyboard.type("tokyo")
    schedules.keyboard.press("Enter")
    schedules.wait_for_url("**q=tokyo*")
    row(schedules, "nightly").get_by_text("Asia/Tokyo").first.wait_for()
    assert schedules.locator(".row.timed").count() == 1


def test_list_follows_without_a_reload(schedules):
    pk = Job.objects.get(name="hourly").pk
    actions.pause_job(pk, actor="bob", now=timezone.now())
    row(schedules, "hourly").get_by_text("paused").wait_for()
    row(schedules, "hourly").get_by_text("when resumed").wait_for()
    make("made later")
    row(schedules, "made later").wait_for()


def test_fire_shows_its_result(service, signed_in):
    make("often", schedule_expression="2s")
    signed_in.goto(f"{service.address}/schedules/?q=often")
    row(signed_in, "often").get_by_role("link", name="success").wait_for()
    assert Schedule.objects.get().run_count >= 1
    actions.pause_job(Job.objects.get().pk, actor="bob", now=timezone.now())


def test_filter_leads_to_what_is_paused(schedules):
    actions.pause_job(Job.objects.get(name="hourly").pk, actor="bob", now=timezone.now())
    schedules.get_by_role("link", name="Paused").click()
    schedules.wait_for_url("**state=paused*")
    row(schedules, "hourly").wait_for()
    assert schedules.locator(".row.timed").count() == 1


def test_phone_shows_it_without_scrolling_sideways(schedules):
    schedules.set_viewport_size(PHONE)
    for name in ("hourly", "nightly"):
        assert row(schedules, name).get_by_role("link", name="Edit").is_visible()
    assert schedules.evaluate("document.documentElement.scrollWidth <= innerWidth")
