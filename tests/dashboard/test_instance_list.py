"""The list of instances: its filters, its pages, and actions on many at once."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import strip_tags

from dashboard import operations
from dashboard.filters import Cursor, filter_in, read_filter
from dashboard.presentation import matching
from dashboard.presentation.instance_list import PER_PAGE, read_list
from dashboard.presentation.matching import counts_by_status
from jobs.models import Instance
from tests.dashboard.places import NAUGHTY, end, make_job, make_node, make_running, make_waiting

pytestmark = pytest.mark.django_db


def html(visitor, query=""):
    response = visitor.get(f"/instances/{query and '?'}{query}")
    assert response.status_code == 200
    return response.content.decode()


def text(visitor, query=""):
    return " ".join(strip_tags(html(visitor, query).replace("<", " <")).split())


def listed(query="", cursor=None):
    return [row.instance_id for _, row in read_list(filter_in(query), cursor or Cursor(), timezone.now())["listed"]]


def test_status_is_applied_at_once_with_what_was_typed(visitor):
    """A ticked status did nothing until "Filter" was clicked, unlike the chips of the other lists."""
    first = visitor.get("/instances/", {"q": "night", "status": "queued", "toggle": "failed"})
    assert first["Location"] == "/instances/?status=queued&status=failed&q=night"
    again = visitor.get("/instances/", {"q": "night", "status": "queued", "toggle": "queued"})
    assert again["Location"] == "/instances/?q=night"


def test_empty_list_tells_nothing_here_from_nothing_matches(visitor):
    assert "Nothing has run yet." in text(visitor)
    make_waiting(make_job())
    assert "Nothing matches." in text(visitor, "status=failed")
    assert "Nothing on this page." in text(visitor, "before=1")


@pytest.mark.usefixtures("each_database")
def test_each_filter_keeps_what_it_says():
    atlas, borea = make_node(), make_node("borea")
    merge, report = make_job("merge", tags=["etl"]), make_job("report")
    failed = end(make_running(merge, atlas), "failed", exit_code=3, error="no route to 100%_host").pk
    timeout = end(make_running(report, borea), "timeout", error="ran too long").pk
    waits = make_waiting(report).pk
    expected = {
        "": [waits, timeout, failed],
        "job=merge": [failed],
        "job=nobody": [],
        "status=failed": [failed],
        "status=timeout&status=failed": [timeout, failed],
        "status=failed&job=merge": [failed],
        "status=failed&job=report": [],
        "tag=etl": [failed],
        "tag=et": [],
        "node=borea": [timeout],
        "node=nowhere": [],
        "exit=3": [failed],
        "exit=-3": [],
        "q=REP": [waits, timeout],
        "q=route": [failed],
        "q=100%25_h": [failed],
        "q=100_": [],
        "q=e&status=failed": [failed],
        "within=1h": [waits, timeout, failed],
        "from=2999-01-01": [waits],
        "to=2001-01-01": [],
        "q=report&node=borea&status=timeout&within=24h": [timeout],
    }
    assert {query: listed(query) for query in expected} == expected


# Each job as a parameter was slow with thousands of them, and beyond SQLite's limit with 40,000.
@pytest.mark.usefixtures("each_database")
def test_many_jobs_are_found_as_few_are(monkeypatch):
    node = make_node()
    for number in range(4):
        job = make_job(f"merge {number}", tags=["etl"] if number % 2 else [])
        end(make_running(job, node), "failed" if number else "success", error="merge failed" if number else "")
    end(make_running(make_job("other"), node), "failed", error="no merge")
    queries = ("q=merge", "q=MERGE+2", "tag=etl", "tag=etl&status=failed&q=merge", "q=merge&status=success", "tag=none")
    few = {query: listed(query) for query in queries}
    assert len(few["q=merge"]) == 5
    monkeypatch.setattr(matching, "MANY_JOBS", 1)
    assert {query: listed(query) for query in queries} == few
    counts = counts_by_status(filter_in("q=merge&tag=etl"), operations.newest_id(), timezone.now())
    assert sum(counts.values()) == 2


@pytest.mark.usefixtures("each_database")
def test_time_keeps_what_was_there_at_some_moment():
    job, node, now = make_job(), make_node(), timezone.now()
    old = end(make_running(job, node, now=now - timedelta(hours=9)), now=now - timedelta(hours=8)).pk
    across = end(make_running(job, node, now=now - timedelta(hours=9)), now=now - timedelta(minutes=5)).pk
    assert listed("within=1h") == [across]
    until = (now - timedelta(hours=8, minutes=30)).strftime("%Y-%m-%dT%H:%M")
    assert listed(f"to={until}") == [across, old]
    assert listed(f"from={until}&within=") == [across, old]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("exit=abc", "exit"),
        ("exit=99999999999", "exit"),
        ("exit=%C2%B2", "exit"),
        ("from=yesterday", "from"),
        ("from=0001-01-01T00:00%2B14:00", "from"),
        ("from=2026-02-02&to=2026-02-01", "to"),
        ("status=lost", "status"),
        ("within=2y", "within"),
        ("q=%00", "q"),
        (f"q={'x' * 201}", "q"),
    ],
)
def test_unreadable_filter_lists_nothing_and_says_why(visitor, query, field):
    make_waiting(make_job())
    assert list(read_filter(QueryDict(query)).problems) == [field]
    assert "cannot be read, so nothing is listed" in text(visitor, query)
    assert "Nothing matches" in text(visitor, query)
    confirmation = visitor.get("/instances/bulk/", {"action": "cancel-all", "filter": query})
    assert b"nothing is done" in confirmation.content


def test_filter_says_its_query_again_the_same_way():
    query = "status=queued&status=failed&q=a+%26b&job=%3Cx%3E&within=1h"
    assert filter_in(filter_in(query).query).query == filter_in(query).query
    assert " " not in filter_in(query).query


# bug-057
def test_pages_are_complete_while_runs_keep_ending():
    job, node = make_job(), make_node()
    made = [make_running(job, node).pk for _ in range(2 * PER_PAGE + 7)]
    seen, cursor = [], Cursor()
    while cursor is not None:
        regions = read_list(filter_in(""), cursor, timezone.now())
        seen += [row.instance_id for _, row in regions["listed"]]
        older = regions["pager"][0][1].older
        cursor = Cursor(before=int(older.partition("before=")[2])) if older else None
        end(Instance.objects.filter(status="running").first())
        make_waiting(job)
    assert seen == made[::-1]


# bug-057
def test_last_page_is_reached_and_leads_back():
    job = make_job()
    made = [make_waiting(job).pk for _ in range(PER_PAGE + 3)]
    oldest = read_list(filter_in(""), Cursor(after=0), timezone.now())
    assert [row.instance_id for _, row in oldest["listed"]] == made[:PER_PAGE][::-1]
    pager = oldest["pager"][0][1]
    assert pager.older is None
    assert pager.newer == f"after={made[PER_PAGE - 1]}"
    assert listed(cursor=Cursor(after=made[PER_PAGE - 1])) == made[PER_PAGE:][::-1]


# bug-057
def test_total_stops_counting_at_a_thousand(visitor):
    job, now = make_job(), timezone.now()
    common = {"job": job, "status": "pending", "cause": "submit", "logical_at": now, "due_at": now, "created_at": now}
    Instance.objects.bulk_create([Instance(generation=number, **common) for number in range(1005)])
    assert "1,000+ in all" in text(visitor)
    assert "1,000+ match" in text(visitor, "status=pending")


def test_list_costs_the_same_with_more(visitor):
    node, counts = make_node(), []
    queries = ("", "status=failed&status=running", "q=job&tag=etl", "node=atlas&exit=1&within=24h")
    html(visitor)
    for batch in range(2):
        for number in range(2 + 30 * batch):
            job = make_job(f"job {batch} {number}", tags=["etl"])
            end(make_running(job, node), "failed", exit_code=1, error="no job")
        counts.append([])
        for query in queries:
            with CaptureQueriesContext(connection) as captured:
                html(visitor, query)
            counts[-1].append(len(captured))
    assert counts[0] == counts[1]


def test_names_and_errors_are_shown_as_they_are(visitor):
    job, node = make_job(NAUGHTY, tags=[NAUGHTY]), make_node(NAUGHTY)
    end(make_running(job, node), "failed", error=NAUGHTY)
    end(make_running(job, node))
    for query in ("", "q=%3Cimg+src%3Dx+onerror", "job=%22%3E%3Cimg+src%3Dx%3E", "exit=%3Cimg%3E"):
        shown = html(visitor, query)
        assert "<img" not in shown
    assert "&lt;img src=x onerror=document.title=1&gt;" in html(visitor)


@pytest.mark.usefixtures("each_database")
def test_counts_say_what_the_list_says():
    node, named = make_node(), make_job("orders")
    end(make_running(named, node), "failed", error="no orders")
    end(make_running(make_job("other"), node), "failed", error="orders are missing")
    make_waiting(named)
    for query in ("", "q=orders", "q=missing", "status=failed", "status=failed&q=orders", "job=orders", "job=none"):
        counts = counts_by_status(filter_in(query), operations.newest_id(), timezone.now())
        assert sum(counts.values()) == len(listed(query))
    assert counts_by_status(filter_in("exit=x"), 9, timezone.now()) == {}


# With an index on the plain status, SQLite sorted all that wait at each step of the engine.
@pytest.mark.skipif(connection.vendor != "sqlite", reason="how SQLite plans")
@pytest.mark.parametrize(
    ("status", "order", "index"),
    [
        ("queued", "order_key", "instance_queue"),
        ("pending", "due_at", "instance_pending_due"),
        ("retrying", "retry_at", "instance_retrying_due"),
    ],
)
def test_indexes_of_the_list_leave_the_queue_its_own(status, order, index):
    plan = Instance.objects.filter(status=status).order_by(order, "id").explain()
    assert f"INDEX {index}" in plan
    assert "TEMP B-TREE" not in plan


def test_tiles_and_job_page_lead_to_their_part_of_the_list(visitor):
    job, node = make_job("a & b/?=c"), make_node()
    failed = end(make_running(job, node), "failed").pk
    waits, runs = make_waiting(make_job()).pk, make_running(make_job("other"), node).pk
    tiles = re.findall(r'tile" href="/instances/\?([^"]+)"', visitor.get("/").content.decode())
    assert [listed(unescape(query)) for query in tiles] == [[runs], [waits], [failed]]
    of_job = re.findall(r'href="/instances/\?(job=[^"]+)"', visitor.get(f"/jobs/{job.pk}/").content.decode())
    assert [listed(unescape(query)) for query in of_job] == [[failed]]
