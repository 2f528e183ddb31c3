from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.jobsearch import search_of
from dashboard.presentation.jobs import read_job
from dashboard.presentation.jobuse import TREND
from dashboard.presentation.rows import html_of
from jobs.models import Node, Schedule
from jobs.store.schedules import unschedule
from tests.dashboard.places import NAUGHTY, end, make_job, make_node, make_running, make_waiting

pytestmark = pytest.mark.django_db

MEGABYTE = 2**20


def ran(job, status="success", seconds=10.0, cpu=None, **fields):
    node = Node.objects.first() or make_node()
    start = timezone.now() - timedelta(minutes=1)
    measured = {"duration_seconds": seconds, "cpu_seconds": cpu, **fields}
    return end(make_running(job, node, now=start), status, now=start + timedelta(seconds=seconds), **measured)


def plan(job, **fields):
    now = timezone.now()
    given = {"type": "daily", "expression": "02:30", "zone": "Europe/Berlin", "anchor_at": now, "watched_from": now}
    return Schedule.objects.create(job=job, **(given | fields))


def row(job, region, now=None):
    return read_job(job.pk, now or timezone.now())[region][0][1]


def html(visitor, job):
    return visitor.get(f"/jobs/{job.pk}/").content.decode()


def test_use_is_set_against_what_is_asked(visitor):
    job = make_job(cores=4, memory_mb=64)
    for cpu in (12.0, 8.0, 3.0, 2.0, 1.0):
        ran(job, cpu=cpu, peak_memory_bytes=int(cpu) * MEGABYTE)
    needs = row(job, "needs")
    assert needs.cores_sentence == "asks 4 cores, used 1.2 at most in 5 attempts"
    assert needs.advice == "2 cores would do, and others could start sooner"
    assert (needs.peak_words, needs.over_memory) == ("12.0 MB", False)
    assert "asks 4 cores, used 1.2 at most in 5 attempts" in html(visitor, job)


def test_few_or_short_runs_advise_nothing():
    job = make_job(cores=4, memory_mb=1)
    ran(job, seconds=0.05, cpu=0.05)
    assert row(job, "needs").cores_sentence == ""
    ran(job, cpu=1.0, peak_memory_bytes=2 * MEGABYTE)
    needs = row(job, "needs")
    assert needs.cores_sentence == "asks 4 cores, used 0.1 at most in its one attempt"
    assert (needs.advice, needs.over_memory) == ("", True)


def test_trend_tells_how_runs_went(visitor):
    job = make_job()
    for seconds in (1, 2, 30):
        ran(job, seconds=seconds)
    ran(job, "failed", seconds=4)
    make_waiting(job)
    trend = row(job, "trend")
    assert (trend.runs, trend.good, trend.ended, trend.usual, trend.longest) == (5, 3, 4, 3.0, 30.0)
    page = html(visitor, job)
    assert "3 of 4 succeeded" in page
    assert 'aria-label="Last 5 instances, newest first: queued, failed 4.0 s, success 30 s' in page
    assert "style=" not in page


def test_first_run_under_way_counts_none(visitor):
    job = make_job()
    make_waiting(job)
    page = html(visitor, job)
    assert ("none of them has ended yet" in page, "0 of 0" in page) == (True, False)


def test_script_has_numbered_lines(visitor):
    job = make_job(body="\nprint(1)\r\nprint('<b>')\n")
    page = html(visitor, job)
    assert [f'id="L{number}"' in page for number in (1, 2, 3, 4)] == [True, True, True, False]
    assert "<code></code>" in page
    assert (
        'href="#L3" tabindex="-1" aria-hidden="true" data-n="3"></a><code>print(&#x27;&lt;b&gt;&#x27;)</code>' in page
    )


def test_long_script_is_shown_in_part(visitor):
    job = make_job(body="x" * 100_500)
    assert "500 more characters are not shown" in html(visitor, job)


def test_command_has_no_line_numbers():
    script = row(make_job(kind="command", body="date"), "script")
    assert (script.numbered, script.language, script.lines) == (False, "bash", ("date",))


def test_script_of_many_lines_is_shown_in_part():
    script = row(make_job(body="\n" * 5_000 + "end"), "script")
    assert (len(script.lines), script.left_out) == (5_000, 4)
    assert row(make_job("other", body="x\n" * 5_000), "script").left_out == 0


@pytest.mark.parametrize(
    ("tag", "search"),
    [("etl", "tag:etl"), ("two words", 'tag:"two words"'), ('5"', 'tag:5"'), ('"a" b', ""), ("a:b", "tag:a:b")],
)
def test_tag_leads_to_all_that_have_it(tag, search):
    job = make_job(tags=[tag])
    assert row(job, "job").tags == ((tag, search),)
    assert not search or search_of(search).tags == (tag,)


