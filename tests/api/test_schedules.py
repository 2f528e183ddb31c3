from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.core.zones import tzdata_version
from jobs.models import Schedule
from tests.actions.places import HOURLY, make_job

pytestmark = pytest.mark.django_db


def soon(**kwargs):
    return (timezone.now() + timedelta(**kwargs)).isoformat()


def test_preview_lists_fires_and_words(api):
    response = api.send(
        "schedules/preview", schedule_type="cron", schedule_expression="0 2 * * *", timezone="Europe/Copenhagen",
        after="2018-10-27T12:00:00", count=2,
    )  # fmt: skip
    assert response.status_code == 200
    assert response.json() == {
        "fires": ["2018-10-28T02:00:00+02:00", "2018-10-29T02:00:00+01:00"],
        "description": "at 02:00 every day (Europe/Copenhagen)",
        "marks": [{"at": "2018-10-28T02:00:00+02:00", "says": ["clocks go back: first pass of 02:00"]}],
        "left_out": [],
        "starts": [],
        "follows": "",
        "at_once": None,
        "missed": None,
        "tzdata_version": tzdata_version(),
    }


@pytest.mark.parametrize("expression", ["0 0 30 2 *", "15/0 * * * *", "* * * *", "61 * * * *", "", "0 9 * * FRI-MON"])
def test_preview_refuses_what_never_fires(api, problem, expression):
    refusal = problem(api.send("schedules/preview", schedule_type="cron", schedule_expression=expression), 422)
    assert [error["field"] for error in refusal["errors"]] == ["schedule_expression"]


def test_scheduled_jobs_come_with_the_next_first(api):
    now = timezone.now()
    make_job("later", now=now, start_date=soon(days=9))
    make_job("sooner", now=now, start_date=soon(hours=2), timezone="Asia/Tokyo")
    make_job("by hand")
    assert [job["name"] for job in api.get("jobs/scheduled").json()] == ["sooner", "later"]


def test_scheduled_job_has_the_promised_fields(api):
    job = make_job("hourly", now=timezone.now(), timezone="Asia/Tokyo", **HOURLY)
    Schedule.objects.update(run_count=7, missed_count=2, last_logical_at=job.created_at)
    (listed,) = api.get("jobs/scheduled").json()
    assert (listed["job_id"], listed["name"], listed["run_count"], listed["missed_runs"]) == (job.pk, "hourly", 7, 2)
    assert listed["next_run"].endswith(":00:00+09:00")
    assert listed["last_run"].endswith("+09:00")
    assert listed["schedule"] == "every hour (Asia/Tokyo)"


def test_schedule_that_is_over_is_not_listed(api):
    make_job("done", now=timezone.now(), start_date=soon(seconds=-5))
    removed = make_job("removed", now=timezone.now(), **HOURLY)
    api.edit(f"jobs/{removed.pk}", schedule_type="once")
    assert api.get("jobs/scheduled").json() == []


def test_paused_and_faulty_jobs_are_listed_last(api):
    paused, faulty, _ = (make_job(name, now=timezone.now(), **HOURLY) for name in ("paused", "faulty", "well"))
    api.post(f"jobs/{paused.pk}/pause")
    Schedule.objects.filter(job=faulty).update(fault="no such zone", zone="Mars/Phobos", next_at=None)
    listed = api.get("jobs/scheduled").json()
    assert [(job["name"], job["paused"], job["fault"]) for job in listed] == [
        ("well", False, ""), ("paused", True, ""), ("faulty", False, "no such zone"),
    ]  # fmt: skip
    assert api.get(f"jobs/{faulty.pk}").status_code == 200


def test_scheduled_jobs_cost_a_fixed_number_of_queries(api, django_assert_num_queries):
    api.get("jobs/scheduled")
    for n in range(10):
        make_job(f"job {n}", now=timezone.now(), **HOURLY)
    with django_assert_num_queries(2):
        assert len(api.get("jobs/scheduled").json()) == 10
    with django_assert_num_queries(4):
        assert len(api.get("jobs").json()) == 10
    assert [job["name"] for job in api.get("jobs/scheduled?limit=2&offset=1").json()] == ["job 1", "job 2"]
