"""The page of the forecast: complete at once, its numbers when they have been computed, and what a change would do."""

import re
from contextlib import contextmanager
from html import unescape

import pytest
from django.core.cache import cache
from django.utils import timezone

from dashboard.presentation import forecast as shown
from jobs import actions, forecast
from jobs.models import Event, Job
from tests.dashboard.places import NAUGHTY, hourly, make_job, make_node
from tests.dashboard.test_pages import html
from tests.dashboard.test_pages import text as escaped_text

pytestmark = pytest.mark.django_db


def text(visitor, address):
    return unescape(escaped_text(visitor, address))


@pytest.fixture(autouse=True)
def nothing_kept():
    cache.clear()


@pytest.fixture
def plan(ann):
    """Two cores; an hourly job takes both for ten minutes, another comes at the same moments."""
    make_node(cores=2, overcommit=1.0)
    now = timezone.now()
    for name, cores in (("report", 2), ("import", 1)):
        raw = {"name": name, "command": "true", "cpu_cores_required": cores} | hourly(now)
        actions.create_job(raw, actor="ann", now=now)
    Job.objects.update(usual_seconds=600)


def test_page_is_drawn_before_anything_is_computed(visitor, plan, monkeypatch):
    monkeypatch.setattr(shown, "foretell", lambda **_: pytest.fail("computed while the page was drawn"))
    page = html(visitor, "/forecast/?window=week")
    assert 'data-computed="/forecast/computed/?window=week" data-uplot' in page
    assert "<noscript>" in page


def test_forecast_tells_fires_cores_and_waits(visitor, plan):
    said = text(visitor, "/forecast/computed/?window=hours")
    assert "12 fires make 12 instances." in said
    assert "of 2 slots are in use, at most 2" in said
    assert "up to 10 min" in said
    assert "starts wait, for free cores" in said


def test_table_says_what_the_charts_draw(visitor, plan):
    response = visitor.get("/forecast/computed/?window=hours")
    found = response.context["forecast"]
    assert [hour.fires for hour in found["hours"]] == found["points"]["fires"]["count"] == [2] * 6
    assert max(hour.most for hour in found["hours"]) == 2
    assert response.content.decode().count("<tr><td>") == 6


def test_forecast_is_kept_for_a_minute_with_its_age(visitor, plan, monkeypatch):
    assert re.search(r"Computed (now|\d+ s ago)", text(visitor, "/forecast/computed/"))
    monkeypatch.setattr(shown, "foretell", lambda **_: pytest.fail("computed again"))
    assert "fires make" in text(visitor, "/forecast/")  # it is there, so the page has it at once
    assert "Computed" in text(visitor, "/forecast/computed/")


def test_warnings_are_told_in_full(visitor, plan):
    Job.objects.filter(name="report").update(cores=4)
    assert "Job 'report' needs 4 cores, and no node can give more than 2 cores" in text(visitor, "/forecast/computed/")


def test_what_never_starts_is_not_told_as_no_wait(visitor, plan):
    Job.objects.update(cores=4)
    said = text(visitor, "/forecast/computed/")
    assert "What waits does not start in this time: 2 instances." in said
    assert "Nothing waits" not in said


def test_fires_that_make_no_run_are_told_with_why(visitor, plan):
    Job.objects.filter(name="report").update(usual_seconds=5400)
    assert "while the one before has not ended" in text(visitor, "/forecast/computed/")


def test_forecast_without_time_says_up_to_when(visitor, plan, monkeypatch):
    monkeypatch.setattr(forecast, "SECONDS_WHILE_SOMEBODY_WAITS", 0)
    for address in ("/forecast/computed/", "/forecast/what-if/?job=report&cores=1"):
        assert "everything here is true up to then" in text(visitor, address)


def test_what_if_says_who_would_wait_longer(visitor, plan):
    said = text(visitor, "/forecast/what-if/?window=hours&job=report&duration_seconds=1200")
    assert "report with 2 cores for 20 min" in said
    assert "Would wait longer import up to 20 min instead of 10 min" in said


def test_job_that_is_not_there_yet_needs_a_time(visitor, plan):
    assert "There is no job 'new' yet; say when" in text(visitor, "/forecast/what-if/?job=new&cores=1")
    said = text(visitor, "/forecast/what-if/?job=new&cores=1&at=02:00")
    assert "new daily at 02:00 with 1 core for 1 min (a guess): it starts 1 time in the next day, without" in said
    assert "Nothing would wait longer" in said


def test_job_run_by_hand_keeps_its_own_cores(visitor, plan):
    make_job("by hand", cores=2, usual_seconds=30)
    assert "by hand daily at 02:00 with 2 cores for 30 s" in text(visitor, "/forecast/what-if/?job=by+hand&at=02:00")


def test_what_is_wrong_with_a_change_is_said(visitor, plan):
    said = text(visitor, "/forecast/what-if/?job=report&cores=two&at=25:00")
    assert 'cores is "two"' in said
    assert "25:00" in said


def test_page_keeps_what_was_asked(visitor, plan):
    page = html(visitor, "/forecast/?window=hours&job=report&at=02:00&cores=4")
    assert 'data-computed="/forecast/what-if/?window=hours&amp;job=report&amp;at=02%3A00&amp;cores=4' in page
    assert 'value="02:00"' in page


def test_page_without_scripts_has_all_of_it(visitor, plan):
    said = text(visitor, "/forecast/?window=hours&job=report&duration_seconds=1200&whole=")
    assert "12 fires make 12 instances." in said
    assert "Would wait longer" in said


def test_nothing_to_come_says_what_to_do(visitor, ann):
    make_node()
    assert "Nothing comes in this time." in text(visitor, "/forecast/computed/")


def test_site_without_a_node_says_what_to_do(visitor):
    for address in ("/forecast/computed/", "/forecast/what-if/?job=a&at=02:00"):
        assert "start one with manage.py runscheduler" in text(visitor, address)


def test_names_are_shown_as_they_are(visitor, plan):
    Job.objects.filter(name="import").update(name=NAUGHTY)
    Job.objects.filter(name="report").update(usual_seconds=5400)
    for address in ("/forecast/computed/", "/forecast/?whole=&job=report&cores=1", "/forecast/"):
        assert "<img" not in html(visitor, address)


def test_looking_changes_nothing(visitor, plan):
    before = Event.objects.count()
    html(visitor, "/forecast/?whole=&job=report&cores=1")
    assert Event.objects.count() == before


def test_every_reason_to_skip_has_its_words():
    """A clean-up that no failure asks for was said to be "2 not_needed"."""
    dismissed = ("not_needed", "replaced", "start_deadline", "upstream_failed")
    assert {*dismissed, "overlap", "queue_bound", "blackout", "missed"} <= set(shown.SKIPPED)


def test_who_waited_for_another_takes_what_that_computed(visitor, plan, monkeypatch):
    @contextmanager
    def after_another():
        shown.cache.set(shown._key("day"), {"refusal": "made by another"}, 60)
        yield

    monkeypatch.setattr(shown, "alone", after_another)
    monkeypatch.setattr(shown, "foretell", lambda **_: pytest.fail("computed twice"))
    assert "made by another" in text(visitor, "/forecast/computed/")
