"""What is kept no longer is found along the indexes, and nothing that somebody still needs goes."""

import re
import threading
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from jobs import feed
from jobs.core import retention
from jobs.core.retention import FOR_EVER, Keep
from jobs.models import Attempt, Backfill, Dependency, Event, Instance, Job, Node
from jobs.store import pruning
from jobs.store.events import NewEvent, record
from tests.core.test_retention import NOW

KEEP = Keep(30, 90, 10_000)


def make_job(name="report", **fields):
    return Job.objects.create(name=name, kind="command", body="true", **fields)


def ran(job, days, status="success", **fields):
    """An instance that ended so many days ago, with its attempt."""
    at = NOW - timedelta(days=days)
    ended = {"ended_at": at} if status in retention.SUCCEEDED or status in ("failed", "timeout", "cancelled") else {}
    common = {"logical_at": at, "due_at": at, "created_at": at, "cause": "submit", "status": status}
    common["generation"] = Instance.objects.count()
    made = Instance.objects.create(job=job, **common | ended | fields)
    node = Node.objects.get_or_create(name="atlas")[0]
    tried = {"status": "ended", "outcome": "success", "ended_at": at} if ended else {"status": "running"}
    Attempt.objects.create(instance=made, number=1, token=f"t{made.pk}", node=node, created_at=at, **tried)
    return made


def prune(job, keep=KEEP):
    portions = pruning.gone_portions(job.pk, keep, NOW)
    return sorted(gone for ids in portions for gone in pruning.remove_some(job.pk, ids))


def test_old_runs_go_with_their_attempts(each_database):
    job = make_job()
    old, failed, young = ran(job, 31), ran(job, 32, "failed"), ran(job, 1)
    young.retry_of = old
    young.save()
    assert prune(job) == [old.pk]
    assert {one.pk for one in Instance.objects.all()} == {failed.pk, young.pk}
    assert Attempt.objects.count() == 2
    assert Instance.objects.get(pk=young.pk).retry_of_id is None


def test_run_whose_thread_goes_on_stays_until_that_returns(each_database):
    """With its attempt it would be forgotten which cores are taken, and by what."""
    job = make_job()
    thread, _ = ran(job, 31), ran(job, 1)
    Node.objects.update(abandoned=[thread.attempts.get().token])
    assert prune(job) == []
    assert pruning.free_of([thread.pk]) == set()
    Node.objects.update(abandoned=[])
    assert prune(job) == [thread.pk]


def test_number_and_age_are_those_of_the_rule(each_database, monkeypatch):
    monkeypatch.setattr(retention, "MOST_FAILURES", 3)
    monkeypatch.setattr(pruning, "MOST_FAILURES", 3)
    monkeypatch.setattr(pruning, "LOOKED_AT", 4)
    job, other = make_job(), make_job("other")
    runs = [ran(job, 60 - 3 * n, "failed" if n % 2 else "success") for n in range(20)]
    ran(other, 99, "failed")
    its_place = pruning.place(job.pk, keep := Keep(30, 50, 6))
    assert its_place == retention.Place(runs[-1].pk, runs[13].pk, runs[13].pk)
    expected = [
        one.pk
        for one in runs
        if retention.goes(retention.Ended(one.pk, one.status, one.ended_at), its_place, keep, NOW)
    ]
    assert prune(job, keep) == expected


def test_jobs_own_numbers_come_first(each_database):
    mine, going = make_job(keep_days=0, keep_instances=3), make_job("going", delete_requested_at=NOW)
    make_job("usual")
    assert [keep for _, keep in pruning.keeps(KEEP)] == [Keep(FOR_EVER, 90, 3), KEEP]
    assert going.pk not in dict(pruning.keeps(KEEP))
    assert mine.pk in dict(pruning.keeps(KEEP))


def needed_by_attempt(old):
    """A thread that was given up runs on."""
    node = Node.objects.get()
    Attempt.objects.create(instance=old, number=2, token="on", node=node, created_at=NOW, status="running")


def needed_by_dependent(old):
    below = make_job("below")
    Dependency.objects.create(job=below, upstream=old.job)
    ran(below, 1, "pending", logical_at=old.logical_at)


