"""The forecast in a browser: asked for after the page is there, drawn, and compared with a change."""

import pytest
from django.utils import timezone

from jobs import actions
from jobs.models import Job
from tests.dashboard.places import hourly
from tests.waiting import until


@pytest.fixture
def forecast(service, signed_in):
    now = timezone.now()
    for name in ("report", "import"):
        raw = {"name": name, "command": "true", "cpu_cores_required": 2} | hourly(now)
        actions.create_job(raw, actor="admin", now=now)
    Job.objects.update(usual_seconds=600)
    signed_in.goto(f"{service.address}/forecast/")
    return signed_in


def test_forecast_comes_after_the_page_and_is_drawn(forecast):
    forecast.get_by_role("link", name="Next 6 hours").click()

    def told():
        # What was computed before these jobs were made is kept for a minute; no other test asks for these hours.
        forecast.reload()
        forecast.locator("[data-computed][aria-busy]").first.wait_for(state="detached")
        return forecast.get_by_text("12 fires make 12 instances.").count()

    until(told)
    forecast.locator("[data-plot=cores] canvas").wait_for()
    assert forecast.locator("[data-plot=fires] canvas").count() == 1
    forecast.get_by_text("As a table").click()
    assert forecast.get_by_role("region", name="Fires and cores by the hour").get_by_role("row").count() == 7


def test_change_is_compared_by_keyboard_alone(forecast):
    forecast.get_by_label("Job").focus()
    forecast.keyboard.type("nightly")
    for typed in ("02:00", "2", "3600"):
        forecast.keyboard.press("Tab")
        forecast.keyboard.type(typed)
    forecast.keyboard.press("Enter")
    forecast.get_by_text("nightly daily at 02:00 with 2 cores for 1 h").wait_for()
    assert not Job.objects.filter(name="nightly").exists()