def test_bars_lead_to_their_runs(visitor):
    job = make_job()
    run = ran(job, "failed", seconds=4)
    page = html(visitor, job)
    assert (
        f'<a href="/instances/{run.pk}/" tabindex="-1" aria-hidden="true" data-tone="bad"><title>#{run.pk} failed'
        in page
    )
    assert "These instances as text" in page


def test_usual_duration_is_drawn_among_the_bars():
    job = make_job()
    ran(job, seconds=10)
    assert row(job, "trend").usual_y is None
    ran(job, seconds=10)
    assert row(job, "trend").usual_y == 0.0
    ran(job, seconds=100)
    assert 0.0 < row(job, "trend").usual_y < 27.0


def test_webhook_is_told_without_its_secret(visitor):
    page = html(visitor, make_job(notify_email="ops@x.example", notify_webhook="https://u:p@hook.example/s3cret"))
    assert "<bdi>ops@x.example</bdi>" in page
    assert "<bdi>hook.example</bdi>" in page
    assert "s3cret" not in page


@pytest.mark.parametrize("act", ["run", "pause", "resume", "delete"])
def test_button_of_a_deleted_job_says_so(visitor, act):
    answer = visitor.post(f"/jobs/77/{act}/")
    assert answer.status_code == 404
    page = answer.content.decode()
    assert "There is no job 77; it may have been deleted." in page or "Job 77 does not exist" in page
    assert 'href="/jobs/"' in page


@pytest.mark.parametrize(("day", "marks"), [(20, 1), (1, 0)])
def test_fire_at_which_clocks_change_is_marked(day, marks):
    job, now = make_job(), datetime(2026, 10, day, tzinfo=UTC)
    plan(job)
    shown = html_of("schedule", ("schedule", row(job, "schedule", now)), now)
    assert shown.count(", 02:30:00 +0") == 10
    assert shown.count("Clocks go back") == marks


def test_job_that_lost_its_schedule_runs_by_hand(visitor):
    job = make_job()
    unschedule(plan(job), timezone.now())
    assert read_job(job.pk, timezone.now())["schedule"] == []
    assert "by hand" in visitor.get("/jobs/").content.decode().lower()


def test_quiet_trouble_is_said_on_its_page(visitor):
    job = make_job()
    plan(job, skipped_in_a_row=3)
    for _ in range(2):
        ran(job, "failed")
    page = html(visitor, job)
    assert "Skipped 3 times in a row" in page
    assert "Its last 2 instances failed." in page


def test_variables_are_named_and_masked(visitor):
    page = html(visitor, make_job(environment={"KEY": "s3cret"}))
    assert "<bdi>KEY</bdi>=********" in page
    assert "s3cret" not in page


def test_naughty_script_is_shown_as_it_is(visitor):
    page = html(visitor, make_job(NAUGHTY, body=NAUGHTY, description=NAUGHTY, tags=[NAUGHTY]))
    assert "<img" not in page


@pytest.mark.parametrize("status", ["pending", "queued", "retrying"])
def test_cancel_waiting_is_offered_while_something_waits(visitor, status):
    job = make_job()
    ran(job)
    assert "Cancel waiting" not in html(visitor, job)
    waiting = make_waiting(job, status)
    assert "Cancel waiting" in html(visitor, job)
    for _ in range(TREND + 1):
        ran(job)
    assert "Cancel waiting" in html(visitor, job)
    end(waiting, "cancelled")
    make_running(job, Node.objects.get())
    assert "Cancel waiting" not in html(visitor, job)


def test_queries_do_not_grow_with_runs(visitor):
    job, counts = make_job(), []
    plan(job)
    html(visitor, job)
    for batch in (1, 40):
        for _ in range(batch):
            ran(job, cpu=1.0)
        with CaptureQueriesContext(connection) as queries:
            html(visitor, job)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_job_tells_how_long_its_own_runs_are_kept(visitor):
    job = make_job(keep_days=3, keep_failed_days=0, keep_instances=5000)
    assert row(job, "needs").kept == ("successes for 3 days", "others for ever", "the newest 5,000")
    assert "<dt>Instances are kept</dt>" in html(visitor, job)
    assert "<dt>Instances are kept</dt>" not in html(visitor, make_job("plain"))


def test_job_without_a_schedule_does_not_wait_for_it(visitor):
    job = make_job()
    assert "wait for its schedule" not in html(visitor, job)
    plan(job)
    assert "Run it now, or wait for its schedule." in html(visitor, job)


def test_packages_of_the_job_and_of_its_script_are_told(visitor):
    script = "# /// script\n# requires-python = '>=3.11'\n# dependencies = ['rich', 'pandas']\n# ///\n"
    job = make_job(body=script, python_version="3.12", requirements=["pandas"])
    assert row(job, "needs").packages == ("Python 3.12 and >=3.11", "pandas", "rich")
    assert "<dt>Packages</dt>" in html(visitor, job)
    assert "<dt>Packages</dt>" not in html(visitor, make_job("plain", body="print(1)"))