def needed_by_backfill(old):
    window = {"first_at": old.logical_at, "last_at": old.logical_at + timedelta(days=1)}
    Backfill.objects.create(job=make_job("filled"), dates=1, created_at=NOW, **window)


@pytest.mark.parametrize("need", [needed_by_attempt, needed_by_dependent, needed_by_backfill])
def test_what_is_needed_stays(each_database, need):
    job = make_job()
    old = ran(job, 99)
    ran(job, 1)
    need(old)
    assert prune(job) == []
    assert pruning.free_of([old.pk]) == set()


def test_what_waits_on_another_date_needs_nothing(each_database):
    job = make_job()
    old = ran(job, 99)
    ran(job, 1)
    below = make_job("below")
    Dependency.objects.create(job=below, upstream=job)
    ran(below, 1, "pending")
    assert prune(job) == [old.pk]


def test_live_runs_and_the_newest_end_stay(each_database):
    job = make_job()
    ran(job, 99)
    ran(job, 99, "pending")
    assert prune(job) == []


def happen(days):
    with transaction.atomic():
        record([NewEvent(NOW - timedelta(days=days), "job.created")])
    return feed.head()


def test_old_events_go_from_the_beginning_on(each_database):
    first, between, last = happen(100), happen(95), happen(10)
    while pruning.remove_some_events(NOW - timedelta(days=90)):
        pass
    assert [one.pk for one in Event.objects.all()] == [last.n]
    assert not feed.after(first).whole
    assert not feed.after(between).whole
    assert feed.after(last).whole
    assert feed.head() == last


def test_last_event_stays_however_old(each_database):
    happen(100)
    last = happen(99)
    while pruning.remove_some_events(NOW):
        pass
    assert feed.head() == last


def test_runs_by_their_end_are_each_told_once(each_database, monkeypatch):
    monkeypatch.setattr(pruning, "LOOKED_AT", 2)
    job = make_job()
    runs = [ran(job, 5, generation=n, logical_at=NOW) for n in range(5)]  # all ended at the same moment
    failed = ran(job, 4, "failed")
    since = NOW - timedelta(days=9)
    told = [run.id for portion in pruning.ended_since(since, NOW) for run in portion]
    assert told == [*(one.pk for one in runs), failed.pk]
    assert [run.id for portion in pruning.ended_since(since, NOW, False) for run in portion] == [failed.pk]
    assert list(pruning.ended_since(failed.ended_at, NOW)) == []


def test_others_write_between_portions(each_database, monkeypatch):
    monkeypatch.setattr(pruning, "PORTION", 1)
    job = make_job()
    for _ in range(3):
        ran(job, 99)
    ran(job, 1)
    written = []

    def write():
        try:
            with transaction.atomic():
                Job.objects.filter(pk=job.pk).update(description="written meanwhile")
            written.append(True)
        finally:
            connections.close_all()

    for ids in pruning.gone_portions(job.pk, KEEP, NOW):
        pruning.remove_some(job.pk, ids)
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
    assert written == [True] * 3


@pytest.mark.django_db
def test_everything_is_found_along_an_index(monkeypatch):
    monkeypatch.setattr(pruning, "PORTION", 20)
    job = make_job()
    old = NOW - timedelta(days=99)
    ended = {"due_at": old, "created_at": old, "ended_at": old, "cause": "submit", "status": "success"}
    Instance.objects.bulk_create(Instance(job=job, logical_at=old, generation=n, **ended) for n in range(1000))
    with CaptureQueriesContext(connection) as captured:
        assert len(prune(job)) == 999
        list(pruning.ended_since(NOW - timedelta(days=1), NOW, True))
        pruning.remove_some_events(NOW)
    steps: list[str] = []
    with connection.cursor() as cursor:
        for one in captured:
            if re.match("SELECT|DELETE|UPDATE", one["sql"]):
                cursor.execute(f"EXPLAIN QUERY PLAN {one['sql']}")
                steps += (row[3] for row in cursor.fetchall())
    # Events are read from the first on by their number, which is the table itself; of nodes there are few.
    assert {step for step in steps if re.fullmatch(r"SCAN \w+", step)} <= {"SCAN jobs_event", "SCAN jobs_node"}
    assert [step for step in steps if "B-TREE" in step] == []
