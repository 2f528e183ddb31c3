"""What the list of jobs finds, on SQLite and on PostgreSQL."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.jobsearch import JobQuery
from dashboard.presentation.job_list import read_jobs
from jobs.api.pages import all_tags
from jobs.models import Schedule
from tests.dashboard.places import end, make_job, make_node, make_running


@pytest.fixture(autouse=True)
def on_each(each_database):
    return each_database


@pytest.fixture
def three():
    now, node = timezone.now(), make_node()
    planned, paused = make_job("Planned", tags=["etl", "two words"]), make_job("paused", tags=["etl"], paused_at=now)
    Schedule.objects.create(
        job=planned, type="interval", expression="5m", anchor_at=now, watched_from=now, next_at=now + timedelta(hours=1)
    )
    make_job("fresh", description="of 100% and \\ more")
    end(make_running(paused, node), "failed")
    end(make_running(planned, node), "success")


def names(text="", sort="name"):
    return [row.name for _, row in read_jobs(JobQuery(text, sort), timezone.now())["jobs"]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tag:etl", {"Planned", "paused"}),
        ('tag:"two words"', {"Planned"}),
        ("status:failed", {"paused"}),
        ("status:success,never", {"Planned", "fresh"}),
        ("is:scheduled", {"Planned"}),
        ("is:active PLAN", {"Planned"}),
        ("is:trouble", set()),
        ("100%", {"fresh"}),
        ("\\", {"fresh"}),
        ("'; DROP TABLE jobs_job --", set()),
    ],
)
def test_search_finds_the_same(three, text, found):
    assert set(names(text)) == found


def test_each_tag_is_known_once(three):
    assert all_tags(10) == ["etl", "two words"]
    assert len(all_tags(1)) == 1


def test_jobs_without_a_run_or_fire_come_last(three):
    assert names(sort="last") == ["Planned", "paused", "fresh"]
    assert names(sort="-last") == ["paused", "Planned", "fresh"]
    assert names(sort="next")[0] == names(sort="-next")[0] == "Planned"
    assert names("status:success,failed tag:etl", "last") == ["Planned", "paused"]
