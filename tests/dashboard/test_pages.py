"""What the pages say in each state."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import strip_tags

from dashboard.live.places import path_of
from jobs.core.retention import Ended
from jobs.execution import keeping
from jobs.models import Instance, Node, Schedule
from tests.dashboard.outputs import printed
from tests.dashboard.places import NAUGHTY, THEN, end, make_job, make_node, make_running, make_waiting, tell

pytestmark = pytest.mark.django_db


def html(visitor, path="/"):
    response = visitor.get(path)
    assert response.status_code == 200
    return response.content.decode()


def text(visitor, path="/"):
    """What a reader sees, words apart."""
    return " ".join(strip_tags(html(visitor, path).replace("<", " <")).replace(" ,", ",").split())


def schedule(job, **fields):
    now = timezone.now()
    given = {"type": "daily", "expression": "02:30", "zone": "Europe/Berlin", "anchor_at": now, "watched_from": now}
    return Schedule.objects.create(job=job, **(given | fields))


def test_empty_overview_says_what_to_do(visitor):
    shown = text(visitor)
    assert "No node yet" in shown
    assert "Nothing runs" in shown
    assert "Nothing waits" in shown
    assert "Nothing is planned" in shown
    assert "No failures" in shown


def test_no_engine_is_said_on_every_page(visitor):
    assert "Engine stopped" in text(visitor)
    assert "nothing will start" in text(visitor, "/jobs/new/")


def test_silent_engine_is_named(visitor):
    make_node(heartbeat_at=timezone.now() - timedelta(minutes=1))
    assert "The engine on atlas does not step" in text(visitor)


def test_low_disk_is_said_with_its_sentence(visitor):
    make_node(admission_stopped="Only 3 MB are free.")
    assert "Only 3 MB are free." in text(visitor)


def test_cell_names_who_holds_its_core(visitor):
    node = make_node()
    instance = make_running(make_job("merge"), node, cores=(2,))
    shown = html(visitor)
    assert f'data-core="2" data-reserved data-who="merge" data-instance="{instance.pk}"' in shown
    assert shown.count("data-reserved") == 2  # the cell and its line in the table


def test_overcommitted_core_says_how_much(visitor):
    make_running(make_job("C", cores=2), make_node(), cores=(3,), virtual=1)
    shown = text(visitor)
    assert "&times;2" in shown
    assert "virtual 1 C" in shown
    assert "1 of 2" in shown


def test_memory_is_said_to_be_reserved(visitor):
    make_running(make_job(memory_mb=512), make_node())
    assert "Memory reserved" in text(visitor)
    assert "512.0 MB of 4.0 GB" in text(visitor)


def test_running_row_measures_against_usual_duration(visitor):
    job = make_job(usual_seconds=7200.0, timeout_seconds=36_000)
    make_running(job, make_node(), now=timezone.now() - timedelta(hours=1))
    assert "usually 2 h" in text(visitor)
    assert '<progress max="100" value="50"' in html(visitor)


def test_running_row_measures_against_limit_else(visitor):
    make_running(make_job(timeout_seconds=600), make_node())
    assert "limit 10 min" in text(visitor)


def test_waiting_rows_stop_at_twelve(visitor):
    job = make_job()
    for _ in range(15):
        make_waiting(job)
    shown = html(visitor)
    assert shown.count('class="row waiting"') == 12
    assert "and 3 more waiting" in shown


def test_failures_are_grouped_by_job(visitor):
    job, node = make_job(), make_node()
    for _ in range(3):
        end(make_running(job, node), "failed", exit_code=1, error="exited with code 1")
    shown = html(visitor)
    assert shown.count('class="row failure"') == 1
    assert "3 times" in shown


def test_old_failures_are_not_shown(visitor):
    before = timezone.now() - timedelta(days=2)
    end(make_running(make_job(), make_node(), now=before), "failed", now=before)
    assert "No failures" in text(visitor)


def test_names_are_shown_as_they_are(visitor):
    job = make_job(NAUGHTY, description=NAUGHTY, tags=[NAUGHTY], body=NAUGHTY)
    node = make_node()
    schedule(job, next_at=timezone.now() + timedelta(hours=1))
    instance = end(make_running(job, node), "failed", error=NAUGHTY)
    make_running(job, node)
    make_waiting(job)
    for path in ("/", "/jobs/", f"/jobs/{job.pk}/", f"/jobs/{job.pk}/delete/", f"/instances/{instance.pk}/"):
        shown = html(visitor, path)
        assert "<img" not in shown
        assert "&lt;img src=x onerror=document.title=1&gt;" in shown
        assert "{{7*7}}" in shown


def test_overview_costs_the_same_with_more(visitor):
    node, counts = make_node(cores=40), []
    html(visitor)
    for batch in range(2):
        for number in range(1 + 10 * batch):
            job = make_job(f"job {batch} {number}")
            schedule(job, next_at=timezone.now() + timedelta(hours=1))
            make_waiting(job)
            make_running(job, node, (batch * 20 + number,))
            end(make_running(job, node, (39,)), "failed")
        counts.append([])
        for path in ("/", "/jobs/", "/jobs/1/"):
            with CaptureQueriesContext(connection) as queries:
                visitor.get(path)
            counts[-1].append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("status", "fields", "sentence"),
    [
        ("success", {"exit_code": 0}, "Succeeded in 1.5 s on core 0 of atlas."),
        ("failed", {"exit_code": 3}, "Failed: it exited with code 3."),
        ("failed", {"error": "the interpreter is missing"}, "Failed: the interpreter is missing."),
        ("failed", {"signal": 9}, "Failed: it was ended by SIGKILL (9)."),
        ("timeout", {"error": "ran longer than its limit"}, "Timed out: it ran longer than its limit."),
        ("timeout", {}, "Timed out: it ran longer than its time limit and was ended."),
        ("cancelled", {}, "Cancelled; no process of it is left."),
    ],
)
def test_ended_instance_says_why(visitor, status, fields, sentence):
    instance = end(make_running(make_job(), make_node()), status, **fields)
    shown = text(visitor, f"/instances/{instance.pk}/")
    assert sentence[1:] in shown
    assert "Retry" in shown


def test_abandoned_thread_is_told(visitor):
    instance = end(make_running(make_job(), make_node()), "cancelled")
    instance.attempts.update(abandoned_at=instance.ended_at)
    returned = text(visitor, f"/instances/{instance.pk}/")
    assert "Cancelled. Its thread could not be ended, and has gone on for a while." in returned
    Node.objects.update(abandoned=[instance.attempts.get().token])
    shown = text(visitor, f"/instances/{instance.pk}/")
    assert "Cancelled. Its thread could not be ended: what it holds is free only once it has returned" in shown


def test_running_instance_can_be_cancelled(visitor):
    instance = make_running(make_job(), make_node())
    shown = html(visitor, f"/instances/{instance.pk}/")
    assert "Running on core 0 of atlas." in shown
    assert f'formaction="/instances/{instance.pk}/cancel/"' in shown


def test_stopping_instance_says_by_whom(visitor):
    instance = make_running(make_job(), make_node())
    visitor.post(f"/instances/{instance.pk}/cancel/")
    shown = text(visitor, f"/instances/{instance.pk}/")
    assert "Being stopped" in shown
    assert "ann asked for it" in shown
    assert "Stopping…" in shown


def test_waiting_instance_says_why(visitor):
    make_node(cores=1, overcommit=1.0)
    instance = make_waiting(make_job(cores=1))
    shown = text(visitor, f"/instances/{instance.pk}/")
    assert "waiting for" in shown
    assert "Nothing printed yet: it has not started." in shown


def test_cancelled_while_waiting_never_started(visitor):
    instance = make_waiting(make_job())
    visitor.post(f"/instances/{instance.pk}/cancel/")
    shown = text(visitor, f"/instances/{instance.pk}/")
    assert "Cancelled by ann before it started." in shown
    assert "Nothing printed yet" not in shown


def test_ended_instance_without_its_log_promises_none(visitor):
    instance = end(make_running(make_job(), make_node()))
    assert "Its output is not kept any more." in text(visitor, f"/instances/{instance.pk}/")


def test_log_that_made_room_says_so(visitor, settings):
    instance = end(make_running(make_job(), make_node()))
    run = Ended(instance.pk, instance.status, instance.ended_at)
    keeping.write(settings.DATA_DIR, keeping.Kept().making_room(run, instance.ended_at))
    sentence = f"Its log was removed on {instance.ended_at:%Y-%m-%d} to make room (ROTA_KEEP_RUNS_MB)."
    assert sentence in text(visitor, f"/instances/{instance.pk}/")
    refused = visitor.get(f"/instances/{instance.pk}/log/download/")
    assert (refused.status_code, sentence in refused.content.decode()) == (410, True)


def test_node_tells_what_its_runs_take(visitor, settings):
    node = make_node()
    kept = keeping.Kept(
        "node:atlas", THEN.isoformat(), 5 * 2**20, THEN.isoformat(), {"instances": 1200, "bytes": 2**20}
    )
    keeping.write(settings.DATA_DIR, kept)
    shown = text(visitor, f"/nodes/{node.pk}/")
    assert "Ended instances take 5.0 MB at most" in shown
    assert "Last removed 1,200 instances, 1.0 MB" in shown
    assert "Ended instances take" not in text(visitor, f"/nodes/{make_node('other').pk}/")


def test_facts_tell_what_was_measured(visitor):
    fields = {"exit_code": 0, "cpu_seconds": 0.25, "peak_memory_bytes": 5 * 2**20, "descendants_ended": 2}
    instance = end(make_running(make_job(memory_mb=64), make_node()), "success", **fields)
    shown = text(visitor, f"/instances/{instance.pk}/")
    for fact in ("250 ms", "5.0 MB", "Descendants ended 2", "64 MB reserved, and its limit", "core 0 for itself"):
        assert fact in shown


def test_log_is_on_the_first_page_without_colour_codes(visitor):
    instance = make_running(make_job(), make_node())
    printed(path_of(instance.pk, 1, instance.token), b"\x1b[31mred\x1b[0m <b>bold</b>\r\n  0%\r100%\n")
    shown = html(visitor, f"/instances/{instance.pk}/")
    assert "red &lt;b&gt;bold&lt;/b&gt;\n100%\n" in shown


def test_retry_leads_to_the_new_instance_and_back(visitor):
    instance = end(make_running(make_job(), make_node()), "failed")
    there = visitor.post(f"/instances/{instance.pk}/retry/")["Location"]
    assert f"retry of #{instance.pk}" in text(visitor, there)
    assert "retried as #" in text(visitor, f"/instances/{instance.pk}/")


def test_retry_of_what_runs_is_refused_with_reason(visitor):
    instance = make_running(make_job(), make_node())
    response = visitor.post(f"/instances/{instance.pk}/retry/")
    assert response.status_code == 409
    assert b"cancel it first" in response.content


def test_cancel_leads_back_to_where_it_was_asked(visitor):
    instance = make_running(make_job(), make_node())
    assert visitor.post(f"/instances/{instance.pk}/cancel/", {"next": "/?x=1"})["Location"] == "/?x=1"
    elsewhere = visitor.post(f"/instances/{instance.pk}/cancel/", {"next": "https://evil.example/"})
    assert elsewhere["Location"] == f"/instances/{instance.pk}/"


def test_run_now_makes_one_instance_however_often_clicked(visitor):
    job = make_job()
    first = visitor.post(f"/jobs/{job.pk}/run/", {"form_mark": "m1"})
    second = visitor.post(f"/jobs/{job.pk}/run/", {"form_mark": "m1"})
    assert first["Location"] == second["Location"]
    assert Instance.objects.count() == 1


def test_pause_and_resume_are_said(visitor):
    job = make_job()
    visitor.post(f"/jobs/{job.pk}/pause/")
    assert "Paused by ann" in text(visitor, f"/jobs/{job.pk}/")
    visitor.post(f"/jobs/{job.pk}/resume/")
    assert "Paused by" not in text(visitor, f"/jobs/{job.pk}/")


def test_delete_asks_first_and_then_does(visitor):
    job = make_job(NAUGHTY)
    make_waiting(job)
    assert "1 of its instances has not ended" in text(visitor, f"/jobs/{job.pk}/delete/")
    assert visitor.post(f"/jobs/{job.pk}/delete/")["Location"] == "/jobs/"
    shown = html(visitor, "/jobs/")
    assert "Deleted &lt;img" in shown
    assert not Instance.objects.exists()


def test_delete_of_what_runs_stops_it_first(visitor):
    job = make_job()
    make_running(job, make_node())
    there = visitor.post(f"/jobs/{job.pk}/delete/")["Location"]
    assert "being stopped first" in text(visitor, there)


def test_job_page_says_schedule_in_words(visitor):
    job = make_job()
    schedule(job, zone="Asia/Tokyo")  # whose clocks are never set, so that each day has this moment
    shown = text(visitor, f"/jobs/{job.pk}/")
    assert "At 02:30 every day" in shown
    assert shown.count(", 02:30:00 +0900") == 10


def test_broken_schedule_is_said_not_raised(visitor):
    job = make_job()
    schedule(job, zone="Mars/Olympus")
    assert "set aside" in text(visitor, f"/jobs/{job.pk}/")
    assert "Daily 02:30" in text(visitor, "/jobs/")


def test_jobs_are_paged_by_fifty(visitor):
    for number in range(53):
        make_job(f"job {number:02}")
    assert html(visitor, "/jobs/").count('class="row job"') == 50
    assert html(visitor, "/jobs/?page=2").count('class="row job"') == 3
    assert "51\N{EN DASH}53 of 53" in text(visitor, "/jobs/?page=99")
    assert html(visitor, "/jobs/?page=nonsense").count('class="row job"') == 50


def test_timeline_has_each_stage_with_its_duration(visitor):
    instance = make_waiting(make_job())
    start = timezone.now() - timedelta(minutes=5)
    tell("instance.queued", instance, "", "queued", at=start, actor="ann")
    tell("instance.started", instance, "queued", "running", at=start + timedelta(seconds=90), data={"cores": [1]})
    shown = text(visitor, f"/instances/{instance.pk}/")
    assert "queued 1 min 30 s Submitted by ann" in shown
    assert "starting" in shown


def test_free_core_that_is_kept_says_for_whom(visitor):
    node = make_node(kept_for=812)
    page = html(visitor)
    assert page.count("data-kept") == 2 * len(node.cores) + 2  # in the heatmap and in its table, and virtual ones
    assert 'data-kept="812"' in page
    assert "kept for <a" in page
