"""The list of schedules: what each row says, which are found, in which order, and what it costs."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.presentation.listpage import PER_PAGE, sort_links
from dashboard.presentation.schedule_list import read_schedules
from dashboard.schedulesearch import SORTS, ScheduleQuery, query_in
from dashboard.topics import UnknownTopicError, parts_of
from jobs.models import Event, Instance, Schedule
from tests.dashboard.places import NAUGHTY, end, make_job, make_node, make_running, make_waiting

pytestmark = pytest.mark.django_db


def plan(name, paused=False, **fields):
    now = timezone.now()
    job = make_job(name, paused_at=now if paused else None)
    given = {"type": "interval", "expression": "5m", "anchor_at": now, "watched_from": now}
    given |= {"next_at": None if paused else now + timedelta(minutes=5)}
    return Schedule.objects.create(job=job, **(given | fields))


def listed(**query):
    return [row for _, row in read_schedules(ScheduleQuery(**query), timezone.now())["schedules"]]


def names(**query):
    return [row.job_name for row in listed(**query)]


def fired(schedule, status="success"):
    instance = end(make_running(schedule.job, make_node(f"n{schedule.pk}")), status)
    Schedule.objects.filter(pk=schedule.pk).update(last_logical_at=instance.logical_at, run_count=1)
    return instance


def html(visitor, query=""):
    response = visitor.get(f"/schedules/{query and '?'}{query}")
    assert response.status_code == 200
    return response.content.decode()


def test_empty_list_tells_nothing_here_from_nothing_matches(visitor):
    make_job("by hand")
    assert "Nothing runs by itself yet." in html(visitor)
    plan("timed")
    assert "No schedule matches." in html(visitor, "q=other")


def test_row_says_when_and_what_became_of_the_last(visitor):
    schedule = plan("report", type="daily", expression="02:30", zone="Europe/Berlin", skipped_count=1204)
    failed = fired(schedule, "failed")
    row = listed()[0]
    assert (row.last.instance_id, row.last.look.word) == (failed.pk, "failed")
    page = html(visitor)
    for text in ("Europe/Berlin", "1 fired", "1,204 skipped", f"/instances/{failed.pk}/", 'data-clock="countdown"'):
        assert text in page


def test_arrow_up_is_rising_in_each_order():
    """Both from A to Z and from the newest on were an arrow down."""
    shown = {sort: {word: way for _, word, way in sort_links(ScheduleQuery(sort=sort), SORTS)} for sort in
             ("name", "-name", "next", "last", "-last", "skipped")}  # fmt: skip
    assert (shown["name"]["Name"], shown["-name"]["Name"]) == ("up", "down")
    assert (shown["next"]["Next fire"], shown["last"]["Last fire"]) == ("up", "down")
    assert (shown["-last"]["Last fire"], shown["skipped"]["Skipped"]) == ("up", "down")


def test_retry_mends_what_the_last_fire_left():
    schedule = plan("report")
    failed = fired(schedule, "failed")
    retry = make_waiting(schedule.job, logical_at=failed.logical_at, generation=failed.generation + 1)
    assert (listed()[0].last.instance_id, listed()[0].last.look.word) == (retry.pk, "queued")


def test_fire_whose_instance_is_gone_is_still_told(visitor):
    fired(plan("report"))
    Instance.objects.all().delete()
    assert listed()[0].last.look is None
    assert "deleted since" in html(visitor)


def test_skipped_last_fire_says_so(visitor):
    report = plan("report", last_logical_at=timezone.now())
    data = {"logical_at": report.last_logical_at.isoformat(), "code": "overlap", "count": 1}
    data["reason"] = "overlap: instance 6 has not ended"
    Event.objects.create(at=timezone.now(), kind="schedule.skipped", job_id=report.job_id, data=data)
    page = html(visitor)
    assert "overlap: instance 6 has not ended" in page
    assert "deleted since" not in page


def test_schedule_that_was_taken_away_is_not_listed():
    plan("taken", type="once", expression="", next_at=None)
    assert names() == []


@pytest.fixture
def five():
    now = timezone.now()
    plan("active")
    plan("paused", paused=True)
    plan("skipping", skipped_in_a_row=3, next_at=now + timedelta(minutes=1))
    plan("faulty", fault="no zone Mars/Base", next_at=None, zone="Mars/Base")
    plan("over", type="once", expression="", start_at=now, next_at=None, last_logical_at=now)


@pytest.mark.usefixtures("each_database", "five")
def test_each_filter_keeps_what_it_says():
    expected = {
        "active": ["skipping", "active"], "paused": ["paused"], "skipping": ["skipping"], "faulty": ["faulty"],
        "over": ["over"],
    }  # fmt: skip
    assert {state: names(state=state) for state in expected} == expected
    assert names(type="once") == ["over"]
    assert names(text="MARS faul") == ["faulty"]
    assert names(text="5m act") == ["active"]
    assert names(text="5m", state="paused", type="cron") == []


@pytest.mark.usefixtures("each_database", "five")
def test_orders_keep_what_has_no_moment_last():
    assert names()[:2] == ["skipping", "active"]
    assert names(sort="-next")[:2] == ["active", "skipping"]
    assert names(sort="name") == names(sort="-name")[::-1] == ["active", "faulty", "over", "paused", "skipping"]
    assert names(sort="last")[0] == names(sort="-last")[0] == "over"
    assert names(sort="skipped")[0] == "skipping"


def test_pages_say_where_they_are(visitor):
    for number in range(PER_PAGE + 2):
        plan(f"job {number:03}")
    page = html(visitor, "sort=name&q=job")
    assert f"1\N{EN DASH}{PER_PAGE} of {PER_PAGE + 2}" in page
    assert 'href="?page=2&amp;sort=name&amp;state=&amp;type=&amp;q=job" rel="next"' in page
    assert names(sort="name", page=9) == [f"job {PER_PAGE:03}", f"job {PER_PAGE + 1:03}"]


def test_topic_asks_what_the_address_asks(visitor):
    response = visitor.get("/schedules/", {"q": "a b", "state": "paused", "sort": "-last", "page": "3"})
    topic = response.context["live"]["topics"].split(" ")[0]
    assert query_in(topic.removeprefix("schedules:")) == ScheduleQuery("a b", "paused", "", "-last", 3)
    assert visitor.get("/live/rows/", {"topic": topic}).json()["frames"][0]["topic"] == topic
    with pytest.raises(UnknownTopicError):
        parts_of("schedules:")


@pytest.mark.parametrize("query", ["page=x", "sort=up", "state=lost", "type=solar", "q=%00", "page=99999999999999"])
def test_odd_address_is_as_if_not_given(visitor, query):
    plan("report")
    assert "report" in html(visitor, query)


def test_names_and_faults_are_shown_as_they_are(visitor):
    plan(NAUGHTY, fault=NAUGHTY, zone=NAUGHTY[:60], expression=NAUGHTY)
    page = html(visitor, "q=%3Cimg")
    assert "<img" not in page
    assert page.count("&lt;img src=x onerror=document.title=1&gt;") >= 3


def test_queries_do_not_grow_with_rows(visitor):
    counts = []
    html(visitor)
    for batch in (1, 60):
        for number in range(batch):
            fired(plan(f"job {batch} {number}"))
        counts.append([])
        for query in ("", "q=job&state=active&sort=last"):
            with CaptureQueriesContext(connection) as captured:
                html(visitor, query)
            counts[-1].append(len(captured))
    assert counts[0] == counts[1]
