"""A job that says hostile things wherever it may say anything: each page shows them as text, and stays in its width."""

from urllib.parse import urlencode

import pytest
from django.utils import timezone

from jobs import actions
from jobs.models import Instance, Job
from tests.browser.conftest import Service
from tests.waiting import until

MARKUP = "<img src=x onerror=document.title=1>'\"&{{7*7}}${7*7}<script>document.title=1</script>"
HOSTILE = f"{MARKUP} \u05d0\u05d1\u200f \U0001f680\U0001f469\u200d\U0001f680"
LONG = "W" * 70
# The mark that turns the writing round is refused in names; a job prints what it likes.
PRINTED = f"{HOSTILE} \u202egnp.exe"
SCRIPT = f"""import os, sys
print({PRINTED!a}, flush=True)
print(os.environ["SAID"], flush=True)
sys.exit({PRINTED!a} + {LONG!r} * 9)
"""

SHOWN = (
    """[document.body.innerText, ...[...document.querySelectorAll("input, textarea")].map(one => one.value)].join()"""
)
TOO_WIDE = """document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("main *")]
    .filter(part => part.getBoundingClientRect().right > innerWidth + 1).map(part => part.outerHTML.slice(0, 80))"""


@pytest.fixture
def job(service: Service) -> Job:
    raw = {
        "name": HOSTILE,
        "description": f"{HOSTILE} {LONG}",
        "tags": ["'\"<b>&{{7*7}}", LONG[:40]],
        "environment": {"SAID": HOSTILE},
        "script_content": SCRIPT,
        "schedule_type": "cron",
        "schedule_expression": "0 2 1 1 *",
        "max_retries": 0,
    }
    created = actions.create_job(raw, actor=MARKUP[:40], now=timezone.now(), start=False)
    return Job.objects.get(pk=created.job_id)


def run(job: Job) -> int:
    """An instance of it that has failed."""
    number = actions.run_job(job.pk, actor=MARKUP[:40], now=timezone.now()).instance_id
    until(lambda: Instance.objects.get(pk=number).status == "failed")
    return number


def is_harmless(page, *texts):
    """All of it is there, letter by letter, no part of it was run, and nothing is wider than the screen."""
    shown = page.evaluate(SHOWN)
    for text in texts:
        assert text in shown
    assert page.title() != "1"
    assert "&49" not in shown
    assert page.locator("img, main script").count() == 0
    assert page.evaluate(TOO_WIDE) == []


def go(service, page, path):
    page.goto(f"{service.address}{path}")
    if page.locator("#connection").count():
        page.locator("#connection", has_text="live").wait_for()


def test_pages_show_hostile_text_as_text(service, phone, job):
    number = run(job)
    for path in ("/", "/jobs/", f"/jobs/?{urlencode({'q': MARKUP[:12]})}", f"/jobs/{job.pk}/delete/", "/instances/"):
        go(service, phone, path)
        is_harmless(phone, HOSTILE)
    go(service, phone, f"/jobs/{job.pk}/")
    is_harmless(phone, HOSTILE, job.description)
    go(service, phone, f"/jobs/{job.pk}/edit/")
    is_harmless(phone, HOSTILE, job.description)
    go(service, phone, f"/instances/{number}/")
    phone.locator("#log").get_by_text(LONG).first.wait_for()
    is_harmless(phone, HOSTILE)
    assert phone.locator("#log").inner_text().count(MARKUP) == 3
    go(service, phone, f"/instances/bulk/?action=retry&id={number}")
    is_harmless(phone)


def test_rows_of_the_socket_show_hostile_text_as_text(service, signed_in, job):
    for path, row in (("/", "#failures .row"), ("/jobs/", ".row.job .badge"), ("/instances/", ".row.listed")):
        go(service, signed_in, path)
        run(job)
        signed_in.locator(row, has_text="failed").first.wait_for()
        is_harmless(signed_in, HOSTILE)


def test_job_with_a_hostile_name_is_deleted(service, phone, job):
    run(job)
    go(service, phone, f"/jobs/{job.pk}/delete/")
    phone.get_by_role("button", name="Delete it").tap()
    phone.locator(".messages").get_by_text("Deleted").wait_for()
    is_harmless(phone, HOSTILE)
    assert not Job.objects.exists()


def test_operation_and_admin_show_hostile_text_as_text(service, signed_in, job):
    page = signed_in
    number = run(job)
    go(service, page, f"/instances/?{urlencode({'q': MARKUP})}")
    is_harmless(page, MARKUP)
    go(service, page, f"/instances/bulk/?action=retry&id={number}")
    page.locator("main form button").first.click()
    page.locator("[data-state=done]").wait_for()
    is_harmless(page)
    for path in ("job/", f"job/{job.pk}/change/", f"job/{job.pk}/history/", "instance/", f"instance/{number}/change/"):
        page.goto(f"{service.address}/admin/jobs/{path}")
        assert page.title() != "1"
        assert page.locator("#content img[src=x], #content script:not([src]):not([type])").count() == 0
    page.get_by_text(MARKUP[:40]).first.wait_for()
