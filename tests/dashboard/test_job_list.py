from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.jobsearch import JobQuery, query_in, search_of
from dashboard.presentation.job_list import STRIP, read_jobs
from dashboard.topics import UnknownTopicError, parts_of
from jobs.models import Dependency, Job, Node, Schedule
from tests.dashboard.places import NAUGHTY, end, make_job, make_node, make_running, make_waiting

pytestmark = pytest.mark.django_db


def listed(text="", sort="name", page=1):
    """The rows of the list, in its order."""
    return [row for _, row in read_jobs(JobQuery(text, sort, page), timezone.now())["jobs"]]


def names(text="", sort="name", page=1):
    return [row.name for row in listed(text, sort, page)]


def plan(job, **fields):
    now = timezone.now()
    given = {"type": "interval", "expression": "5m", "anchor_at": now, "watched_from": now, "next_at": now}
    return Schedule.objects.create(job=job, **(given | fields))


def ran(job, status="success", seconds=1.0):
    node = Node.objects.first() or make_node()
    start = timezone.now() - timedelta(minutes=1)
    instance = make_running(job, node, now=start)
    return end(instance, status, now=start + timedelta(seconds=seconds))


def test_qualifiers_are_told_from_plain_words():
    search = search_of('tag:etl tag:"two words" status:failed,timeout owner:ann is:paused nightly "a b" "x:y"')
    assert search.tags == ("etl", "two words")
    assert search.statuses == (("failed", "timeout"),)
    assert (search.owners, search.states) == (("ann",), ("paused",))
    assert search.words == ("nightly", "a b", "x:y")


@pytest.mark.parametrize("text", ["status:banana", "is:blue", "status:failed,"])
def test_what_says_nothing_matches_nothing(visitor, text):
    make_job()
    assert names(text) == []
    page = visitor.get("/jobs/", {"q": text}).content.decode()
    assert "says nothing; known are" in page
    assert "No job matches" in page


def test_words_are_looked_for_in_name_and_description():
    make_job("Nightly 100%", description="of the shop")
    make_job("other")
    assert names("nightly SHOP") == ["Nightly 100%"]
    assert names("%") == ["Nightly 100%"]
    assert names("_") == []


def test_all_tags_must_hold():
    make_job("both", tags=["etl", "two words"])
    make_job("one", tags=["etl"])
    make_job("longer", tags=["etl2"])
    assert names("tag:etl") == ["both", "one"]
    assert names('tag:etl tag:"two words"') == ["both"]


def test_status_is_that_of_the_newest():
    mended, broken = make_job("mended"), make_job("broken")
    ran(mended, "failed")
    ran(mended)
    ran(broken, "failed")
    make_job("fresh")
    assert names("status:failed") == ["broken"]
    assert names("status:success,never") == ["fresh", "mended"]


def test_states_and_owner_can_be_asked(ann):
    make_job("mine", created_by=ann)
    make_job("paused", paused_at=timezone.now())
    plan(make_job("planned"))
    plan(make_job("skipping"), skipped_in_a_row=3, next_at=None)
    plan(make_job("faulty"), fault="no such zone", next_at=None)
    assert names("owner:ANN") == ["mine"]
    assert names("is:paused") == ["paused"]
    assert names("is:scheduled") == ["planned"]
    assert names("is:trouble") == ["faulty", "skipping"]


def test_order_is_by_name_run_or_fire():
    for name in ("b", "a", "c", "d"):
        make_job(name)
    jobs = {job.name: job for job in Job.objects.all()}
    ran(jobs["c"])
    ran(jobs["a"])
    plan(jobs["b"], next_at=timezone.now() + timedelta(hours=1))
    plan(jobs["d"], next_at=timezone.now() + timedelta(hours=2))
    assert names(sort="-name") == ["d", "c", "b", "a"]
    assert names(sort="last") == ["a", "c", "b", "d"]
    assert names(sort="-last") == ["c", "a", "b", "d"]
    assert names(sort="next") == ["b", "d", "a", "c"]
    assert names(sort="-next") == ["d", "b", "a", "c"]


