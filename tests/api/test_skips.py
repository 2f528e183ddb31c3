from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from jobs import skips
from jobs.models import Event
from jobs.store.events import NewEvent, record
from tests.actions.places import HOURLY, NOW, make_job

pytestmark = pytest.mark.django_db


def skip(job, hour, code="overlap", count=1):
    at = NOW + timedelta(hours=hour)
    data = {"logical_at": at.isoformat(), "code": code, "reason": f"because of {code}", "count": count, "missed": 0}
    record([NewEvent(at, "schedule.skipped", job.pk, actor="node:a", data=data)])


def test_fires_that_made_no_run_are_told_newest_first(api):
    job = make_job(timezone="Europe/Berlin", **HOURLY)
    other = make_job("other", **HOURLY)
    for hour, code in enumerate(("overlap", "blackout", "missed")):
        skip(job, hour, code, hour + 1)
    skip(other, 9)
    found = api.get(f"jobs/{job.pk}/skips").json()
    assert [(one["code"], one["count"]) for one in found] == [("missed", 3), ("blackout", 2), ("overlap", 1)]
    assert found[0]["logical_at"] == "2026-05-04T16:00:30+02:00"
    rest = api.get(f"jobs/{job.pk}/skips?limit=5&before={found[1]['event_id']}").json()
    assert [one["reason"] for one in rest] == ["because of overlap"]


def test_job_that_is_gone_has_none(api, problem):
    problem(api.get("jobs/77/skips"), 404)


def test_looking_for_them_goes_along_their_index(each_database):
    plan = Event.objects.filter(job_id=1, kind=skips.KIND).order_by("-id")[:5].explain()
    if connection.vendor == "sqlite":
        assert "event_skipped" in plan
    with transaction.atomic():
        skip(make_job(now=timezone.now(), **HOURLY), 1)
    assert len(skips.recent(Event.objects.latest("id").job_id, 5)) == 1
