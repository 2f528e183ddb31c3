"""What pages read, on SQLite and on PostgreSQL."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from dashboard.live.boards import Boards
from dashboard.live.visitors import still_welcome
from dashboard.presentation.counts import counted
from dashboard.presentation.selections import failures, waiting
from dashboard.views.pages import regions_of
from jobs.models import Schedule
from tests.dashboard.places import end, make_job, make_node, make_running, make_waiting, tell


@pytest.fixture(autouse=True)
def on_each(each_database):
    return each_database


def test_every_topic_can_be_read():
    now, job, node = timezone.now(), make_job(), make_node()
    times = {"anchor_at": now, "watched_from": now, "next_at": now + timedelta(hours=1)}
    Schedule.objects.create(job=job, type="daily", expression="02:30", **times)
    ended = end(make_running(job, node), "failed", error="exited with code 1")
    running = make_running(job, node, (1,), virtual=1)
    waits = [make_waiting(job, status) for status in ("pending", "queued", "retrying")]
    shown = regions_of("overview", now)
    assert [key for key, _ in shown["running"]] == [f"i{running.pk}"]
    assert {key for key, _ in shown["waiting"]} == {f"i{instance.pk}" for instance in waits}
    assert len(shown["failures"]) == 1
    assert regions_of("site", now)["totals"][0][1].waiting.number == 3
    assert len(regions_of("jobs:1", now)["jobs"]) == 1
    assert len(regions_of(f"job:{job.pk}", now)["instances"]) == 5
    assert regions_of(f"instance:{ended.pk}", now)["head"][0][1].look.word == "failed"


def test_change_of_another_transaction_is_followed():
    boards = Boards()
    boards.watch(["overview"], 0)
    boards.follow(woken=False)
    instance = make_waiting(make_job())
    tell("instance.queued", instance, "", "queued")
    assert [event.instance_id for event in boards.follow(woken=True)] == [instance.pk]


def test_counts_use_their_indexes():
    make_job()
    if connection.vendor == "sqlite":
        for rows in (*waiting(), failures().filter(ended_at__gt=timezone.now())):
            assert "USING INDEX" in rows.order_by().values("pk")[:5].explain()
    assert not counted(*waiting())


def test_nobody_is_welcome_without_a_session():
    assert still_welcome(set()) == set()