def test_strip_shows_the_last_ten_oldest_first():
    job = make_job()
    made = [ran(job, "failed" if number == 11 else "success", number) for number in range(12)]
    make_job("beside")
    row = listed()[1]
    assert [bar.run.instance_id for bar in row.strip.bars] == [instance.pk for instance in made[-STRIP:]]
    assert row.strip.bars[-1].y == 0
    assert row.strip.said.startswith("Last 10 instances, newest first: failed 11 s, success 10 s")


def test_few_runs_stand_at_the_right():
    job = make_job()
    ran(job)
    make_waiting(job)
    bars = listed()[0].strip.bars
    assert [bar.x for bar in bars] == [80, 90]
    assert (bars[1].run.ended, bars[1].run.seconds) == (False, None)


def test_failures_in_a_row_are_counted():
    job = make_job()
    for status in ("failed", "success", "failed", "timeout"):
        ran(job, status)
    make_waiting(job)
    assert listed()[0].failed == 2


def test_quiet_trouble_is_said(visitor):
    plan(make_job("a"), skipped_in_a_row=3)
    plan(make_job("b"), fault="the zone <b> is gone")
    page = visitor.get("/jobs/").content.decode()
    assert "skipped 3 times in a row" in page
    assert "schedule set aside" in page
    assert "The zone &lt;b&gt; is gone" in page


def test_search_and_order_stay_from_page_to_page(visitor):
    for number in range(51):
        make_job(f"job {number:02}")
    page = visitor.get("/jobs/", {"q": "job <&", "sort": "-name"}).content.decode()
    assert 'value="job &lt;&amp;"' in page
    page = visitor.get("/jobs/", {"q": "job", "sort": "-name"}).content.decode()
    assert 'href="?page=2&amp;sort=-name&amp;q=job" rel="next"' in page
    assert "1\N{EN DASH}50 of 51" in page


def test_topic_asks_what_the_address_asks(visitor):
    response = visitor.get("/jobs/", {"q": 'tag:"two words" é', "sort": "last", "page": "3"})
    topic = response.context["live"]["topics"].split(" ")[0]
    assert query_in(topic.removeprefix("jobs:")) == JobQuery('tag:"two words" é', "last", 3)
    assert visitor.get("/live/rows/", {"topic": topic}).json()["frames"][0]["topic"] == topic


def test_topic_of_a_plain_page_is_its_number():
    assert query_in("7") == JobQuery(page=7)
    for odd in ("jobs:", "jobs:" + "x" * 5000):
        with pytest.raises(UnknownTopicError):
            parts_of(odd)


def test_naughty_search_is_shown_as_it_is(visitor):
    page = visitor.get("/jobs/", {"q": NAUGHTY + " status:<script>"}).content.decode()
    assert "<img" not in page
    assert "<script>" not in page.replace('<script type="module"', "")


def test_queries_do_not_grow_with_rows(visitor):
    counts = []
    visitor.get("/jobs/")  # the first page of a session is drawn with more
    for batch in (1, 60):
        for number in range(batch):
            job = make_job(f"job {batch} {number}", tags=["etl"], created_by=get_user_model().objects.get())
            plan(job)
            ran(job)
        counts.append([])
        for asked in ({}, {"q": "tag:etl status:success job", "sort": "last"}):
            with CaptureQueriesContext(connection) as queries:
                visitor.get("/jobs/", asked)
            counts[-1].append(len(queries))
    assert counts[0] == counts[1]


def test_job_that_waits_for_others_is_not_run_by_hand():
    extract, load = make_job("extract"), make_job("load")
    Dependency.objects.create(job=load, upstream=extract)
    assert [row.words for row in listed()] == ["by hand", "after other jobs"]
