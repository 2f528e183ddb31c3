"""Two at once, on both databases: one wins, and the other is told something true."""

from datetime import timedelta

import pytest

from jobs.actions import (
    InvalidInput,
    change_job,
    create_backfill,
    create_job,
    delete_job,
    pause_job,
    retry_from_here,
    retry_instance,
    run_job,
)
from jobs.actions.answers import ActionError
from jobs.models import Dependency, Event, Instance, Job, Schedule
from jobs.service.backfills import Backfills
from tests.actions.places import HOURLY, NOW, at_once, make_instance, make_job

pytestmark = pytest.mark.usefixtures("each_database")


def test_one_of_two_creates_wins():
    raw = {"name": "backup", "command": "true"}
    answers = at_once(*[lambda: create_job(raw, actor="ada", now=NOW)] * 4)
    refusals = [answer for answer in answers if isinstance(answer, InvalidInput)]
    assert len(refusals) == 3
    assert all("There is a job named" in refusal.sentence for refusal in refusals)
    assert (Job.objects.count(), Instance.objects.count()) == (1, 1)


def test_two_edits_do_not_undo_each_other():
    job = make_job()
    edits = [{"cpu_cores_required": 2}, {"priority": 3}, {"description": "edited"}, {"max_retries": 7}]
    at_once(*[lambda edit=edit: change_job(job.pk, edit, actor="ada", now=NOW) for edit in edits])
    after = Job.objects.get()
    assert (after.cores, after.priority, after.description, after.max_retries) == (2, 3, "edited", 7)
    assert after.revision == job.revision + 4


def test_double_click_makes_one_retry():
    ended = make_instance(make_job(), "failed")
    answers = at_once(*[lambda: retry_instance(ended.pk, actor="ada", now=NOW)] * 4)
    assert len({answer.instance_id for answer in answers}) == 1
    assert [answer.is_new for answer in answers].count(True) == 1


def test_runs_at_once_are_generations_of_one_moment():
    job = make_job()
    at_once(*[lambda: run_job(job.pk, actor="ada", now=NOW)] * 4)
    assert sorted(Instance.objects.values_list("generation", flat=True)) == [0, 1, 2, 3]


def test_pause_is_told_once():
    job = make_job(**HOURLY)
    at_once(*[lambda: pause_job(job.pk, actor="ada", now=NOW)] * 4)
    assert Event.objects.filter(kind="job.paused").count() == 1


def test_run_and_delete_leave_no_orphan():
    job = make_job()
    run, deleted = at_once(
        lambda: run_job(job.pk, actor="ada", now=NOW),
        lambda: delete_job(job.pk, actor="ada", now=NOW),
    )
    # Either the run was first, and the deletion is refused or takes it along; or it is refused itself.
    assert Instance.objects.count() == Job.objects.count() == int(isinstance(deleted, ActionError))
    assert isinstance(run, ActionError) or isinstance(deleted, ActionError) or deleted.cancelled == 1


def test_two_edges_never_close_a_circle():
    jobs = [make_job(name) for name in "abcd"]
    rings = [(jobs[n], jobs[(n + 1) % 4]) for n in range(4)]
    answers = at_once(
        *[lambda job=a, up=b: change_job(job.pk, {"depends_on": [up.pk]}, actor="ada", now=NOW) for a, b in rings]
    )
    refused = [answer for answer in answers if isinstance(answer, InvalidInput)]
    assert len(refused) == 1
    assert "in a circle" in refused[0].sentence
    assert Dependency.objects.count() == 3


def test_an_edge_and_a_schedule_do_not_pass_each_other():
    a, b = make_job("a", **HOURLY), make_job("b", **HOURLY)
    raw = {"name": "c", "command": "true", "depends_on": ["a", "b"]}
    at_once(
        lambda: create_job(raw, actor="ada", now=NOW),
        lambda: change_job(a.pk, {"schedule_expression": "5 * * * *"}, actor="ada", now=NOW),
    )
    expressions = set(Schedule.objects.filter(job__in=[a, b]).values_list("expression", flat=True))
    assert len(expressions) == 1 or not Job.objects.filter(name="c").exists()


def test_two_passes_make_the_dates_of_a_backfill_once():
    job = make_job("a", **HOURLY)
    create_backfill(job.pk, NOW - timedelta(hours=9), NOW, actor="ada", now=NOW, concurrency=3)
    at_once(*[lambda n=n: Backfills(f"node:{n}").advance(NOW) for n in range(3)])
    assert Instance.objects.count() == 3
    assert len(set(Instance.objects.values_list("logical_at", flat=True))) == 3


def test_double_click_from_here_makes_one_of_each():
    a = make_job("a", **HOURLY)
    b = make_job("b", depends_on=["a"])
    ended = make_instance(a, "failed")
    make_instance(b, "upstream_failed")
    answers = at_once(*[lambda: retry_from_here(ended.pk, actor="ada", now=NOW)] * 3)
    assert len({answer.instance_id for answer in answers}) == 1
    assert Instance.objects.filter(cause="retry").count() == 2


def test_a_workflow_run_at_once_is_whole_each_time():
    a = make_job("a")
    b = make_job("b", depends_on=["a"])
    at_once(*[lambda: run_job(a.pk, actor="ada", now=NOW, scope="workflow")] * 3)
    for job in (a, b):
        assert sorted(Instance.objects.filter(job=job).values_list("generation", flat=True)) == [0, 1, 2]
